"""The loop when what stands around a pass fails: listeners, and the system's threads."""

import threading

import pytest

from supervisor.core.values.errors import MetadataUnavailable
from tests.supervisor.control.test_loop import Told, told

__all__ = ["told"]


def _unforeseen(*_: object) -> None:
    raise KeyError("nobody foresaw it")


@pytest.mark.parametrize("listener", ["measured", "after_pass", "dropped"])
def test_a_listener_that_fails_costs_no_later_pass(told: Told, listener: str) -> None:
    """Goal: a supervisor whose pass went through is not taken for one whose pass still runs."""
    setattr(told.loop, listener, _unforeseen)
    told.passes.unknown.add("a")
    told.loop.wake("a")
    told.has_run("a", 1)
    told.loop.wake("a")

    told.has_run("a", 2)


def test_a_listener_that_fails_does_not_hide_a_failed_pass(told: Told) -> None:
    told.loop.measured = _unforeseen
    told.passes.fails["a"] = MetadataUnavailable("no route to the database")
    told.loop.wake("a")

    told.failed("a", 1)


def test_a_system_without_threads_holds_passes_up_and_does_not_end_them(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: what could not be begun is begun once there is a thread again."""
    sound, refused = told.loop._pool.submit, threading.Event()

    def submit(*work: object) -> object:
        if not refused.is_set():
            refused.set()
            raise RuntimeError("can't start new thread")
        return sound(*work)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(told.loop._pool, "submit", submit)
    told.loop.wake("a")
    assert refused.wait(30)

    told.has_run("a", 1)
    assert not told.loop.ended
