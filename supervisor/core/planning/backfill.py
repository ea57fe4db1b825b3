"""Catching up beside: one supervisor goes on at the end of its topic, a bounded one reads the rest.

    committed ──────────────── latest ───────►
    │  read once, by a bounded  │  read by the
    │  supervisor of its own    │  supervisor itself, from now on
    └ skipped in its ledger, with a reason that names who reads it

Source: Druid 39's resetToLatestAndBackfill.  Druid leaves the tasks that read alone, and admits
duplicates; here both are one transaction, and each record belongs to one of the two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from supervisor.core.model.rows import CommittedOffset, GapKind
from supervisor.core.planning.observed import StreamState
from supervisor.core.planning.offset_moves import NewOffsets, OffsetMove
from supervisor.core.spec.sections.bounded import PARTITIONS_MAX, BoundedStreamConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.counts import grouped
from supervisor.core.values.errors import NoBackfill
from tasks.contract.offsets import TopicPartition

ID_LETTERS = 8
_MARK = "_backfill_"
_ID_MAX = 128


@dataclass(frozen=True)
class OffsetRange:
    """What a backfill reads of one partition: `[first, end)`."""

    first: int
    end: int


def check_backfill(spec: SupervisorSpec) -> None:
    """Refuse a supervisor whose waiting records no bounded one can read in its place.

    `useEarliestOffset` stands in nobody's way: it says where to begin without stored offsets.

    Raises:
        NoBackfill: it is bounded, suspended, or reads several topics.
    """
    source = spec.io_config
    if source.bounded_stream_config is not None:
        reason = "reads fixed ranges already: raise their end, or post another bounded supervisor"
    elif spec.suspended:
        reason = "is suspended, and a backfill would read on in its place: resume it first"
    elif source.topic is None:
        reason = (
            "reads topicPattern, and fixed ranges are of one topic: move its offsets with "
            "resetOffsets, and post a supervisor with boundedStreamConfig for each topic"
        )
    else:
        return
    raise NoBackfill(spec.id, reason)


def at_latest(
    supervisor_id: str, rows: Mapping[TopicPartition, CommittedOffset], seen: StreamState
) -> NewOffsets:
    """Return the last stable offsets of the partitions that are behind them.

    What is published further than Kafka was seen to reach stays.  So does a partition without a
    row: it is new, and will be read from its beginning.

    Raises:
        NoBackfill: a topic was made anew, so that what is committed is none of its offsets.
    """
    for partition, row in sorted(rows.items()):
        if row.topic_id != seen.topic_ids.get(partition.topic, row.topic_id):
            reason = (
                f"topic {partition.topic} was deleted and created again: `reset` takes the new "
                "one up, and there is nothing left of the old one to be read"
            )
            raise NoBackfill(supervisor_id, reason)
    behind = {
        p: seen.stable[p] for p, row in rows.items() if seen.stable.get(p, 0) > row.next_offset
    }
    return NewOffsets(behind, seen.topic_ids, seen.earliest)


def skipped_ranges(
    supervisor_id: str, moved: Iterable[OffsetMove]
) -> dict[TopicPartition, OffsetRange]:
    """Return what moving the offsets leaves unread, as far as Kafka still holds it.

    Raises:
        NoBackfill: that is nothing.
    """
    ranges = {
        move.partition: OffsetRange(piece.first, piece.end)
        for move in moved
        for piece in move.breaks
        if piece.kind is GapKind.SKIPPED
    }
    if not ranges:
        reason = "there is nothing to backfill: no partition is behind the end of its topic"
        raise NoBackfill(supervisor_id, reason)
    if len(ranges) > PARTITIONS_MAX:
        behind = f"{grouped(len(ranges))} partitions are behind"
        reason = f"{behind}; fixed ranges name {grouped(PARTITIONS_MAX)} at most"
        raise NoBackfill(supervisor_id, reason)
    return ranges


def backfill_id(supervisor_id: str, letters: str) -> str:
    """Return the id of the supervisor that reads the rest; `letters` are drawn by the caller.

    Source: Druid's `<id>_backfill_<8 letters>`; a long id is cut, so that this is one as well.
    """
    return f"{supervisor_id[: _ID_MAX - len(_MARK) - len(letters)]}{_MARK}{letters}"


def task_count_of(
    spec: SupervisorSpec, ranges: Mapping[TopicPartition, OffsetRange], requested: int | None
) -> int:
    """Return how many groups read the ranges: as asked, else the spec's; one partition each."""
    return min(requested or spec.io_config.task_count, len(ranges))


def backfill_spec(
    spec: SupervisorSpec,
    own_id: str,
    ranges: Mapping[TopicPartition, OffsetRange],
    task_count: int,
) -> SupervisorSpec:
    """Return the spec of the supervisor that reads these ranges into the same table, once.

    It asks for no exports: the table has those of `spec`, and would keep them for this one's sake
    after they were taken out of it there.
    """
    bounds = BoundedStreamConfig(
        start_sequence_numbers={p.partition: each.first for p, each in ranges.items()},
        end_sequence_numbers={p.partition: each.end for p, each in ranges.items()},
    )
    io = {"bounded_stream_config": bounds, "task_count": task_count}
    return spec.model_copy(
        update={
            "id": own_id,
            "suspended": False,
            "io_config": spec.io_config.model_copy(update=io),
            "data_schema": spec.data_schema.model_copy(update={"exports": ()}),
        }
    )
