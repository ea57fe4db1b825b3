"""The sender: takes records in no time, keeps them on disk, ships them as fast as they are taken.

    offer ─► backlog ─writer─► spool ─┐
                       task logs ─────┴─shipper─► transport ─► store

Nothing that reads, pauses, publishes or stops a task waits for any of it: `offer` only takes a lock
that nobody holds while it writes or sends.  A store, a broker or a disk that hangs costs records
that are counted, the least first; it costs no task anything.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Event, Thread

import structlog

from tasks.reporting.backlog import Backlog
from tasks.reporting.record import RecordType, ReportRecord
from tasks.sending.log_tail import LogPiece, LogTail
from tasks.sending.spool import Spool
from tasks.sending.transport import Outgoing, Transport, TransportAway

__all__ = ["Sender", "SenderOptions", "SenderStatus", "pause_s"]

log = structlog.get_logger()

LogRecord = Callable[[LogPiece], ReportRecord]
"""Makes the record of a piece of a log."""


@dataclass(frozen=True)
class SenderOptions:
    """Bounds and waits."""

    backlog_bytes: int = 4 * 1024 * 1024
    batch_bytes: int = 1024 * 1024
    look_s: float = 1.0
    """How often the logs are looked at while nothing else comes."""
    backoff_min_s: float = 1.0
    backoff_max_s: float = 30.0
    stop_s: float = 2.0
    """How long a stop may take for what is under way."""


@dataclass(frozen=True)
class SenderStatus:
    """What waits, and what was lost, for status and metrics."""

    backlog_bytes: int
    spool_bytes: int
    unsent_s: float
    """Since when something waits that could not be sent; 0: nothing does."""
    dropped: Mapping[RecordType, int]
    lost: int
    """Records that the spool lost or could not write, and those that were refused for good."""
    trouble: str
    """Why nothing is sent, and what to do; empty: it is sent."""


class Sender:
    """One per process; `offer` is for all threads, the rest for the composition root."""

    def __init__(
        self,
        spool: Spool,
        logs: LogTail | None,
        transport: Transport,
        log_record: LogRecord,
        options: SenderOptions | None = None,
        *,
        acknowledged: Callable[[str, int], None] = lambda _, __: None,
    ) -> None:
        """Prepare to send; `start` begins.

        `acknowledged` is called with the subject and the bytes of each log that came whole in a
        record, once that is where no crash loses it.
        """
        self._acknowledged = acknowledged
        self._spool, self._logs = spool, logs
        self._transport, self._log_record = transport, log_record
        self._options = options or SenderOptions()
        self._backlog = Backlog(self._options.backlog_bytes)
        self._news = Condition()
        self._written = Event()
        self._stopping = Event()
        self._threads: list[Thread] = []
        self._failing_since: float | None = None
        self._trouble = ""
        self._has_room = True

    def start(self) -> None:
        """Begin to write and to send, also what a process before has left."""
        for name, run in (("report-writer", self._write), ("report-shipper", self._ship)):
            thread = Thread(target=run, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def offer(self, record: ReportRecord, size: int) -> bool:
        """Take a record of about `size` bytes; return False if it was dropped, which is counted.

        It takes microseconds: the record is written out by another thread.
        """
        with self._news:
            taken = self._backlog.offer(record, size)
            self._news.notify()
        return taken

    def stop(self) -> None:
        """Write down what waits, and end within `stop_s`; the rest is sent after the next start."""
        deadline = time.monotonic() + self._options.stop_s
        self._stopping.set()
        self._written.set()
        with self._news:
            self._news.notify_all()
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))
        with suppress(Exception):
            self._transport.close()

    def status(self) -> SenderStatus:
        """Return what waits and what was lost, without waiting for a disk that hangs."""
        with self._news:
            backlog, dropped = self._backlog.size_bytes, Counter(self._backlog.dropped_total)
        since = self._failing_since
        return SenderStatus(
            backlog,
            self._spool.waiting_bytes,
            0.0 if since is None else time.monotonic() - since,
            dropped,
            self._spool.lost_total + self._spool.refused_total + self._transport.refused_total,
            self._trouble,
        )

    def _write(self) -> None:
        """Move records from the backlog into the spool until the stop, and then the rest."""
        while True:
            with self._news:
                self._news.wait_for(lambda: len(self._backlog) or self._stopping.is_set())
                records = self._taken()
            if records:
                written = self._spool.append([each.to_json().encode() for each in records])
                self._look_for_room(lost=len(records) - written)
                self._written.set()
            elif self._stopping.is_set():
                return

    def _look_for_room(self, *, lost: int) -> None:
        """Say once that the disk takes nothing, and say it again after it did."""
        if lost and self._has_room:
            log.warning("the disk of reports takes nothing: they are lost, tasks go on", lost=lost)
        self._has_room = lost == 0

    def _taken(self) -> list[ReportRecord]:
        taken: list[ReportRecord] = []
        while len(taken) < 1_000 and (record := self._backlog.take()) is not None:  # noqa: PLR2004
            taken.append(record)
        return taken

    def _ship(self) -> None:
        """Send what is there until the stop; after a failure the same again, later and later."""
        wait_s = self._options.backoff_min_s
        while not self._stopping.is_set():
            self._written.clear()
            least_s = 0.0
            try:
                sent = self._ship_once()
            except TransportAway as error:
                least_s = error.retry_s
                self._fail(str(error))
            except Exception as error:  # noqa: BLE001 -- reports must never end their process
                self._fail(f"{type(error).__name__}: {error}")
            else:
                self._failing_since, self._trouble = None, ""
                wait_s = self._options.backoff_min_s
                if not sent:
                    self._written.wait(self._options.look_s)
                continue
            self._stopping.wait(pause_s(least_s, wait_s, random.random()))  # noqa: S311 -- no secret
            if least_s == 0:
                wait_s = min(wait_s * 2, self._options.backoff_max_s)

    def _fail(self, trouble: str) -> None:
        if self._failing_since is None:
            self._failing_since = time.monotonic()
        if trouble != self._trouble:
            log.warning("reports wait on disk, and tasks go on", why=trouble)
        self._trouble = trouble

    def _ship_once(self) -> bool:
        """Send one batch of records and one piece of each log; return whether anything was sent."""
        batch = self._spool.next(self._options.batch_bytes)
        if batch.records:
            outgoing = [_outgoing(each) for each in batch.records]
            self._transport.send([each for each, _ in outgoing])
            for each, log_bytes in outgoing:
                if log_bytes is not None:
                    self._acknowledged(each.key, log_bytes)
        if batch.records or batch.damaged:
            self._spool.sent(batch)
        pieces = [] if self._logs is None else [*self._logs.due(time.monotonic())]
        return self._send_pieces(pieces) or bool(batch.records)

    def _send_pieces(self, pieces: Sequence[LogPiece]) -> bool:
        if self._logs is None or not pieces:
            return False
        try:
            self._transport.send([_of(self._log_record(each)) for each in pieces])
        except BaseException:
            for each in pieces:
                self._logs.again(each.task)
            raise
        for each in pieces:
            self._logs.sent(each)
        return True


def pause_s(least_s: float, backoff_s: float, chance: float) -> float:
    """Return how long to wait after a failure; `chance`, 0 to 1, spreads the workers.

    `least_s`: what the other side asks for, and then the backoff does not count; 0: nothing.
    """
    return least_s * (1 + chance / 4) if least_s > 0 else backoff_s * (1 + chance) / 2


def _of(record: ReportRecord) -> Outgoing:
    return Outgoing(record.subject, record.to_json().encode())


def _outgoing(body: bytes) -> tuple[Outgoing, int | None]:
    """Return a record of the spool, which another release may have written.

    With it the size of the log that is in it; None: there is none.
    """
    record = json.loads(body)
    subject, log_bytes = record.get("subject"), None
    if record.get("type") == RecordType.COMBINED:
        text = record.get("payload", {}).get("log")
        log_bytes = len(text) if isinstance(text, str) else None
    return Outgoing(subject if isinstance(subject, str) else "", body), log_bytes
