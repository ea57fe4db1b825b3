"""Waiting in tests: for a condition, with a deadline."""

import time
from collections.abc import Callable
from threading import Event

HANGS_AFTER_S = 240.0
"""A deadline only ends a test that hangs. It states no speed, so that a loaded machine keeps it."""


_SHORTEST_S, _LONGEST_S = 0.002, 0.2
_OFTEN_UNTIL_S = 0.02
"""Up to this pause a quarter of the time waited so far is added: most of what is awaited in this
process is there within milliseconds."""
_SHARE = 0.05
"""Of the time waited so far: looking often at a real cluster costs it more than what is awaited."""


def wait_until(condition: Callable[[], bool], within_s: float = HANGS_AFTER_S) -> None:
    """Return when the condition holds.

    Raises:
        AssertionError: it did not within `within_s`; the message names the condition's code.
    """
    began, pause = time.monotonic(), Event()
    while not condition():
        waited = time.monotonic() - began
        assert waited < within_s, f"not within {within_s} s: {condition.__qualname__}"
        pause.wait(_pause_after(waited))


def _pause_after(waited: float) -> float:
    soon = min(max(_SHORTEST_S, waited / 4), _OFTEN_UNTIL_S)
    return min(max(soon, waited * _SHARE), _LONGEST_S)
