"""The event stream: one reader of the database passes lifecycle events to all listeners.

lifecycle events ─► reader thread, while there are listeners ─► the newest in memory ─► listeners
older events ─► each listener reads the database by itself, page by page
what was trimmed ─► from the archive, where there is one
"""

import asyncio
import threading
from collections import Counter, deque
from dataclasses import dataclass
from itertools import islice

import structlog

from supervisor.control.wakeups import Wakeups
from supervisor.core.history.lifecycle_events import NumberedEvent
from supervisor.core.values.errors import TooManyListeners, Unavailable
from supervisor.ports.store import Store
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.services.history.archive_reader import ArchiveReader
from tasks.reporting.record import RecordType

log = structlog.get_logger()

POLL_S = 0.3
"""The longest delay, in seconds, of an event; each look reads one row."""
REMEMBERED = 2_000
PAGE = 500
LISTENERS_MAX = 500
LISTENERS_OF_ONE_MAX = 10
"""Of one caller who has a name, so that no caller leaves the others without."""


@dataclass(frozen=True)
class StoredEvents:
    """A page of events in their order, and what the table has."""

    rows: list[NumberedEvent]
    """A number that is left out between them, or before the first, is gone."""
    trimmed: int
    """The last number that the table has not."""
    newest: int
    away: str = ""
    """Why the archive has no answer now; the page is empty then."""


class EventStream:
    """The lifecycle events of one database, for the listeners of this process; thread-safe."""

    def __init__(
        self, store: Store, archive: ArchiveReader | None = None, *, poll_s: float = POLL_S
    ) -> None:
        self._store = store
        self._archive = archive
        self._poll_s = poll_s
        self._lock = threading.Lock()
        self._listeners = 0
        self._of_each = Counter[str]()
        """Name of a caller -> listeners."""
        self._ended = threading.Event()
        self._newest = 0
        self._first = 1
        """The number of the first event in memory; all from here to the newest are in memory."""
        self._rows: deque[NumberedEvent] = deque(maxlen=REMEMBERED)
        self._news = Wakeups()

    def join(self, caller: str) -> asyncio.Event:
        """Start to listen: the returned event is set when there is news; call `leave` afterwards.

        `caller`: the name; empty if nobody was asked.

        Raises:
            TooManyListeners: there are too many already, of all or of this caller.
        """
        with self._lock:
            if self._listeners >= LISTENERS_MAX:
                raise TooManyListeners(f"{LISTENERS_MAX} clients follow the events already")
            if caller and self._of_each[caller] >= LISTENERS_OF_ONE_MAX:
                raise TooManyListeners(
                    f"{LISTENERS_OF_ONE_MAX} clients of {caller} follow the events already"
                )
            self._listeners += 1
            self._of_each[caller] += 1
            if self._listeners == 1:
                self._ended = threading.Event()
                self._rows.clear()
                self._newest, self._first = 0, 1
                thread = threading.Thread(
                    target=self._read_on, args=(self._ended,), name="feed", daemon=True
                )
                thread.start()
        return self._news.subscribe()

    def leave(self, event: asyncio.Event, caller: str) -> None:
        """Stop listening; the reader ends with the last listener."""
        self._news.unsubscribe(event)
        with self._lock:
            self._listeners -= 1
            self._of_each[caller] -= 1
            self._of_each += Counter()  # who has none is forgotten
            if self._listeners == 0:
                self._ended.set()

    def remembered(self, after: int) -> list[NumberedEvent] | None:
        """Return at most a page of events after a number; None: they are not in memory."""
        with self._lock:
            if self._newest == 0 or after + 1 < self._first:
                return None
            skipped = after + 1 - self._first
            return list(islice(self._rows, max(0, skipped), max(0, skipped) + PAGE))

    def stored(self, after: int) -> StoredEvents:
        """Return a page of events after a number, of the archive where the table has them not."""
        with self._store.reading() as tx:
            rows = tx.happenings.after(after, PAGE)
            trimmed, newest = tx.happenings.trimmed(), tx.happenings.newest()
            archived = RecordType.EVENT in tx.archive.positions()
        if self._archive is None or not archived or after >= trimmed:
            return StoredEvents(rows, trimmed, newest)
        try:
            older = self._archive.after(after, trimmed, PAGE)
        except (StoreAway, StoreRefuses) as error:
            return StoredEvents([], trimmed, newest, away=str(error))
        return StoredEvents(older or rows, trimmed, newest)

    def _read_on(self, ended: threading.Event) -> None:
        """Read new events until the last listener has left; a failed look is repeated."""
        while not ended.is_set():
            try:
                any_new = self._look(ended)
            except Exception as error:  # a failed look is repeated
                expected = isinstance(error, Unavailable)
                log.warning(
                    "events are not read", error=str(error), exc_info=None if expected else error
                )
                any_new = False
            if not any_new:
                ended.wait(self._poll_s)

    def _look(self, ended: threading.Event) -> bool:
        with self._store.reading() as tx:
            newest = tx.happenings.newest()
            if newest == self._newest:
                return False
            after = self._newest or newest  # events before the first listener are not kept
            rows = tx.happenings.after(after, PAGE)
        with self._lock:
            if ended.is_set():
                return False
            if rows and (not self._rows or rows[0].number != self._newest + 1):
                self._rows.clear()
            self._rows.extend(rows)
            self._newest = rows[-1].number if rows else newest
            self._first = self._rows[0].number if self._rows else self._newest + 1
        self._news.notify()
        return True
