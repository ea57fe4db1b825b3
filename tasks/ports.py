"""What an ingestion task needs of the world: an engine that reads and writes, Kafka, the overlord.

The engine is PySpark in the product (`tasks/ingest/`); the loop around it
(`tasks/worker/worker.py`, `tasks/machine/machine.py`) knows only these Protocols, so that it runs
without a JVM in tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import Field

from tasks.contract.digests import PATTERN
from tasks.contract.ingest_spec import Column, IngestSpec
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.messages import (
    CompactedFile,
    Counters,
    DesiredCompaction,
    DesiredTask,
    FailureCode,
    OffsetSpan,
    PublishAnswer,
    PublishRequest,
    RejectSample,
    RejectsFile,
    SegmentFile,
    SyncRequest,
    SyncResponse,
)
from tasks.contract.offsets import Offsets
from tasks.contract.registry import Registry
from tasks.contract.sample import DesiredSample, SampleAnswer
from tasks.contract.wire import Instant, Wire, WireOffsets
from tasks.runtime.secrets import without_secrets


class TaskError(Exception):
    """A failure of one task, on purpose; `code` crosses the seam, the message is for people."""

    def __init__(self, code: FailureCode, message: str) -> None:
        """Keep the code beside the text, which shows no secret."""
        super().__init__(without_secrets(message))
        self.code = code


class OverlordRefused(TaskError):
    """An overlord refuses a request for good: the same one would be refused again."""

    def __init__(self, message: str) -> None:
        """Give it the code of what is refused."""
        super().__init__(FailureCode.REFUSED, message)


class BatchCancelled(Exception):
    """The running job was cancelled; nothing of it counts and its files were dropped."""


class StreamTimeout(Exception):
    """Kafka did not answer within its deadline; the loop tries again, the position stays."""

    def __init__(self, message: str = "") -> None:
        """Keep the text, which shows no secret."""
        super().__init__(without_secrets(message))


class SchemasUnavailable(StreamTimeout):
    """A schema registry did not answer, or not as one; the loop does as if Kafka had not."""


@dataclass(frozen=True)
class SchemaText:
    """A schema as a registry has it."""

    kind: str
    """AVRO, PROTOBUF or JSON."""
    text: str
    references: tuple[str, ...] = ()
    """Schemas whose names it uses, each after those that it uses itself."""
    names: tuple[str, ...] = ()
    """What each of them is called where it is used: of Protobuf, the file that is imported."""


class SchemaSource(Protocol):
    """Where the schemas of records lie that name them by number."""

    def schema(self, registry: Registry, number: int) -> SchemaText | None:
        """Return a schema; None: the registry says that it has none of that number.

        Raises:
            SchemasUnavailable: it did not answer in time, or something that is no answer.
        """
        ...


class DataFile(Wire):
    """One Parquet file of a batch, synced to disk; the path is relative to the warehouse."""

    path: str
    rows: int
    size_bytes: int
    sha256: str
    time_min: Instant
    time_max: Instant
    spans: tuple[OffsetSpan, ...]


class JournalEntry(Wire):
    """One finished micro-batch over `[start, end)`: what the journal holds, a line each."""

    number: int
    incarnation: int
    start: WireOffsets
    end: WireOffsets
    files: tuple[DataFile, ...]
    rejects: RejectsFile | None = None
    quarantine: tuple[DataFile, ...] = ()
    """The raw records of its bad offsets, if the spec keeps them."""
    counters: Counters
    samples: tuple[RejectSample, ...] = ()
    columns: tuple[str, ...] = ()
    """Discovered columns up to and with this batch, sorted; empty when nothing is discovered."""
    kinds: dict[str, int] = Field(default_factory=dict)
    """What values of these were, where that makes their types; 0: null in every row so far."""
    digest: str | None = Field(default=None, pattern=PATTERN)
    """What its records came to (`tasks.contract.digests`); None: from before there were digests."""
    chunk_rows: dict[str, int] = Field(default_factory=dict)
    """Start of a time chunk -> rows of it in `files`, of the fullest 1,000; none: not counted."""


@dataclass(frozen=True)
class BatchJob:
    """Read `[start, end)` into files below the task's folder."""

    task_id: str
    incarnation: int
    number: int
    spec: IngestSpec
    start: Offsets
    end: Offsets
    columns: tuple[str, ...]
    """Columns discovered so far; the batch may add to them."""
    finishing: bool = False
    """The task's end is fixed: its successor reads already and goes first."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """Of these columns, as in the journal (see `JournalEntry`)."""


@dataclass(frozen=True)
class MergeJob:
    """Turn the journaled files of a finished range into segments of the target size."""

    task_id: str
    incarnation: int
    spec: IngestSpec
    entries: tuple[JournalEntry, ...]


@dataclass(frozen=True)
class MergeResult:
    """What a task offers for publishing: synced files with sizes and digests."""

    segments: tuple[SegmentFile, ...]
    rejects: RejectsFile | None
    quarantine: tuple[SegmentFile, ...] = ()
    columns: tuple[Column, ...] = ()
    """Those of the segments, with their types; one may lack some."""


class Engine(Protocol):
    """Runs the heavy work of one task at a time per task id; safe to call from many threads."""

    def read_batch(self, job: BatchJob) -> JournalEntry:
        """Read, decode, write, fsync; return what the journal should hold.

        Raises:
            BatchCancelled: `cancel` was called; the batch's files are gone.
            NoSpace: the disk is full (`tasks/durable_files.py`); nothing is left, a repeat may
            succeed.
            TaskError: the range cannot be read, or its rows not be written.
        """
        ...

    def merge(self, job: MergeJob) -> MergeResult:
        """Rewrite journaled files into segments, or take them as they are.  Raises as above."""
        ...

    def compact(self, order: DesiredCompaction) -> SegmentFile:
        """Rewrite published files as one file, synced; the inputs stay as they are.

        Raises:
            BatchCancelled: `cancel` was called; what was written is gone.
            NoSpace: the disk is full; nothing is left, a repeat may succeed.
            TaskError: an input is missing or damaged, these files cannot become one, or the new
                file cannot be written.
        """
        ...

    def cancel(self, task_id: str) -> None:
        """Stop the job that this task, or compaction, runs now, if any; returns at once."""
        ...

    def drop(self, task_id: str, entries: Sequence[JournalEntry]) -> None:
        """Delete the files of journaled batches that no longer count (rule P14)."""
        ...


@dataclass(frozen=True)
class StreamView:
    """What Kafka holds of some partitions, read in one go."""

    earliest: Offsets
    stable: Offsets
    """Last stable offsets: where a `read_committed` reader must stop."""
    topic_ids: dict[str, str]


class Stream(Protocol):
    """Offsets of the topics a task reads."""

    def look(self, client: KafkaClient, partitions: Sequence[tuple[str, int]]) -> StreamView:
        """Read earliest and last stable offsets and topic ids, within a deadline.

        Raises:
            StreamUnavailable: no broker answered in time.
            TaskError: a topic or partition does not exist (OFFSETS_UNREADABLE).
        """
        ...


class OverlordClient(Protocol):
    """The control plane, as a worker reaches it; tries each address of `TIDEGATE_OVERLORDS`."""

    def sync(self, request: SyncRequest) -> SyncResponse:
        """Exchange states.

        Raises:
            OverlordUnavailable: none answered; the caller tries again, tasks read on.
            Fenced: a newer incarnation of this worker has registered; stop everything.
        """
        ...

    def publish(self, task: DesiredTask, request: PublishRequest) -> PublishAnswer:
        """Ask to publish; a repeat gets the stored answer.

        Raises:
            OverlordRefused: it will never take this request.
            OverlordUnavailable, Fenced: as `sync`.
        """
        ...

    def publish_compaction(self, order: DesiredCompaction, file: CompactedFile) -> PublishAnswer:
        """Ask that a file takes the place of a compaction's inputs.

        The outcome is `committed`, also on a repeat, or `superseded`: the file is not needed.
        Raises as `publish`.
        """
        ...

    def answer_sample(self, order: DesiredSample, answer: SampleAnswer) -> None:
        """Tell what became of a sample.  Raises as `publish`; then nobody may wait for it."""
        ...


class Sampler(Protocol):
    """Reads records and decodes them for people; safe to call from many threads."""

    def sample(self, order: DesiredSample) -> SampleAnswer:
        """Return what the records of a sample become; nothing is written.

        Raises:
            BatchCancelled: the engine's `cancel` was called with the sample's id.
            StreamUnavailable: the brokers, or a registry of schemas, did not answer in time.
            TaskError: the records cannot be read.
        """
        ...


class OverlordUnavailable(Exception):
    """No overlord answered, or none leads."""


class Fenced(Exception):
    """A newer incarnation of this worker exists: this process must write nothing more."""
