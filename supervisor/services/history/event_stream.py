"""What happens, passed on to those who listen: one reader of the database for all of them.

happenings ─► reader thread, while anybody listens ─► the newest in memory ─► listeners
older ones ─► each reads the database by itself, page by page
"""

import asyncio
import threading
from collections import deque
from itertools import islice

import structlog

from supervisor.control.wakeups import Wakeups
from supervisor.core.history.lifecycle_events import NumberedEvent
from supervisor.core.values.errors import Unavailable
from supervisor.ports.store import Store

log = structlog.get_logger()

POLL_S = 0.3
"""How late a listener hears of something; each look is one row."""
REMEMBERED = 2_000
PAGE = 500
LISTENERS_MAX = 500


class EventStream:
    """The happenings of one database as this process sees them; from any thread."""

    def __init__(self, store: Store, *, poll_s: float = POLL_S) -> None:
        """Nobody listens yet, and nothing runs."""
        self._store = store
        self._poll_s = poll_s
        self._lock = threading.Lock()
        self._listeners = 0
        self._ended = threading.Event()
        self._newest = 0
        self._first = 1
        """Everything from here to the newest is remembered."""
        self._rows: deque[NumberedEvent] = deque(maxlen=REMEMBERED)
        self._news = Wakeups()

    def join(self) -> asyncio.Event:
        """Begin to listen: the event is set when something has happened; `leave` afterwards.

        Raises:
            Unavailable: too many listen already.
        """
        with self._lock:
            if self._listeners >= LISTENERS_MAX:
                raise Unavailable(f"{LISTENERS_MAX} clients follow the events already")
            self._listeners += 1
            if self._listeners == 1:
                self._ended = threading.Event()
                self._rows.clear()
                self._newest, self._first = 0, 1
                thread = threading.Thread(
                    target=self._read_on, args=(self._ended,), name="feed", daemon=True
                )
                thread.start()
        return self._news.subscribe()

    def leave(self, event: asyncio.Event) -> None:
        """Listen no more; the reader ends with the last listener."""
        self._news.unsubscribe(event)
        with self._lock:
            self._listeners -= 1
            if self._listeners == 0:
                self._ended.set()

    def remembered(self, after: int) -> list[NumberedEvent] | None:
        """Return what came after a number, at most a page; None: ask the database."""
        with self._lock:
            if self._newest == 0 or after + 1 < self._first:
                return None
            skipped = after + 1 - self._first
            return list(islice(self._rows, max(0, skipped), max(0, skipped) + PAGE))

    def stored(self, after: int) -> tuple[list[NumberedEvent], int, int]:
        """Return a page of what came after a number, what was trimmed, the newest number."""
        with self._store.reading() as tx:
            rows = tx.happenings.after(after, PAGE)
            return rows, tx.happenings.trimmed(), tx.happenings.newest()

    def _read_on(self, ended: threading.Event) -> None:
        """Look for what is new until nobody listens; trouble is waited out."""
        while not ended.is_set():
            try:
                any_new = self._look(ended)
            except Exception as error:  # a look that fails is made again
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
            after = self._newest or newest  # what was before the first listener is not remembered
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
