"""The bulkhead: a bounded thread pool in which one silent neighbour never holds all threads.

work of one lane ──► waits in its lane ──► one thread ──► it answered: up to `width` threads
                          ▲                    └──► it did not: one thread, the rest waits
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

Work = Callable[[], bool]
"""One piece of work; returns whether the neighbour answered, even if with an error."""


@dataclass
class _Lane:
    waiting: deque[Work] = field(default_factory=deque)
    running: int = 0
    answers: bool = False


class BulkheadPool:
    """A thread pool with one bounded lane per neighbour; safe to call from many threads."""

    def __init__(self, threads: int, width: int, name: str) -> None:
        """`width` is the maximum number of threads of a lane whose neighbour answers."""
        self._width = width
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._lanes: dict[str, _Lane] = {}
        self._stopped = False

    def run(self, name: str, work: Work) -> None:
        """Run `work` as soon as its lane has a thread; after `stop`, never."""
        with self._lock:
            lane = self._lanes.setdefault(name, _Lane())
            lane.waiting.append(work)
            self._start(name, lane)

    def stop(self) -> None:
        """Start no more work; running work ends by itself."""
        with self._lock:
            self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _start(self, name: str, lane: _Lane) -> None:
        width = self._width if lane.answers else 1
        while lane.waiting and lane.running < width and not self._stopped:
            lane.running += 1
            self._pool.submit(self._run, name, lane, lane.waiting.popleft())

    def _run(self, name: str, lane: _Lane, work: Work) -> None:
        answers = False
        try:
            answers = work()
        finally:
            with self._lock:
                lane.running -= 1
                lane.answers = answers
                self._start(name, lane)
                if not lane.running and not lane.waiting:
                    self._lanes.pop(name, None)  # a new lane begins with one thread: no harm
