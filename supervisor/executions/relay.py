"""The relay: letters that are stored go to the history, in their order, from the leader alone.

    first letters ─► one transaction of Kafka, with a mark ─► delete them ─► first letters ...
                                    └ crash: the next one reads the mark, and deletes them

A leader that was deposed without knowing it is fenced: the next one begins with the same
transactional id.  So each letter comes once, in the order in which it was stored.
"""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from supervisor.core.values.errors import LeaseLost
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import (
    LogAborted,
    LogAway,
    LogEntry,
    LogFenced,
    LogRefuses,
    LogTooLarge,
    LogTopic,
)
from supervisor.ports.flows.outbox import HistoryWriter, LetterOutbox, StoredLetter
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["SENT_AT_ONCE", "HistoryRelay"]

log = structlog.get_logger()

SENT_AT_ONCE = 500
"""Letters of one transaction."""
_LOOK_S = 1.0
"""Between two looks, if nobody says that there is something."""
_AGAIN_MAX_S = 10.0
_TROUBLES = (LogAborted, LogAway, LogFenced, LogRefuses, LogTooLarge, StoreAway, StoreRefuses)


def _mark(letter: StoredLetter) -> str:
    """Name a letter: by its number, and by its text, as a restored database counts anew."""
    text = hashlib.sha256(letter.entity.encode() + b"\0" + letter.body).hexdigest()
    return f"{letter.number}:{text[:32]}"


@dataclass
class HistoryRelay:
    """A thread that sends while this overlord leads."""

    outbox: LetterOutbox
    new_writer: Callable[[], HistoryWriter]
    partitions: int
    """Of the history."""
    term: Callable[[], int]
    """Raises LeaseLost while this overlord does not lead."""
    reach: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""
    look_s: float = _LOOK_S
    trouble: str = ""
    """Why letters wait, in words; empty: they do not."""
    sent: int = 0
    """Letters that this process has sent."""
    _writer: HistoryWriter | None = None
    _fenced_in: int = 0
    """The term in which the writer has fenced every other."""
    _news: threading.Event = field(default_factory=threading.Event)
    _ending: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to send."""
        self._thread = threading.Thread(target=self._run, name="history-relay", daemon=True)
        self._thread.start()

    def stop(self, within_s: float = 5.0) -> None:
        """Send nothing more."""
        self._ending.set()
        self._news.set()
        if self._thread is not None:
            self._thread.join(within_s)

    def nudge(self) -> None:
        """Look now: a letter is stored."""
        self._news.set()

    def is_away(self) -> bool:
        """Whether letters do not get to the topics."""
        return bool(self.trouble)

    def run_once(self) -> int:
        """Send the letters that wait longest; return how many, `SENT_AT_ONCE`: there may be more.

        Raises:
            LeaseLost: this overlord does not lead.
            LogAborted, LogAway, LogFenced, LogRefuses, LogTooLarge: Kafka; the letters wait.
            StoreAway, StoreRefuses: the database; the next writer reads whether they are sent.
        """
        term = self.term()
        letters = self.outbox.first(SENT_AT_ONCE)
        if not letters:
            return 0
        writer, mark = self._ready(term)
        sent = [each.number for each in letters if mark and _mark(each) == mark]
        if sent:  # who has written them died before they were deleted
            self.outbox.drop_to(sent[0])
            return SENT_AT_ONCE
        writer.write([self._entry(each) for each in letters], _mark(letters[-1]))
        self.reach("relay:sent")
        self.outbox.drop_to(letters[-1].number)
        self.sent += len(letters)
        return len(letters)

    def _entry(self, letter: StoredLetter) -> LogEntry:
        place = partition_of(letter.entity, self.partitions)
        about = {"letter": str(letter.number)}
        return LogEntry(LogTopic.HISTORY, place, letter.entity.encode(), letter.body, about)

    def _ready(self, term: int) -> tuple[HistoryWriter, str]:
        """Return a writer that has fenced the others in this term, and the mark that it read."""
        if self._writer is not None and self._fenced_in == term:
            return self._writer, ""
        self._drop_writer()
        self._writer = self.new_writer()
        self._fenced_in = 0
        mark = self._writer.fence()
        self._fenced_in = term
        return self._writer, mark

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def _run(self) -> None:
        pause_s = self.look_s
        while not self._ending.is_set():
            self._news.clear()
            try:
                more = self.run_once() == SENT_AT_ONCE
            except LeaseLost:
                self._drop_writer()
                self.trouble, more, pause_s = "", False, self.look_s
            except _TROUBLES as error:
                # What is written is not known: the next writer fences this one.
                self._drop_writer()
                if str(error) != self.trouble:
                    log.warning("letters of executions wait", why=str(error))
                self.trouble, more = str(error) or type(error).__name__, False
                self._ending.wait(pause_s)
                pause_s = min(pause_s * 2, _AGAIN_MAX_S)
                continue
            except Exception as error:
                log.exception("letters of executions wait")
                self._drop_writer()
                self.trouble, more = f"{type(error).__name__}: {error}", False
                self._ending.wait(_AGAIN_MAX_S)
            else:
                self.trouble, pause_s = "", self.look_s
            if not more:
                self._news.wait(self.look_s)
        self._drop_writer()
