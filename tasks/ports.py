"""Ports of the data plane, as Protocols: the engine that reads and writes, Kafka, the overlord.

The engine is PySpark in the product (`tasks/ingest/`).  The loop around the engine
(`tasks/worker/worker.py`, `tasks/machine/machine.py`) knows only these Protocols, so the loop
runs without a JVM in tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
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
    """A deliberate failure of one task; `code` crosses the seam, the message is for people."""

    def __init__(self, code: FailureCode, message: str) -> None:
        """The message must show no secret."""
        super().__init__(without_secrets(message))
        self.code = code


class OverlordRefused(TaskError):
    """The overlord refuses a request for good: the same request would be refused again."""

    def __init__(self, message: str) -> None:
        """The code is always REFUSED."""
        super().__init__(FailureCode.REFUSED, message)


class BatchCancelled(Exception):
    """The running job was cancelled: its result does not count, and its files were deleted."""


class StreamTimeout(Exception):
    """Kafka did not answer within the deadline; the loop tries again from the same position."""

    def __init__(self, message: str = "") -> None:
        """The message must show no secret."""
        super().__init__(without_secrets(message))


class SchemasUnavailable(StreamTimeout):
    """A schema registry gave no usable answer; the loop waits as it does for Kafka."""


@dataclass(frozen=True)
class SchemaText:
    """The text of a schema, as a registry holds it."""

    kind: str
    """AVRO, PROTOBUF or JSON."""
    text: str
    references: tuple[str, ...] = ()
    """Texts of the referenced schemas; each comes after the schemas that it refers to itself."""
    names: tuple[str, ...] = ()
    """The name of each reference, in the same order; in Protobuf the path of an imported file."""


class SchemaSource(Protocol):
    """Lookup of schemas by number, for records that name their schema by number."""

    def schema(self, registry: Registry, number: int) -> SchemaText | None:
        """Return a schema; None: the registry answers that there is none with that number.

        Raises:
            SchemasUnavailable: no usable answer came in time.
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
    """One finished micro-batch over `[start, end)`; one line of the journal."""

    number: int
    incarnation: int
    start: WireOffsets
    end: WireOffsets
    files: tuple[DataFile, ...]
    rejects: RejectsFile | None = None
    quarantine: tuple[DataFile, ...] = ()
    """Files with the raw records of the bad offsets, if the spec keeps bad records."""
    counters: Counters
    samples: tuple[RejectSample, ...] = ()
    columns: tuple[str, ...] = ()
    """Columns discovered up to and with this batch, sorted; empty if there are none."""
    kinds: dict[str, int] = Field(default_factory=dict)
    """Discovered column -> bits: the kinds of its values, if they decide its type; 0: all null."""
    digest: str | None = Field(default=None, pattern=PATTERN)
    """Digest of the records (`tasks.contract.digests`); None: written before there were digests."""
    chunk_rows: dict[str, int] = Field(default_factory=dict)
    """Start of a time chunk -> its rows in `files`; the fullest 1,000.  Empty: not counted."""


class Care(Enum):
    """How a batch is read, by what its offsets did to the engine's process before."""

    NONE = "none"
    ALONE = "alone"
    """While no other batch of the worker runs."""
    RECORDS = "records"
    """Alone, and one record at a time: no record beyond the batch is unpacked."""
    SKIP = "skip"
    """Not at all: each of its offsets is rejected as too large."""

    @property
    def exclusive(self) -> bool:
        """Whether no other batch of the worker may run meanwhile."""
        return self in {Care.ALONE, Care.RECORDS}


@dataclass(frozen=True)
class BatchJob:
    """Order to read `[start, end)` into files below the task's folder."""

    task_id: str
    incarnation: int
    number: int
    spec: IngestSpec
    start: Offsets
    end: Offsets
    columns: tuple[str, ...]
    """Columns discovered so far; the batch may add to them."""
    finishing: bool = False
    """The task's end is fixed; its successor reads already and has precedence."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """The kinds of `columns`, as in `JournalEntry.kinds`."""
    care: Care = Care.NONE


@dataclass(frozen=True)
class MergeJob:
    """Order to turn the journaled files of a finished range into segments of the target size."""

    task_id: str
    incarnation: int
    spec: IngestSpec
    entries: tuple[JournalEntry, ...]


@dataclass(frozen=True)
class MergeResult:
    """The result that a task offers for publishing: synced files with sizes and digests."""

    segments: tuple[SegmentFile, ...]
    rejects: RejectsFile | None
    quarantine: tuple[SegmentFile, ...] = ()
    columns: tuple[Column, ...] = ()
    """The columns of the segments, with their types; a segment may lack some."""


class Engine(Protocol):
    """The heavy work of tasks, one job per task id at a time; safe to call from many threads."""

    def read_batch(self, job: BatchJob) -> JournalEntry:
        """Read, decode, write and fsync one batch; return its journal entry.

        Raises:
            BatchCancelled: `cancel` was called; the batch's files are gone.
            NoSpace: the disk is full (`tasks/durable_files.py`); no file is left, and a retry may
                succeed.
            TaskError: the range cannot be read, or its rows cannot be written.
        """
        ...

    def merge(self, job: MergeJob) -> MergeResult:
        """Rewrite journaled files into segments, or take them as they are.  Raises as above."""
        ...

    def compact(self, order: DesiredCompaction) -> SegmentFile:
        """Rewrite published files as one file, synced; the inputs stay unchanged.

        Raises:
            BatchCancelled: `cancel` was called; the written file is gone.
            NoSpace: the disk is full; no file is left, and a retry may succeed.
            TaskError: an input is missing or damaged, these files cannot become one, or the new
                file cannot be written.
        """
        ...

    def cancel(self, task_id: str) -> None:
        """Cancel the present job of this task or compaction, if any; returns at once."""
        ...

    def drop(self, task_id: str, entries: Sequence[JournalEntry]) -> None:
        """Delete the files of journaled batches that no longer count (rule P14)."""
        ...


@dataclass(frozen=True)
class StreamView:
    """Offsets and topic ids of some partitions, read in one go."""

    earliest: Offsets
    stable: Offsets
    """Last stable offsets, where a `read_committed` reader must stop."""
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
    """A worker's client of the control plane; tries each address of `TIDEGATE_OVERLORDS`."""

    def sync(self, request: SyncRequest) -> SyncResponse:
        """Send the worker's state and return the desired state.

        Raises:
            OverlordUnavailable: no overlord answered; the caller tries again, and tasks read on.
            Fenced: a newer incarnation of this worker has registered; stop everything.
        """
        ...

    def publish(self, task: DesiredTask, request: PublishRequest) -> PublishAnswer:
        """Request to publish a range; a repeated request gets the stored answer.

        Raises:
            OverlordRefused: the overlord will never accept this request.
            OverlordUnavailable, Fenced: as `sync`.
        """
        ...

    def publish_compaction(self, order: DesiredCompaction, file: CompactedFile) -> PublishAnswer:
        """Request that a file takes the place of a compaction's inputs.

        The outcome is `committed`, also on a repeat, or `superseded`: the file is not needed.
        Raises like `publish`.
        """
        ...

    def answer_sample(self, order: DesiredSample, answer: SampleAnswer) -> None:
        """Send the result of a sample.  Raises like `publish`; then perhaps nobody waits for it."""
        ...


class Sampler(Protocol):
    """Reads and decodes records for people to look at; safe to call from many threads."""

    @property
    def at_once(self) -> int:
        """How many samples may run at once and still leave the tasks cores of their own."""
        ...

    def sample(self, order: DesiredSample) -> SampleAnswer:
        """Return the rows that the records of a sample become; nothing is written.

        Raises:
            BatchCancelled: the engine's `cancel` was called with the sample's id.
            StreamUnavailable: the brokers, or a schema registry, did not answer in time.
            TaskError: the records cannot be read.
        """
        ...


class OverlordUnavailable(Exception):
    """No overlord answered, or none leads."""


class Fenced(Exception):
    """A newer incarnation of this worker exists: this process must write nothing more."""
