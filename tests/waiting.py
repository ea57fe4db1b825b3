"""Waiting in tests: for a condition, with a deadline."""

import time
from collections.abc import Callable
from threading import Event

HANGS_AFTER_S = 240.0
"""A deadline only ends a test that hangs. It states no speed, so that a loaded machine keeps it."""


def wait_until(condition: Callable[[], bool], within_s: float = HANGS_AFTER_S) -> None:
    """Return when the condition holds.

    Raises:
        AssertionError: it did not within `within_s`; the message names the condition's code.
    """
    deadline, pause = time.monotonic() + within_s, Event()
    while not condition():
        assert time.monotonic() < deadline, f"not within {within_s} s: {condition.__qualname__}"
        pause.wait(0.02)
