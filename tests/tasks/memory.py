"""The world of a worker in memory: a log, an engine that can be held, an overlord of one thread."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Condition

from tasks.contract.digests import digest_of
from tasks.contract.ingest_spec import IngestSpec, TimestampSpec, Tuning
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.messages import (
    CompactedFile,
    CompactionReport,
    Counters,
    DesiredCompaction,
    DesiredTask,
    KeptOrder,
    OffsetSpan,
    Order,
    PublishAnswer,
    PublishOutcome,
    PublishRequest,
    RunState,
    SegmentFile,
    SyncRequest,
    SyncResponse,
    TaskReport,
)
from tasks.contract.offsets import TopicPartition
from tasks.contract.sample import DesiredSample, SampleAnswer
from tasks.ports import (
    BatchCancelled,
    BatchJob,
    DataFile,
    JournalEntry,
    MergeJob,
    MergeResult,
    OverlordUnavailable,
    StreamTimeout,
    StreamView,
)
from tests.tasks.bits import places

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
P0 = TopicPartition("clicks", 0)
P1 = TopicPartition("clicks", 1)
IDS = {"clicks": "id-1"}
DEADLINE_S = 120.0
AT_ONCE_S = 10.0
"""What waits for work that is held takes `DEADLINE_S`."""

LIVELY = Tuning(linger=timedelta(0), batch_rows_min=1)
"""Reads what there is at once."""


def at(*offsets: int) -> dict[TopicPartition, int]:
    """Offsets of the partitions 0, 1, ... of `clicks`."""
    return {TopicPartition("clicks", n): offset for n, offset in enumerate(offsets)}


def order(
    sequence: int = 1,
    state: RunState = RunState.RUN,
    end: Mapping[TopicPartition, int] | None = None,
    *,
    term: int = 1,
    lease_s: float = 60,
) -> Order:
    lease = timedelta(seconds=lease_s)
    fixed = None if end is None else dict(end)
    return Order(term=term, sequence=sequence, state=state, end=fixed, pause_lease=lease)


def pause(sequence: int, *, term: int = 1, lease_s: float = 60) -> Order:
    return order(sequence, RunState.PAUSE, term=term, lease_s=lease_s)


def desired(
    task_id: str = "task-1",
    *,
    start: Mapping[TopicPartition, int] | None = None,
    first: Order | None = None,
    tuning: Tuning = LIVELY,
    taken_up: bool = False,
    turn: bool = False,
    servers: str = "broker:9092",
    data_source: str = "clicks",
) -> DesiredTask:
    spec = IngestSpec(
        data_source=data_source,
        kafka=KafkaClient(bootstrap_servers=servers),
        timestamp=TimestampSpec(),
        tuning=tuning,
    )
    return DesiredTask(
        task_id=task_id,
        token=f"token of {task_id}",
        supervisor_id="clicks",
        generation_id=f"generation of {task_id}",
        group=0,
        replica=0,
        attempt=0,
        taken_up=taken_up,
        spec=spec,
        start=dict(start) if start is not None else at(0),
        topic_ids=IDS,
        order=first or order(),
        turn=turn,
    )


def entry_of(job: BatchJob) -> JournalEntry:
    """What an engine would return for `job` if each offset is one row, each partition an hour."""
    rows = sum(job.end[p] - job.start[p] for p in job.start)
    spans = tuple(
        OffsetSpan(
            topic=p.topic,
            partition=p.partition,
            first=job.start[p],
            last=job.end[p] - 1,
            rows=job.end[p] - job.start[p],
        )
        for p in job.start
        if job.end[p] > job.start[p]
    )
    path = f"clicks/data/{job.task_id}/{job.incarnation}-{job.number}.parquet"
    data = DataFile(
        path=path,
        rows=rows,
        size_bytes=rows + 1,
        sha256=hashlib.sha256(path.encode()).hexdigest(),
        time_min=NOON,
        time_max=NOON,
        spans=spans,
    )
    return JournalEntry(
        number=job.number,
        incarnation=job.incarnation,
        start=dict(job.start),
        end=dict(job.end),
        files=(data,) if rows else (),
        counters=Counters(processed=rows, processed_bytes=rows * 10),
        digest=digest_of(places(job.start, job.end)),
        chunk_rows={f"hour {span.partition}": span.rows for span in spans},
    )


@dataclass
class MemoryLog:
    """What Kafka holds of `clicks`; a Stream."""

    earliest: dict[TopicPartition, int]
    stable: dict[TopicPartition, int]
    topic_ids: Mapping[str, str] = field(default_factory=lambda: dict(IDS))
    down: str = ""
    """Why Kafka does not answer; empty: it does."""

    def look(self, client: KafkaClient, partitions: Sequence[tuple[str, int]]) -> StreamView:
        del client, partitions
        if self.down:
            raise StreamTimeout(self.down)
        return StreamView(dict(self.earliest), dict(self.stable), dict(self.topic_ids))


Job = BatchJob | MergeJob | DesiredCompaction


class MemoryEngine:
    """An Engine whose files are names; a job can be held until it is released or cancelled."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.running: dict[str, Job] = {}
        self.running_most = 0
        self.failure: Exception | None = None
        self.rejected: dict[str, int] = {}
        """Reason -> records beyond its rows that each batch rejects."""
        self._held = False
        self._deaf = False
        self._cancelled: set[str] = set()
        self._changed = Condition()

    def read_batch(self, job: BatchJob) -> JournalEntry:
        entry = entry_of(job)
        counted = entry.counters.model_copy(update={"rejected": self.rejected})
        entry = entry.model_copy(update={"counters": counted})
        with self._job(job.task_id, job):
            self.files |= {file.path for file in entry.files}
        return entry

    def merge(self, job: MergeJob) -> MergeResult:
        with self._job(job.task_id, job):
            rows = sum(file.rows for entry in job.entries for file in entry.files)
            path = f"clicks/data/{job.task_id}/{job.incarnation}-merged.parquet"
            self.files.add(path)
        segment = SegmentFile(
            path=path,
            interval_start=NOON.replace(hour=0),
            interval_end=NOON.replace(hour=0, day=2),
            rows=rows,
            size_bytes=rows,
            sha256="0" * 64,
            time_min=NOON,
            time_max=NOON,
            spans=tuple(s for e in job.entries for f in e.files for s in f.spans),
        )
        return MergeResult((segment,) if rows else (), None)

    def compact(self, order: DesiredCompaction) -> SegmentFile:
        files = [some.file for some in order.inputs]
        update: dict[str, object] = {
            "path": f"{order.data_source}/data/{order.compaction_id}/segment-00000.parquet",
            "rows": sum(file.rows for file in files),
            "spans": tuple(span for file in files for span in file.spans),
        }
        with self._job(order.compaction_id, order):
            self.files.add(str(update["path"]))
        return files[0].model_copy(update=update)

    def cancel(self, task_id: str) -> None:
        with self._changed:
            if task_id in self.running and not self._deaf:
                self._cancelled.add(task_id)
                self._changed.notify_all()

    def drop(self, task_id: str, entries: Sequence[JournalEntry]) -> None:
        del task_id
        self.files -= {file.path for entry in entries for file in entry.files}

    def hold(self, *, deaf: bool = False) -> None:
        """Let every job from now on wait for `release`; deaf jobs cannot be cancelled."""
        with self._changed:
            self._held, self._deaf = True, deaf

    def release(self) -> None:
        with self._changed:
            self._held = False
            self._changed.notify_all()

    def wait_running(self, task_id: str) -> Job:
        with self._changed:
            assert self._changed.wait_for(lambda: task_id in self.running, DEADLINE_S)
            return self.running[task_id]

    def wait_any(self) -> Job:
        """Wait for a job of whichever task."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.running, DEADLINE_S)
            return next(iter(self.running.values()))

    @contextmanager
    def _job(self, name: str, job: Job) -> Iterator[None]:
        with self._changed:
            self.running[name] = job
            self.running_most = max(self.running_most, len(self.running))
            self._changed.notify_all()
            done = lambda: not self._held or name in self._cancelled  # noqa: E731
            assert self._changed.wait_for(done, DEADLINE_S), "nobody released the job"
            cancelled = name in self._cancelled
            self._cancelled.discard(name)
            del self.running[name]
            self._changed.notify_all()
            if self.failure is not None:
                raise self.failure
            if cancelled:
                raise BatchCancelled
            yield


class MemoryOverlord:
    """An Overlord that lists what a test puts on its list and remembers what it heard."""

    def __init__(self) -> None:
        self.term = 1
        self.tasks: dict[str, DesiredTask] = {}
        self.compactions: tuple[DesiredCompaction, ...] = ()
        self.requests: list[SyncRequest] = []
        self.published: list[PublishRequest] = []
        self.compacted: list[tuple[str, CompactedFile]] = []
        """(token, request) of each that was asked for."""
        self.kept, self.kept_orders = tuple[str, ...](), tuple[KeptOrder, ...]()
        self.disabled = False
        self.samples: tuple[DesiredSample, ...] = ()
        self.sampled: list[tuple[str, SampleAnswer]] = []
        """(token, answer) of each that was heard."""
        self.outcome = PublishOutcome.COMMITTED
        self.failure: Exception | None = None
        self._revision = 0
        self._changed = Condition()

    def sync(self, request: SyncRequest) -> SyncResponse:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_news(request), request.wait.total_seconds())
            self._fail()
            return SyncResponse(
                term=self.term,
                revision=self._name(),
                tasks=tuple(self.tasks.values()),
                compactions=self.compactions,
                disabled=self.disabled,
                samples=self.samples,
                kept=self.kept,
                kept_orders=self.kept_orders,
            )

    def publish(self, task: DesiredTask, request: PublishRequest) -> PublishAnswer:
        del task
        with self._changed:
            self._fail()
            self.published.append(request)
            self._changed.notify_all()
            return PublishAnswer(outcome=self.outcome, reason=f"because {self.outcome}")

    def publish_compaction(self, order: DesiredCompaction, file: CompactedFile) -> PublishAnswer:
        with self._changed:
            self.compacted.append((order.token, file))
            self._changed.notify_all()
            self._fail()
            return PublishAnswer(outcome=self.outcome, reason=f"because {self.outcome}")

    def answer_sample(self, order: DesiredSample, answer: SampleAnswer) -> None:
        with self._changed:
            self._fail()
            self.sampled.append((order.token, answer))
            self._changed.notify_all()

    def list_samples(self, *orders: DesiredSample) -> None:
        """Replace the list of desired samples."""
        with self._changed:
            self.samples = orders
            self._revision += 1
            self._changed.notify_all()

    def list_compactions(self, *orders: DesiredCompaction) -> None:
        """Replace the list of desired compactions."""
        with self._changed:
            self.compactions = orders
            self._revision += 1
            self._changed.notify_all()

    def list(self, *tasks: DesiredTask, kept: tuple[str | KeptOrder, ...] = ()) -> None:
        """Replace the list of desired tasks, and of those that go on, with an order or as ever."""
        with self._changed:
            self.kept_orders = tuple(each for each in kept if isinstance(each, KeptOrder))
            self.kept = tuple(each if isinstance(each, str) else each.task_id for each in kept)
            self.tasks = {task.task_id: task for task in tasks}
            self._revision += 1
            self._changed.notify_all()

    def send(self, task_id: str, new: Order, *, turn: bool = False) -> None:
        """Change what one listed task should do."""
        update = {"order": new, "turn": turn}
        tasks = {**self.tasks, task_id: self.tasks[task_id].model_copy(update=update)}
        self.list(*tasks.values())

    def fail(self, failure: Exception | None) -> None:
        with self._changed:
            self.failure = failure
            self._changed.notify_all()

    def wait_for(self, claim: Callable[["MemoryOverlord"], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: claim(self), DEADLINE_S), self.reports()

    def wait_report(self, task_id: str, claim: Callable[[TaskReport], bool]) -> TaskReport:
        def is_reported(_: "MemoryOverlord") -> bool:
            return any(r.task_id == task_id and claim(r) for r in self.reports())

        self.wait_for(is_reported)
        return next(r for r in self.reports() if r.task_id == task_id)

    def reports(self) -> tuple[TaskReport, ...]:
        """What the newest request said."""
        newest = self._newest()
        return newest.tasks if newest else ()

    def compaction_reports(self) -> tuple[CompactionReport, ...]:
        """What the newest request said of compactions."""
        newest = self._newest()
        return newest.compactions if newest else ()

    def _newest(self) -> SyncRequest | None:
        return max(self.requests, key=lambda r: (r.incarnation, r.sequence), default=None)

    def _is_news(self, request: SyncRequest) -> bool:
        return request.known != self._name() or self.failure is not None

    def _name(self) -> str:
        return f"{self.term}-{self._revision}"

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure


DOWN = OverlordUnavailable("nobody leads")
