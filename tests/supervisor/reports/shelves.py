"""Stores in memory that fail as a test says, records for them, and who waits for outcomes."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.reports.logs import StoredChunk
from supervisor.ports.store_problems import ContentRefused
from supervisor.reports.incoming import Incoming
from supervisor.reports.storing import Storing
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of

WITHIN_S = 20.0
NOW = datetime(2026, 11, 28, 10, tzinfo=UTC)


@dataclass
class Weather:
    """What stores do at their next calls; a call takes the first of these."""

    failures: list[Exception] = field(default_factory=list)
    lasting: Exception | None = None
    """At each call, once `failures` are over."""
    calls: int = 0
    gate: threading.Event | None = None
    """Calls wait for it."""
    entered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released by each call of `put_many`."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def meet(self) -> None:
        """Fail or wait, as is said."""
        with self.lock:
            self.calls += 1
            failure = self.failures.pop(0) if self.failures else self.lasting
        self.entered.release()
        if self.gate is not None:
            assert self.gate.wait(WITHIN_S), "the gate did not open"
        if failure is not None:
            raise failure


class MoodyReports(MemoryReports):
    """Reports in memory, in some weather; a record whose subject begins with `bad` is refused."""

    def __init__(self, weather: Weather) -> None:
        super().__init__()
        self.weather = weather

    def put_many(self, records: Sequence[ReportRecord]) -> Sequence[StoreOutcome]:
        self.weather.meet()
        if any(each.subject.startswith("bad") for each in records):
            raise ContentRefused("the store does not take this text")
        return super().put_many(records)

    def ping(self) -> None:
        self.weather.meet()


class MoodyLogs(MemoryLogStore):
    """Logs in memory, in some weather."""

    def __init__(self, weather: Weather) -> None:
        super().__init__()
        self.weather = weather

    def put_many(self, chunks: Sequence[StoredChunk]) -> Sequence[StoreOutcome]:
        self.weather.meet()
        return super().put_many(chunks)


class Letters:
    """Dead letters in memory, in some weather."""

    def __init__(self, weather: Weather) -> None:
        self.weather = weather
        self.kept: list[DeadLetter] = []

    def put(self, letters: Sequence[DeadLetter]) -> None:
        self.weather.meet()
        self.kept += letters

    def close(self) -> None:
        """Hold nothing."""


@dataclass
class Shelves:
    """All that a pipeline writes to."""

    reports: MoodyReports = field(default_factory=lambda: MoodyReports(Weather()))
    logs: MoodyLogs = field(default_factory=lambda: MoodyLogs(Weather()))
    letters: Letters = field(default_factory=lambda: Letters(Weather()))

    def storing(self, keeps: Callable[[ReportRecord], bool] = lambda _: True) -> Storing:
        """Return what a pipeline takes."""
        return Storing(self.reports, self.logs, self.letters, keeps)


class Ends:
    """Hears the end of each record; each has one."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self.outcomes: list[tuple[int, StoreOutcome]] = []
        """Offset and outcome, in the order in which they came."""

    def __call__(self, item: Incoming, outcome: StoreOutcome) -> None:
        with self._news:
            assert item.offset not in dict(self.outcomes), "a record has ended twice"
            self.outcomes.append((item.offset, outcome))
            self._news.notify_all()

    def await_all(self, number: int) -> dict[int, StoreOutcome]:
        """Wait for so many ends; return offset -> outcome."""
        with self._news:
            ended = self._news.wait_for(lambda: len(self.outcomes) >= number, WITHIN_S)
            assert ended, f"{len(self.outcomes)} of {number} records have ended"
            return dict(self.outcomes)


def record(
    subject: str = "task",
    kind: RecordType = RecordType.TASK_REPORT,
    seq: int = 0,
    **payload: object,
) -> ReportRecord:
    """Return a record; a log chunk is placed at `seq`."""
    is_log = kind is RecordType.LOG_CHUNK
    return ReportRecord.model_validate(
        {
            "type": kind,
            "recordId": record_id_of(subject, 0, kind, seq),
            "subject": subject,
            "origin": RecordOrigin.STREAM,
            "at": NOW,
            "offset" if is_log else "seq": seq,
            "payload": payload,
        }
    )


def incoming(
    bodies: Sequence[ReportRecord | bytes], done: Ends, *, partition: int = 0, first: int = 0
) -> list[Incoming]:
    """Return records as they are read, with offsets from `first` on."""
    return [
        Incoming(
            "completed.default",
            partition,
            first + number,
            b"key",
            body if isinstance(body, bytes) else body.to_json().encode(),
            done,
        )
        for number, body in enumerate(bodies)
    ]


def garbage() -> bytes:
    """Return a record that is none."""
    return json.dumps({"foo": "bar"}).encode()
