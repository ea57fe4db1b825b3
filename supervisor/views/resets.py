"""Response models of resets and backfills: moved offsets, and discarded ranges."""

from pydantic import Field

from tasks.contract.wire import Wire


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
    recreated: bool = False
    """Whether the topic was deleted and made anew, so that all that was not published of the old
    one is lost with it; how much that was is not known."""


class GivenUp(Wire):
    """A live range that was discarded unpublished."""

    generation_id: str
    group: int
    partitions: list[str]


class Moved(Wire):
    """What a reset did, or would do; `id` is Druid's."""

    id: str
    dry_run: bool
    partitions: list[MovedPartition]
    discarded: list[GivenUp]
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
