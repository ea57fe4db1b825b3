"""Repositories of offset ranges: what is committed, and the generations that move it on."""

from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

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
"""Of partitions that were never reset."""


class OffsetsTable(Protocol):
    """Committed offsets and declared gaps."""

    def of(self, supervisor_id: str) -> dict[TopicPartition, CommittedOffset]:
        """Return the committed offsets of every partition."""
        ...

    def initialise(self, supervisor_id: str, topic_id: str, offsets: Offsets) -> bool:
        """Insert rows for partitions that have none yet, `first_offset` = `next_offset`.

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
            StaleCommit: a partition stands elsewhere, or belongs to another topic id or epoch.
        """
        ...

    def reset(
        self,
        supervisor_id: str,
        offsets: Offsets,
        topic_ids: Mapping[str, str],
        expected: Offsets,
    ) -> None:
        """Set stored partitions to other offsets, with these topics' ids and the next epoch.

        Partitions that have no row get one, as by `initialise`; those not named stay.  What is
        before every committed offset moves `first_offset` down; another topic id sets it anew.
        `expected` are the committed offsets that the caller has read, also of partitions that it
        is about to drop: all are compared first.  One of `offsets` that is not among them must
        have no row.

        Raises:
            StaleCommit: one of `expected` has moved since; the transaction must not go on.
        """
        ...

    def drop(self, supervisor_id: str, partitions: Collection[TopicPartition]) -> None:
        """Delete the rows of partitions that exist no more: their topic was made anew, smaller."""
        ...

    def declare(self, gap: OffsetGap) -> None:
        """Record a gap."""
        ...

    def gaps(self, supervisor_id: str) -> list[OffsetGap]:
        """Return the declared gaps, oldest first."""
        ...

    def gap_sizes(self) -> dict[tuple[str, GapKind], int]:
        """Return (supervisor, kind) -> the offsets of all such gaps together."""
        ...

    def forget(self, supervisor_id: str) -> None:
        """Delete the committed offsets and the gaps of a supervisor."""
        ...


class Generations(Protocol):
    """Offset ranges and their handoff record; every change is guarded by the state it expects."""

    def open(
        self, supervisor_id: str, data_source: str, action: OpenGeneration, now: datetime
    ) -> bool:
        """Insert the generation as READING; False, changing nothing, if its id exists.

        Raises:
            StateMoved: another open generation holds one of its partitions.
        """
        ...

    def get(self, generation_id: str) -> Generation | None:
        """Return one."""
        ...

    def live(self, supervisor_id: str | None = None) -> list[Generation]:
        """Return the live ones of one supervisor, or of all, by (supervisor, ordinal)."""
        ...

    def live_tables(self) -> dict[str, str]:
        """Return supervisor -> its table, of all that have live ones; whatever state they are in.

        A state that only a newer release knows hides no supervisor, and no table of another one.
        """
        ...

    def newest(self, supervisor_id: str) -> Generation | None:
        """Return the one with the highest ordinal, whatever its state."""
        ...

    def recent(self, supervisor_id: str, limit: int) -> list[Generation]:
        """Return the newest ended ones, newest first."""
        ...

    def page(
        self, supervisor_id: str, limit: int, *, before: int | None = None
    ) -> list[Generation]:
        """Return live and ended ones with lower ordinals, or all, newest first."""
        ...

    def finished(self, generation_id: str, now: datetime) -> None:
        """Note when a replica first asked to publish a live one; again, it keeps the first time."""
        ...

    def ask_handoff(self, generation_id: str, why: str) -> bool:
        """Note that the handoff of one in READING is wanted now.  False: it is not READING."""
        ...

    def begin_handoff(
        self, generation_id: str, expected_sequence: int, *, must_end: bool, why: str, now: datetime
    ) -> bool:
        """READING or PAUSING -> PAUSING, sequence + 1, `paused_at` = now.  False: it moved on."""
        ...

    def resume(
        self, generation_id: str, expected_sequence: int, *, restart_timer: bool, now: datetime
    ) -> bool:
        """PAUSING -> READING, sequence + 1, handoff fields cleared.  False: it moved on.

        With a restarted timer a wish for the handoff counts as fulfilled; else it stays.
        """
        ...

    def fix_end(self, action: FixEnd, now: datetime) -> bool:
        """PAUSING -> PUBLISHING with end, sequence + 1; its partitions are free.  False: moved."""
        ...

    def close(
        self, generation_id: str, state: GenerationState, now: datetime, why: str = ""
    ) -> bool:
        """Live -> EMPTY, DISCARDED or PUBLISHED; its partitions are free.  False: it was ended.

        `why` is told, and not kept.
        """
        ...

    def predecessors(self, generation: Generation) -> list[Generation]:
        """Return live generations with a lower ordinal that share a partition with it."""
        ...

    def forget(self, supervisor_id: str, up_to: int, limit: int) -> int:
        """Delete rows of ended, unpublished generations up to an ordinal; return how many.

        Tasks go once their folders are settled, a generation after its tasks.  The newest one
        stays: ordinals are counted on from it.  At most `limit` rows go; 0: there are no more now.
        """
        ...

    def unsettled(self, supervisor_id: str, up_to: int) -> bool:
        """Tell whether folders of such generations' tasks are still to be found empty for good.

        Those of STALE tasks are kept for people: nobody waits for them.
        """
        ...
