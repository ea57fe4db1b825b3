"""The loop when what stands around a pass fails: listeners, and the system's threads."""

import threading

import pytest

from supervisor.core.values.errors import MetadataUnavailable
from tests.supervisor.control.test_loop import LoopRig, rig

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
