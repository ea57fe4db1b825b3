"""Repository ports of committed offsets and of generations, which advance them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Protocol, TypeAlias

from supervisor.core.history.windows import EVERY_RANGE, RangeWindow
from supervisor.core.model.rows import (
    CommittedOffset,
    GapKind,
    Generation,
    GenerationState,
    OffsetGap,
)
from supervisor.core.planning.actions import FixEnd, OpenGeneration
from tasks.contract.offsets import Offsets, TopicPartition

NO_EPOCHS: Mapping[TopicPartition, int] = MappingProxyType({})
"""The reset epochs of partitions that were never reset."""

OffsetsBySupervisor: TypeAlias = dict[str, dict[TopicPartition, CommittedOffset]]


class OffsetsTable(Protocol):
    """Committed offsets and declared gaps."""

    def of(self, supervisor_id: str) -> dict[TopicPartition, CommittedOffset]:
        """Return the committed offsets of every partition."""
        ...

    def of_each(self, supervisor_ids: Sequence[str]) -> OffsetsBySupervisor:
        """Return supervisor -> partition -> committed offset, in few queries."""
        ...

    def initialise(self, supervisor_id: str, topic_id: str, offsets: Offsets) -> bool:
        """Insert rows for partitions that have no row yet, with `first_offset` = `next_offset`.

        Returns False, and changes nothing, if any of the partitions has a row already.
        """
        ...

    def advance(
        self,
        supervisor_id: str,
        start: Offsets,
        end: Offsets,
        topic_ids: Mapping[str, str],
        epochs: Mapping[TopicPartition, int] = NO_EPOCHS,
    ) -> None:
        """Compare and swap every partition from `start` to `end`, in sorted order.

        Raises:
            StaleCommit: a partition has another offset, topic id or reset epoch.
        """
        ...

    def reset(
        self,
        supervisor_id: str,
        offsets: Offsets,
        topic_ids: Mapping[str, str],
        expected: Offsets,
    ) -> None:
        """Set stored partitions to other offsets, with these topic ids and the next reset epoch.

        Partitions without a row get one, as by `initialise`.  Partitions that are not named stay.
        An offset below `first_offset` moves `first_offset` down; another topic id sets
        `first_offset` anew.  `expected` are the committed offsets that the caller has read, also of
        partitions that the caller will drop.  All of them are compared first.  A partition in
        `offsets` that is missing in `expected` must have no row.

        Raises:
            StaleCommit: an offset of `expected` has changed; the transaction must not go on.
        """
        ...

    def drop(self, supervisor_id: str, partitions: Collection[TopicPartition]) -> None:
        """Delete the rows of partitions that are gone: their topic was recreated with fewer."""
        ...

    def declare(self, gap: OffsetGap) -> None:
        """Record a gap."""
        ...

    def gaps(self, supervisor_id: str) -> list[OffsetGap]:
        """Return the declared gaps, oldest first."""
        ...

    def gap_sizes(self) -> dict[tuple[str, GapKind], int]:
        """Return (supervisor, kind) -> the number of offsets in all such gaps."""
        ...

    def forget(self, supervisor_id: str) -> None:
        """Delete the committed offsets and the gaps of a supervisor."""
        ...


class Generations(Protocol):
    """Offset ranges and their handoff state; each change is guarded by its expected state."""

    def open(
        self, supervisor_id: str, data_source: str, action: OpenGeneration, now: datetime
    ) -> bool:
        """Insert the generation as READING; False, changing nothing, if its id exists.

        Raises:
            StateMoved: another open generation holds one of its partitions.
        """
        ...

    def get(self, generation_id: str) -> Generation | None:
        """Return one generation."""
        ...

    def rows_of(self, generation_ids: Sequence[str]) -> dict[str, Generation]:
        """Return id -> generation, for those that exist; in few queries, however many there are.

        A state that only a newer release knows is UNKNOWN here.
        """
        ...

    def live(self, supervisor_id: str | None = None) -> list[Generation]:
        """Return live generations of one supervisor, or of all, by (supervisor, ordinal)."""
        ...

    def live_tables(self) -> dict[str, str]:
        """Return supervisor -> table, for supervisors with live generations in whatever state.

        A state that only a newer release knows hides no supervisor and no table.
        """
        ...

    def newest(self, supervisor_id: str) -> Generation | None:
        """Return the generation with the highest ordinal, whatever its state."""
        ...

    def recent(self, supervisor_id: str, limit: int) -> list[Generation]:
        """Return the newest ended generations, newest first."""
        ...

    def page(
        self,
        supervisor_id: str,
        limit: int,
        *,
        before: int | None = None,
        window: RangeWindow = EVERY_RANGE,
        down_to: int = 0,
    ) -> list[Generation]:
        """Return the live and ended generations of a window, newest first.

        With `before` only lower ordinals are returned, and none up to `down_to`.
        """
        ...

    def finished(self, generation_id: str, now: datetime) -> None:
        """Record when a replica first asked to publish a live generation; again: no change."""
        ...

    def ask_handoff(self, generation_id: str, why: str) -> bool:
        """Record that the handoff of a READING generation is wanted now; False: not READING."""
        ...

    def begin_handoff(
        self, generation_id: str, expected_sequence: int, *, must_end: bool, why: str, now: datetime
    ) -> bool:
        """READING or PAUSING -> PAUSING, sequence + 1, `paused_at` = now; False: state moved."""
        ...

    def resume(
        self, generation_id: str, expected_sequence: int, *, restart_timer: bool, now: datetime
    ) -> bool:
        """PAUSING -> READING, sequence + 1, handoff fields cleared; False: state moved.

        With a restarted timer, a requested handoff counts as done.  Otherwise the request stays.
        """
        ...

    def fix_end(self, action: FixEnd, now: datetime) -> bool:
        """PAUSING -> PUBLISHING with the end, sequence + 1, partitions free; False: state moved."""
        ...

    def close(
        self, generation_id: str, state: GenerationState, now: datetime, why: str = ""
    ) -> bool:
        """Live -> EMPTY, DISCARDED or PUBLISHED, partitions freed; False: it had ended already.

        `why` goes into the lifecycle event and is not stored in the row.
        """
        ...

    def predecessors(self, generation: Generation) -> list[Generation]:
        """Return live generations with a lower ordinal that share a partition with this one."""
        ...

    def forget(self, supervisor_id: str, up_to: int, limit: int) -> int:
        """Delete rows of ended, unpublished generations up to an ordinal; return how many.

        The row of a task is deleted once its folder is settled, and that of a generation after its
        tasks.  The newest generation stays, because ordinals continue from it.  At most `limit`
        rows are deleted; 0: there are no more to delete now.
        """
        ...

    def unsettled(self, supervisor_id: str, up_to: int) -> bool:
        """Return whether a task of such a generation still has a folder that may not be empty.

        Folders of STALE tasks do not count, because they are kept for people.
        """
        ...
