"""Followers of executions: one reader looks at the versions of those that anybody follows.

versions of the followed ones, one query a look ─► one has changed ─► its followers wake
"""

import asyncio
import threading
from collections import Counter

import structlog

from supervisor.control.wakeups import Wakeups
from supervisor.core.values.errors import TooManyListeners
from supervisor.ports.flows.executions import ExecutionStore
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["FOLLOWERS_MAX", "FOLLOWERS_OF_ONE_MAX", "ExecutionFeed"]

log = structlog.get_logger()

POLL_S = 0.3
"""The longest delay, in seconds, of an event."""
FOLLOWERS_MAX = 500
FOLLOWERS_OF_ONE_MAX = 10
"""Of one caller who has a name, so that no caller leaves the others without."""


class ExecutionFeed:
    """Wakes the followers of executions in this process; thread-safe."""

    def __init__(self, executions: ExecutionStore, *, poll_s: float = POLL_S) -> None:
        self._executions = executions
        self._poll_s = poll_s
        self._lock = threading.Lock()
        self._followed = Counter[str]()
        """Execution -> its followers."""
        self._of_each = Counter[str]()
        """Name of a caller -> what it follows."""
        self._ended = threading.Event()
        self._news = Wakeups()

    def join(self, execution: str, caller: str) -> asyncio.Event:
        """Follow an execution: the event is set when it has changed; call `leave` afterwards.

        `caller`: the name; empty if nobody was asked.

        Raises:
            TooManyListeners: there are too many already, of all or of this caller.
        """
        with self._lock:
            if self._followed.total() >= FOLLOWERS_MAX:
                raise TooManyListeners(f"{FOLLOWERS_MAX} clients follow executions already")
            if caller and self._of_each[caller] >= FOLLOWERS_OF_ONE_MAX:
                raise TooManyListeners(
                    f"{FOLLOWERS_OF_ONE_MAX} clients of {caller} follow executions already"
                )
            self._followed[execution] += 1
            self._of_each[caller] += 1
            if self._followed.total() == 1:
                self._ended = threading.Event()
                threading.Thread(
                    target=self._read_on,
                    args=(self._ended,),
                    name="execution-feed",
                    daemon=True,
                ).start()
        return self._news.subscribe(execution)

    def leave(self, event: asyncio.Event, execution: str, caller: str) -> None:
        """Stop to follow; the reader ends with the last follower."""
        self._news.unsubscribe(event)
        with self._lock:
            self._followed[execution] -= 1
            self._of_each[caller] -= 1
            self._followed += Counter()  # what has none is forgotten
            self._of_each += Counter()
            if not self._followed:
                self._ended.set()

    def _read_on(self, ended: threading.Event) -> None:
        known: dict[str, int] = {}
        while not ended.is_set():
            with self._lock:
                followed = set(self._followed)
            try:
                with self._executions.reading() as rows:
                    now = dict(rows.versions(followed))
            except (StoreAway, StoreRefuses) as error:
                log.warning("executions are not read", error=str(error))
            else:
                # What is new here may have changed before this look, and is gone where it is not.
                changed = {each for each in followed if now.get(each) != known.get(each, -1)}
                known = now
                if changed:
                    self._news.notify(changed)
            ended.wait(self._poll_s)
