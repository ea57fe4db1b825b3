"""Short pauses of Python's garbage collector in a process that holds a large fleet.

A full collection looks at every object that lives, and no other thread runs meanwhile.  An overlord
of 1,000 supervisors holds 1,400,000 objects, and its passes replace them all the time: it stood
still for about a second, several times a minute.  Here what has outlived a full collection is put
aside (`gc.freeze`), so that the next one looks only at what came since.  Counting of references
frees objects as before, those that were put aside too.  Only a cycle that was put aside waits: for
the round that looks at everything again, once an hour.
"""

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

ROUND_S = 3600.0
"""Between two collections that look at everything."""
_FULL = 2
"""The oldest generation's number."""


class ShortPauses:
    """A callback of the collector: it puts aside what a full collection has left.

    `clock` returns seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._round_at = clock() + ROUND_S

    def __call__(self, phase: str, info: Mapping[str, int]) -> None:
        """Act at the end of a full collection.  `phase` and `info` are as `gc.callbacks` says."""
        if phase != "stop" or info["generation"] != _FULL:
            return
        if self._clock() < self._round_at:
            gc.freeze()
        else:
            self._round_at = self._clock() + ROUND_S
            gc.unfreeze()  # the next full collection, which comes soon, looks at everything


@contextmanager
def short_pauses() -> Iterator[None]:
    """Let this process's collector work so within the block."""
    pauses = ShortPauses()
    gc.callbacks.append(pauses)
    try:
        yield
    finally:
        gc.callbacks.remove(pauses)
        gc.unfreeze()
