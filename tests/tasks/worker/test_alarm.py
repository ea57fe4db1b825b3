"""The timer thread of a worker's tasks: what one task meets stops no other task's timers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import cast

import pytest

from tasks.worker.alarm import Alarm
from tasks.worker.runner import TaskRunner
from tests.tasks.memory import DEADLINE_S, desired
from tests.waiting import wait_until


@dataclass
class Timed:
    """A task as the alarm sees it."""

    fails: str = ""
    ticks: int = 0

    @property
    def desired(self) -> object:
        return desired("task-1")

    def tick(self) -> None:
        self.ticks += 1
        if self.fails == "tick":
            raise KeyError("nobody foresaw it")

    @property
    def state(self) -> object:
        if self.fails == "state":
            raise KeyError("nobody foresaw it")
        return SimpleNamespace(wake_at=0.0)


@contextmanager
def running(*tasks: Timed) -> Iterator[Alarm]:
    alarm = Alarm(lambda: [cast("TaskRunner", task) for task in tasks], lambda: 1.0)
    thread = threading.Thread(target=alarm.run, name="alarm of a test")
    thread.start()
    try:
        yield alarm
    finally:
        alarm.close()
        thread.join(DEADLINE_S)
        assert not thread.is_alive()


@pytest.mark.parametrize("part", ["tick", "state"])
def test_a_timer_that_fails_ends_no_other_timer(part: str) -> None:
    """Goal: a bug met by one task leaves the others their leases and deadlines."""
    broken, sound = Timed(fails=part), Timed()

    with running(broken, sound):
        wait_until(lambda: broken.ticks >= 2)
        wait_until(lambda: sound.ticks >= 2)
