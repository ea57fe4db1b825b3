"""The loop when what stands around a pass fails: listeners, and the system's threads."""

import threading
from datetime import timedelta

import pytest

from supervisor.control.loop import OVERDUE_S
from supervisor.core.values.errors import MetadataUnavailable
from tests.supervisor.control.test_loop import LoopRig, rig
from tests.waiting import wait_until

__all__ = ["rig"]


def _unforeseen(*_: object) -> None:
    raise KeyError("nobody foresaw it")


@pytest.mark.parametrize("listener", ["measured", "after_pass", "dropped"])
def test_a_listener_that_fails_costs_no_later_pass(rig: LoopRig, listener: str) -> None:
    """Goal: a supervisor whose pass went through is not taken for one whose pass still runs."""
    setattr(rig.loop, listener, _unforeseen)
    rig.passes.unknown.add("a")
    rig.loop.wake("a")
    rig.has_run("a", 1)
    rig.loop.wake("a")

    rig.has_run("a", 2)


def test_a_listener_that_fails_does_not_hide_a_failed_pass(rig: LoopRig) -> None:
    rig.loop.measured = _unforeseen
    rig.passes.fails["a"] = MetadataUnavailable("no route to the database")
    rig.loop.wake("a")

    rig.failed("a", 1)


def test_a_system_without_threads_holds_passes_up_and_does_not_end_them(
    rig: LoopRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: what could not be begun is begun once there is a thread again."""
    sound, refused = rig.loop._pool.submit, threading.Event()

    def submit(*work: object) -> object:
        if not refused.is_set():
            refused.set()
            raise RuntimeError("can't start new thread")
        return sound(*work)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(rig.loop._pool, "submit", submit)
    rig.loop.wake("a")
    assert refused.wait(30)

    rig.has_run("a", 1)
    assert not rig.loop.ended


def test_a_pass_that_does_not_end_makes_its_supervisor_fail_until_it_ends(rig: LoopRig) -> None:
    """Goal: a pass that hangs, for example in a call to the system, is not taken for a good one."""
    rig.passes.gates["a"] = threading.Event()
    rig.loop.wake("a")
    wait_until(lambda: rig.passes.count("a") == 1)
    rig.clock.advance(timedelta(seconds=OVERDUE_S))
    assert rig.loop.failing("a") is None

    rig.clock.advance(timedelta(seconds=1))

    overdue = rig.loop.failing("a")
    assert overdue is not None
    assert overdue.message == "a pass over it has not ended for 61 s"
    rig.passes.gates["a"].set()
    wait_until(lambda: rig.loop.failing("a") is None)
