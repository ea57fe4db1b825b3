"""The partitions of a supervisor side by side: their log, their offsets, their tasks, their risk.

    earliest ├── committed ──── position ─┼─ stable ─┤ latest
       └ headroom ┘               └── lag ──┘  └ behind an open transaction

Everything is as of the newest look at Kafka.  A value that is not known is None, and its reason is
beside it: a partition is never shown as empty or as read because nobody has looked at it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import assert_never

from supervisor.core.history.headroom import EarliestHistory, Headroom, headroom
from supervisor.core.history.lag import LogEnds, lag_ages
from supervisor.core.model.rows import Generation, Task
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.placement import layout
from supervisor.core.planning.progress import (
    best_position,
    lag_by_partition,
    readable,
    report_of,
)
from supervisor.core.planning.rules.continuity import Unreadable, other_topic, unreadable
from tasks.contract.messages import TaskReport
from tasks.contract.offsets import TopicPartition

NO_LOOK = "this leader has not looked at Kafka yet"
ENDED = "the supervisor is terminated: nobody looks at Kafka for it any more"
NO_PARTITION = "the topic has no such partition now"
NOT_STORED = "no offset of it is stored yet"
OTHER_TOPIC = "the topic was deleted and created again: its offsets are those of another log"
NO_RANGE = "no live range holds it"
AGE_TOO_OLD = "the record is older than the first look of this leader"


class PartitionTrouble(StrEnum):
    """What is wrong with one partition; the words are those of `detailedState`."""

    OFFSETS_UNREADABLE = "OFFSETS_UNREADABLE"
    LOST_CONTINUITY = "LOST_CONTINUITY"
    TOPIC_CHANGED = "TOPIC_CHANGED"
    TOPIC_GONE = "TOPIC_GONE"


@dataclass(frozen=True)
class PartitionTask:
    """One task that holds the partition."""

    id: str
    generation_id: str
    replica: int
    worker_id: str
    position: int | None
    """The next offset that it reads; None: it has not reported."""
    lag: int | None


@dataclass(frozen=True)
class PartitionState:
    """One partition of a supervisor."""

    partition: TopicPartition
    group: int | None
    generation_id: str | None
    """The range that reads it, else the newest one that is still to be published."""
    topic_id: str | None
    """Of the topic that the stored offsets belong to; without any, of the present topic."""
    earliest: int | None
    first_offset: int | None
    """Where this supervisor began to read it."""
    committed: int | None
    stable: int | None
    latest: int | None
    lag_records: int | None
    lag_age: timedelta | None
    headroom_records: int | None
    headroom_left: timedelta | None
    tasks: tuple[PartitionTask, ...]
    trouble: tuple[PartitionTrouble, str] | None
    """What is wrong, as a word and as a sentence; None: nothing is."""
    unknown: Mapping[str, str]
    """Name of each member above that is None, but `trouble` -> why."""
    at_risk: bool = False
    """By the rule of what needs somebody; False as well where the headroom is not known."""


class OnlyPartitions(StrEnum):
    """The partitions that a list can be restricted to."""

    BEHIND = "behind"
    """Those with unread records, or of which nobody knows that they have none."""
    AT_RISK = "at-risk"
    """Those of which Kafka may delete unpublished records before they are published."""

    def fits(self, state: PartitionState) -> bool:
        """Return whether a partition is one of these."""
        match self:
            case OnlyPartitions.BEHIND:
                return state.lag_records is None or state.lag_records > 0
            case OnlyPartitions.AT_RISK:
                return state.at_risk
            case _:
                assert_never(self)


class SortedBy(StrEnum):
    """The columns by which partitions are sorted."""

    PARTITION = "partition"
    LAG_RECORDS = "lagRecords"
    LAG_MILLIS = "lagMillis"
    HEADROOM_RECORDS = "headroomRecords"
    HEADROOM_MILLIS = "headroomMillis"


def sorted_partitions(
    states: Iterable[PartitionState], by: SortedBy, *, descending: bool
) -> list[PartitionState]:
    """Return the partitions in order; those whose value is not known are last either way."""
    ordered = sorted(states, key=lambda state: state.partition)
    if by is SortedBy.PARTITION:
        return ordered[::-1] if descending else ordered
    known = [(value, state) for state in ordered if (value := _value(state, by)) is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    shown = [state for _, state in known]
    return shown + [state for state in ordered if _value(state, by) is None]


def _value(state: PartitionState, by: SortedBy) -> float | None:
    ages = {SortedBy.LAG_MILLIS: state.lag_age, SortedBy.HEADROOM_MILLIS: state.headroom_left}
    if by in ages:
        age = ages[by]
        return None if age is None else age.total_seconds()
    return state.lag_records if by is SortedBy.LAG_RECORDS else state.headroom_records


def partition_states(
    seen: Observed,
    looks: Sequence[LogEnds],
    moves: EarliestHistory,
    at_risk: Collection[TopicPartition] = (),
) -> list[PartitionState]:
    """Return the partitions of a supervisor, by topic and number.

    `looks`: the ends of the log, of which that of `seen` is the last.  `moves`: of its beginning.
    `at_risk`: what the passes of this leader have shown.
    """
    table = _Table(seen, looks, moves)
    rows = (table.row(partition) for partition in _partitions(seen))
    return [replace(row, at_risk=row.partition in at_risk) for row in rows]


def least_headroom(seen: Observed, moves: EarliestHistory) -> timedelta | None:
    """Return the least time that any partition has left; None: it is known of none."""
    stuck = {each.partition: each for each in unreadable(seen)}
    rooms = (_headroom(seen, moves, stuck, partition) for partition in _partitions(seen))
    left = [room.left for room in rooms if room is not None and room.left is not None]
    return min(left, default=None)


def _headroom(
    seen: Observed,
    moves: EarliestHistory,
    stuck: Mapping[TopicPartition, Unreadable],
    partition: TopicPartition,
) -> Headroom | None:
    row, known, stream = seen.committed.get(partition), moves.moves.get(partition), seen.stream
    if row is None or known is None or stream.read_at is None:
        return None
    if partition not in stream.latest or other_topic(seen, partition):
        return None
    if partition in stuck and not stuck[partition].lost:
        return None  # the log was cut: its offsets come again, for other records
    return headroom(known, row.next_offset, stream.latest[partition], stream.read_at)


def _partitions(seen: Observed) -> list[TopicPartition]:
    spec = seen.current.spec
    every = seen.committed.keys() | {p for g in seen.generations for p in g.start}
    if spec is None:
        return sorted(every)
    ends = spec.io_config.ends
    every |= seen.stream.earliest.keys()
    return sorted(p for p in every if spec.io_config.reads(p.topic) and (not ends or p in ends))


class _Table:
    """What is the same for all partitions is worked out once."""

    def __init__(self, seen: Observed, looks: Sequence[LogEnds], moves: EarliestHistory) -> None:
        self._seen, self._moves = seen, moves
        self._readable = readable(seen)
        self._lag = lag_by_partition(seen)
        # As of the look, not of now: the same look gives the same answer.
        at = seen.stream.read_at or seen.now
        self._ages = lag_ages(looks, best_position(seen), at, self._lag)
        self._groups = {p: g for g, members in _layout(seen).items() for p in members}
        self._unreadable = {each.partition: each for each in unreadable(seen)}
        self._holders: dict[TopicPartition, list[Generation]] = {}
        for generation in seen.generations:
            for partition in generation.start:
                self._holders.setdefault(partition, []).append(generation)
        self._tasks: dict[str, list[tuple[Task, TaskReport | None]]] = {}
        for task in sorted(seen.tasks, key=lambda each: (each.replica, each.attempt)):
            pair = (task, report_of(seen, task))
            self._tasks.setdefault(task.generation_id, []).append(pair)

    def row(self, partition: TopicPartition) -> PartitionState:
        """Return one partition."""
        stream, row = self._seen.stream, self._seen.committed.get(partition)
        holders = self._holders.get(partition, [])
        holder = next((g for g in holders if g.open), holders[-1] if holders else None)
        room = _headroom(self._seen, self._moves, self._unreadable, partition)
        mine = not other_topic(self._seen, partition)
        state = PartitionState(
            partition=partition,
            group=self._groups.get(partition) if holder is None else holder.group,
            generation_id=None if holder is None else holder.id,
            topic_id=stream.topic_ids.get(partition.topic) if row is None else row.topic_id,
            earliest=stream.earliest.get(partition),
            first_offset=None if row is None else row.first_offset,
            committed=None if row is None else row.next_offset,
            stable=stream.stable.get(partition),
            latest=stream.latest.get(partition),
            lag_records=self._lag.get(partition) if mine else None,
            lag_age=self._ages.get(partition) if mine else None,
            headroom_records=None if room is None else room.records,
            headroom_left=None if room is None else room.left,
            tasks=tuple(self._tasks_of(partition, holders)),
            trouble=self._trouble(partition),
            unknown={},
        )
        reasons = self._reasons(state, "" if room is None else room.why)
        unknown = {name: why for name, why in reasons.items() if getattr(state, name) is None}
        return replace(state, unknown=unknown)

    def _reasons(self, state: PartitionState, no_time: str) -> dict[str, str]:
        """Return member -> why it would not be known."""
        no_log, no_topic = "", NO_PARTITION
        if self._seen.stream.read_at is None:
            no_topic = ENDED if self._seen.current.spec is None else NO_LOOK
        if state.earliest is None:
            no_log = no_topic
        stored = NOT_STORED if state.committed is None else OTHER_TOPIC
        compared = no_log or stored
        cut = "" if state.trouble is None else state.trouble[1]
        behind = state.lag_records is not None
        return {
            "group": NO_RANGE,
            "generation_id": NO_RANGE,
            "topic_id": no_topic,
            "earliest": no_log,
            "first_offset": NOT_STORED,
            "committed": NOT_STORED,
            "stable": no_log,
            "latest": no_log,
            "lag_records": compared,
            "lag_age": AGE_TOO_OLD if behind else compared,
            "headroom_records": cut or compared,
            "headroom_left": no_time or cut or compared,
        }

    def _tasks_of(
        self, partition: TopicPartition, holders: Iterable[Generation]
    ) -> Iterator[PartitionTask]:
        stable = self._readable.get(partition)
        for generation in holders:
            until = stable
            if stable is not None and generation.end is not None:
                until = min(stable, generation.end[partition])
            for task, report in self._tasks.get(generation.id, []):
                at = None if report is None else report.position.get(partition)
                yield PartitionTask(
                    id=task.id,
                    generation_id=generation.id,
                    replica=task.replica,
                    worker_id=task.worker_id,
                    position=at,
                    lag=None if at is None or until is None else max(0, until - at),
                )

    def _trouble(self, partition: TopicPartition) -> tuple[PartitionTrouble, str] | None:
        stream = self._seen.stream
        if other_topic(self._seen, partition):
            return PartitionTrouble.TOPIC_CHANGED, OTHER_TOPIC
        if (stuck := self._unreadable.get(partition)) is not None:
            lost = PartitionTrouble.OFFSETS_UNREADABLE, PartitionTrouble.LOST_CONTINUITY
            return lost[0 if stuck.lost else 1], str(stuck)
        if stream.known and partition.topic not in stream.topic_ids:
            return PartitionTrouble.TOPIC_GONE, f"topic {partition.topic} does not exist any more"
        return None


def _layout(seen: Observed) -> dict[int, tuple[TopicPartition, ...]]:
    """Return group -> partitions, as the newest spec divides those with stored offsets."""
    spec = seen.current.spec
    known = [p for p in _partitions(seen) if p in seen.committed]
    if spec is None or not known:
        return {}
    several = spec.io_config.topic is None
    return layout(known, spec.io_config.task_count, several_topics=several)
