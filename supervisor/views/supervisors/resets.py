"""Response models of resets and backfills: moved and looked-up offsets, and discarded ranges."""

from collections.abc import Iterable, Mapping

from pydantic import Field

from supervisor.core.model.rows import CommittedOffset
from supervisor.core.planning.partition_names import names_topics
from supervisor.core.planning.wished_offsets import WishedOffset
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.offsets import TopicPartition
from tasks.contract.wire import Instant, Wire


class OffsetsRange(Wire):
    """Offsets `[from, to)`."""

    start: int = Field(alias="from")
    to: int


class MovedPartition(Wire):
    """One partition whose committed offset was set elsewhere."""

    topic: str
    partition: int
    start: int | None = Field(alias="from")
    """The committed offset before the reset; null: there was none."""
    to: int | None
    """The committed offset after the reset; null: the partition no longer exists."""
    skipped: int
    """Offsets that will not be read."""
    lost: int
    """Offsets that were not read and that Kafka no longer holds."""
    repeated: int
    """Offsets that are read and published a second time."""
    skipped_range: OffsetsRange | None = None
    lost_range: OffsetsRange | None = None
    repeated_range: OffsetsRange | None = None
    recreated: bool = False
    """Whether the topic was deleted and made anew, so that all that was not published of the old
    one is lost with it; how much that was is not known."""


class GivenUpOffsets(Wire):
    """The offsets of one partition in a range that is given up."""

    topic: str
    partition: int
    start: int = Field(alias="from")
    to: int | None
    """The fixed end of the range; null: it is still being read."""


class GivenUp(Wire):
    """A live range that was discarded unpublished."""

    generation_id: str
    group: int
    partitions: list[str]
    offsets: list[GivenUpOffsets] = Field(default_factory=list)


class Moved(Wire):
    """What a reset did, or would do; `id` is Druid's."""

    id: str
    dry_run: bool
    partitions: list[MovedPartition]
    discarded: list[GivenUp]
    digest: str = ""
    """Of what a reset does, or would do; with it as `expect` an act does this, or nothing."""
    operation_id: str | None
    """Null for a dry run."""


class BackfillRange(Wire):
    """What the bounded supervisor reads of one partition."""

    topic: str
    partition: int
    start: int = Field(alias="from")
    to: int
    """Exclusive."""


class Backfilled(Moved):
    """What became of both supervisors; `id` and `backfillSupervisorId` are Druid's.

    What `partitions` tells as skipped is what `backfill` reads.
    """

    backfill_supervisor_id: str | None
    """Null for a dry run."""
    backfill: list[BackfillRange]
    backfill_task_count: int


class OffsetView(Wire):
    """Where one partition could go on."""

    topic: str
    partition: int
    name: str
    """The partition as `resetOffsets` takes it."""
    committed: int | None
    """The committed offset now; null: none is stored yet."""
    offset: int | None
    """Null: there is none, see `why`."""
    exact: bool
    """Whether the offset is what was asked for: of a time, whether a record has that very time."""
    time: Instant | None
    """The time of the record at the offset, if a time was asked for and there is such a record."""
    why: str | None
    """Why the offset is not exact, or not known; null: it is exact."""


class OffsetsAt(Wire):
    """The offsets of a time, of an end of the log, or of a shift; nothing is changed."""

    supervisor_id: str
    partitions: list[OffsetView]


def offsets_at(
    spec: SupervisorSpec,
    stored: Mapping[TopicPartition, CommittedOffset],
    wished: Iterable[WishedOffset],
) -> OffsetsAt:
    """Return the response for offsets that were looked up."""
    topics = names_topics(spec, ())
    return OffsetsAt(
        supervisor_id=spec.id,
        partitions=[
            OffsetView(
                topic=one.partition.topic,
                partition=one.partition.partition,
                name=str(one.partition if topics else one.partition.partition),
                committed=None if (row := stored.get(one.partition)) is None else row.next_offset,
                offset=one.offset,
                exact=one.exact,
                time=one.time,
                why=one.why or None,
            )
            for one in wished
        ],
    )
