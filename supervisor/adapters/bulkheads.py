"""The bulkhead: a bounded thread pool in which silent neighbours never hold all threads.

`core/values/lanes.py` has the rules of whose turn is next; this module has the threads.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from supervisor.core.values.lanes import Lanes, Neighbour, Turn, Width

Work = Callable[[], bool]
"""One piece of work; returns whether the neighbour answered, even if with an error."""


class BulkheadPool:
    """A thread pool with lanes; safe to call from many threads."""

    def __init__(self, width: Width, name: str) -> None:
        self._pool = ThreadPoolExecutor(width.pool, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._lanes: Lanes[Work] = Lanes(width)
        self._stopped = False

    def run(self, neighbour: Neighbour, work: Work) -> None:
        """Run `work` when it is its turn; after `stop`, never."""
        with self._lock:
            self._lanes.add(neighbour, work)
            self._start()

    def stop(self) -> None:
        """Start no more work; running work ends by itself."""
        with self._lock:
            self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _start(self) -> None:
        if self._stopped:
            return
        for turn in self._lanes.start():
            self._pool.submit(self._run, turn)

    def _run(self, turn: Turn[Work]) -> None:
        answered, began_s = False, time.monotonic()
        try:
            answered = turn.work()
        finally:
            with self._lock:
                self._lanes.ended(turn, answered=answered, took_s=time.monotonic() - began_s)
                self._start()
