"""Committed offsets and gaps in memory."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from supervisor.adapters.memory_rows import Tables
from supervisor.core.errors import StaleCommit
from supervisor.core.happenings import gap_told
from supervisor.core.model import CommittedOffset, GapKind, OffsetGap
from supervisor.ports_happenings import Tell
from supervisor.ports_ranges import NO_EPOCHS
from tasks.offsets import Offsets, TopicPartition, count


class MemoryOffsets:
    """See `ports.OffsetsTable`."""

    def __init__(self, tables: Tables, tell: Tell) -> None:
        self._tell = tell
        self._rows = tables.offsets
        self._gaps = tables.gaps

    def of(self, supervisor_id: str) -> dict[TopicPartition, CommittedOffset]:
        """Return the committed offsets of every partition."""
        return dict(self._rows.get_row(supervisor_id) or {})

    def initialise(self, supervisor_id: str, topic_id: str, offsets: Offsets) -> bool:
        """Insert rows for partitions that have none yet, all or none; see the port."""
        rows = self.of(supervisor_id)
        if rows.keys() & offsets.keys():
            return False
        for partition, offset in offsets.items():
            rows[partition] = CommittedOffset(supervisor_id, partition, offset, offset, topic_id)
        self._rows.put(supervisor_id, dict(sorted(rows.items())))
        return True

    def advance(
        self,
        supervisor_id: str,
        start: Offsets,
        end: Offsets,
        topic_ids: Mapping[str, str],
        epochs: Mapping[TopicPartition, int] = NO_EPOCHS,
    ) -> None:
        """Compare and swap every partition from `start` to `end`, all or none.

        Raises:
            StaleCommit: a partition stands elsewhere, or belongs to another topic id or epoch.
        """
        count(start, end)  # refuses ranges that do not fit together
        rows = self.of(supervisor_id)
        for partition in sorted(start):
            row, topic_id = rows.get(partition), topic_ids.get(partition.topic)
            expected = (start[partition], topic_id, epochs.get(partition, 0))
            if row is None or (row.next_offset, row.topic_id, row.reset_epoch) != expected:
                raise StaleCommit(supervisor_id, str(partition), start[partition])
            rows[partition] = replace(row, next_offset=end[partition])
        self._rows.put(supervisor_id, rows)

    def reset(
        self,
        supervisor_id: str,
        offsets: Offsets,
        topic_ids: Mapping[str, str],
        expected: Offsets,
    ) -> None:
        """Set stored partitions to other offsets, with the next epoch; see the port.

        Raises:
            StaleCommit: one of `expected` has moved since.
        """
        rows = self.of(supervisor_id)
        for partition, offset in sorted(expected.items()):
            if partition not in rows or rows[partition].next_offset != offset:
                raise StaleCommit(supervisor_id, str(partition), offset)
        for partition in sorted(offsets.keys() - expected.keys()):
            if partition in rows:
                raise StaleCommit(supervisor_id, str(partition), None)
        for partition, offset in offsets.items():
            rows[partition] = _moved(
                rows.get(partition), supervisor_id, partition, offset, topic_ids[partition.topic]
            )
        self._rows.put(supervisor_id, dict(sorted(rows.items())))

    def drop(self, supervisor_id: str, partitions: Collection[TopicPartition]) -> None:
        """Delete the rows of partitions that exist no more."""
        rows = self.of(supervisor_id)
        self._rows.put(supervisor_id, {p: row for p, row in rows.items() if p not in partitions})

    def declare(self, gap: OffsetGap) -> None:
        """Record a gap."""
        before = self._gaps.get_row(gap.supervisor_id) or ()
        self._gaps.put(gap.supervisor_id, (*before, gap))
        self._tell(gap_told(gap))

    def gaps(self, supervisor_id: str) -> list[OffsetGap]:
        """Return the declared gaps, oldest first."""
        return list(self._gaps.get_row(supervisor_id) or ())

    def gap_sizes(self) -> dict[tuple[str, GapKind], int]:
        """Return (supervisor, kind) -> the offsets of all such gaps together."""
        sizes = Counter[tuple[str, GapKind]]()
        for supervisor_id, gaps in self._gaps.items():
            for gap in gaps:
                sizes[supervisor_id, gap.kind] += gap.end - gap.first
        return dict(sizes)

    def forget(self, supervisor_id: str) -> None:
        """Delete the committed offsets and the gaps of a supervisor."""
        self._rows.drop(supervisor_id)
        self._gaps.drop(supervisor_id)


def _moved(
    row: CommittedOffset | None,
    supervisor_id: str,
    partition: TopicPartition,
    offset: int,
    topic_id: str,
) -> CommittedOffset:
    if row is None:
        return CommittedOffset(supervisor_id, partition, offset, offset, topic_id)
    first = min(row.first_offset, offset) if topic_id == row.topic_id else offset
    return replace(
        row,
        next_offset=offset,
        first_offset=first,
        topic_id=topic_id,
        reset_epoch=row.reset_epoch + 1,
    )
