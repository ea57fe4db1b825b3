"""Frozen processes: they are there, and do nothing until they are thawed."""

import os
import signal

import psutil

from tests.waiting import wait_until

_STILL = (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
"""A child that has ended stays a zombie if its parent was frozen before."""


def freeze(pid: int) -> None:
    """Stop a process, and return when none of its threads runs any more.

    One thread has to run to take the signal.  On a loaded machine another thread of the process
    may still answer before that.

    Raises:
        psutil.NoSuchProcess: it has ended.
    """
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(_is_stopped(thread.id) for thread in psutil.Process(pid).threads()))


def _is_stopped(thread_id: int) -> bool:
    try:
        return psutil.Process(thread_id).status() in _STILL
    except psutil.NoSuchProcess:
        return True
