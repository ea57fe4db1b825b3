"""The repository of committed offsets and gaps; a compare-and-swap makes each record count once."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    update,
)

from supervisor.core.history.lifecycle_events import gap_event
from supervisor.core.model.rows import CommittedOffset, GapKind, OffsetGap
from supervisor.core.values.errors import StaleCommit
from supervisor.metadata.schema.rows import chunks, insert_unless_taken
from supervisor.metadata.schema.tables import committed_offsets, offset_gaps
from supervisor.ports.generations import NO_EPOCHS, OffsetsBySupervisor
from supervisor.ports.lifecycle import RecordEvent
from supervisor.ports.touched import Touched
from tasks.contract.offsets import Offsets, TopicPartition, count

_AT = committed_offsets.c
_OF_SUPERVISORS = (
    select(
        *(_AT.supervisor_id, _AT.topic, _AT.partition),
        *(_AT.next_offset, _AT.first_offset, _AT.topic_id, _AT.reset_epoch),
    )
    .where(_AT.supervisor_id.in_(bindparam("of_supervisors", expanding=True)))
    .order_by(_AT.supervisor_id, _AT.topic, _AT.partition)
)

_GAP = offset_gaps.c
_SIZES = (
    select(_GAP.supervisor_id, _GAP.kind, func.sum(_GAP.end - _GAP.first).label("size"))
    .where(_GAP.kind.in_([*GapKind]))  # an unknown kind of a newer release fails nothing here
    .group_by(_GAP.supervisor_id, _GAP.kind)
)


class SqlOffsets:
    """See `ports.generations.OffsetsTable`."""

    def __init__(self, connection: Connection, record: RecordEvent, touched: Touched) -> None:
        self._record = record
        self._touched = touched
        self._db = connection

    def of(self, supervisor_id: str) -> dict[TopicPartition, CommittedOffset]:
        """Return the committed offsets of every partition."""
        return self.of_each([supervisor_id])[supervisor_id]

    def of_each(self, supervisor_ids: Sequence[str]) -> OffsetsBySupervisor:
        """Return supervisor -> partition -> committed offset, in few queries."""
        committed: OffsetsBySupervisor = {each: {} for each in supervisor_ids}
        for some in chunks(supervisor_ids):
            for supervisor_id, topic, number, *rest in self._db.execute(
                _OF_SUPERVISORS, {"of_supervisors": some}
            ).all():
                partition = TopicPartition(topic, number)
                row = CommittedOffset(supervisor_id, partition, *rest)
                committed[supervisor_id][partition] = row
        return committed

    def initialise(self, supervisor_id: str, topic_id: str, offsets: Offsets) -> bool:
        """Insert rows for partitions that have no row yet, all or none; see the port."""
        self._touched.supervisors.add(supervisor_id)
        rows = [
            {
                "supervisor_id": supervisor_id,
                "topic": partition.topic,
                "partition": partition.partition,
                "next_offset": offsets[partition],
                "first_offset": offsets[partition],
                "topic_id": topic_id,
                "reset_epoch": 0,
            }
            for partition in sorted(offsets)
        ]
        return insert_unless_taken(self._db, (committed_offsets, rows))

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
            StaleCommit: a partition has another offset, topic id or reset epoch.
        """
        count(start, end)  # refuses ranges that do not fit together
        self._touched.supervisors.add(supervisor_id)
        with self._db.begin_nested():  # all is undone, even if the caller goes on after StaleCommit
            for partition in sorted(start):  # one lock order for all writers: no deadlock
                moved = self._db.execute(
                    update(committed_offsets)
                    .where(*_row_of(supervisor_id, partition))
                    .where(_AT.next_offset == start[partition])  # the compare
                    .where(_AT.topic_id == topic_ids.get(partition.topic))
                    .where(_AT.reset_epoch == epochs.get(partition, 0))
                    .values(next_offset=end[partition])  # the swap
                    .returning(_AT.partition)
                ).one_or_none()
                if moved is None:
                    raise StaleCommit(supervisor_id, str(partition), start[partition])

    def reset(
        self,
        supervisor_id: str,
        offsets: Offsets,
        topic_ids: Mapping[str, str],
        expected: Offsets,
    ) -> None:
        """Set stored partitions to other offsets, with the next epoch; see the port.

        Raises:
            StaleCommit: an offset of `expected` has changed.
        """
        self._touched.supervisors.add(supervisor_id)
        for partition in sorted(expected):  # the order of `advance`: no deadlock
            self._lock(supervisor_id, partition, expected[partition])
        for partition in sorted(offsets):
            to, topic_id = offsets[partition], topic_ids[partition.topic]
            if partition not in expected:
                if not self.initialise(supervisor_id, topic_id, {partition: to}):
                    raise StaleCommit(supervisor_id, str(partition), None)
                continue
            first = case(
                (_AT.topic_id != topic_id, to),
                (_AT.first_offset > to, to),
                else_=_AT.first_offset,
            )
            self._db.execute(  # the row is locked since the comparison
                update(committed_offsets)
                .where(*_row_of(supervisor_id, partition))
                .values(
                    next_offset=to,
                    first_offset=first,
                    topic_id=topic_id,
                    reset_epoch=_AT.reset_epoch + 1,
                )
                .returning(_AT.partition)
            ).one()

    def _lock(self, supervisor_id: str, partition: TopicPartition, expected: int) -> None:
        """Lock a row until the transaction ends, if it has the expected offset."""
        stored_offset = self._db.execute(
            select(_AT.next_offset).where(*_row_of(supervisor_id, partition)).with_for_update()
        ).scalar_one_or_none()
        if stored_offset != expected:
            raise StaleCommit(supervisor_id, str(partition), expected)

    def drop(self, supervisor_id: str, partitions: Collection[TopicPartition]) -> None:
        """Delete the rows of partitions that no longer exist."""
        self._touched.supervisors.add(supervisor_id)
        for partition in sorted(partitions):
            self._db.execute(delete(committed_offsets).where(*_row_of(supervisor_id, partition)))

    def declare(self, gap: OffsetGap) -> None:
        """Record a gap."""
        self._db.execute(
            insert(offset_gaps).values(
                supervisor_id=gap.supervisor_id,
                topic=gap.partition.topic,
                partition=gap.partition.partition,
                first=gap.first,
                end=gap.end,
                kind=gap.kind,
                author=gap.author,
                why=gap.why,
                at=gap.at,
                last_ordinal=gap.last_ordinal,
            )
        )
        self._record(gap_event(gap))

    def gaps(self, supervisor_id: str) -> list[OffsetGap]:
        """Return the declared gaps, oldest first."""
        rows = self._db.execute(
            select(offset_gaps)
            .where(offset_gaps.c.supervisor_id == supervisor_id)
            .order_by(offset_gaps.c.id)
        )
        return [
            OffsetGap(
                row.supervisor_id,
                TopicPartition(row.topic, row.partition),
                first=row.first,
                end=row.end,
                kind=row.kind,
                author=row.author,
                why=row.why,
                at=row.at,
                last_ordinal=row.last_ordinal,
            )
            for row in rows
        ]

    def gap_sizes(self) -> dict[tuple[str, GapKind], int]:
        """Return (supervisor, kind) -> the number of offsets in all such gaps."""
        return {(row.supervisor_id, row.kind): int(row.size) for row in self._db.execute(_SIZES)}

    def forget(self, supervisor_id: str) -> None:
        """Delete the committed offsets and the gaps of a supervisor."""
        self._touched.supervisors.add(supervisor_id)
        self._db.execute(delete(committed_offsets).where(_AT.supervisor_id == supervisor_id))
        self._db.execute(delete(offset_gaps).where(offset_gaps.c.supervisor_id == supervisor_id))


def _row_of(supervisor_id: str, partition: TopicPartition) -> tuple[ColumnElement[bool], ...]:
    number = _AT.partition == partition.partition
    return _AT.supervisor_id == supervisor_id, _AT.topic == partition.topic, number
