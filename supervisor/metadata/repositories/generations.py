"""The repository of generations; each change is a compare-and-swap on the expected state.

The partition rows of a generation have `open` set until its end is fixed.  A unique index over open
rows lets only one open generation hold a partition.  Fixing the end frees the partition for the
successor in the same transaction (P3, P13).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Row,
    RowMapping,
    bindparam,
    delete,
    exists,
    func,
    select,
    tuple_,
    update,
)

from supervisor.core.history.lifecycle_events import (
    CLOSED_AS,
    EventKind,
    LifecycleEvent,
    closed_detail,
    opened,
    shown_offsets,
)
from supervisor.core.history.windows import EVERY_RANGE, RangeWindow
from supervisor.core.model.rows import LIVE_STATES, OPEN_STATES, Generation, GenerationState
from supervisor.core.planning.actions import FixEnd, OpenGeneration
from supervisor.core.values.errors import StateMoved
from supervisor.metadata.schema.generation_rows import (
    LIVE_INDEX,
    RangeQuery,
    ids_within,
    new_partitions,
    new_row,
    read_generation,
)
from supervisor.metadata.schema.rows import chunks, insert_unless_taken
from supervisor.metadata.schema.tables import (
    generation_partitions,
    generations,
    publications,
    tasks,
)
from supervisor.ports.lifecycle import RecordEvent
from supervisor.ports.touched import Touched
from tasks.contract.messages import PublishOutcome
from tasks.contract.offsets import Offsets, TopicPartition, count

_AT = generations.c
_PART = generation_partitions.c
_LIVE = _AT.ended_at.is_(None)
"""The condition of a live state, written as in the partial index."""

_OF_SUPERVISOR = _AT.supervisor_id == bindparam("of_supervisor")
_NEWEST = select(_AT.id).where(_OF_SUPERVISOR).order_by(_AT.ordinal.desc(), _AT.id.desc()).limit(1)
# Built once: these are asked in each pass, or at each step of a handoff.
_ONE = RangeQuery(_AT.id == bindparam("wanted"))
_SOME = RangeQuery(_AT.id.in_(bindparam("wanted", expanding=True)))
_LIVE_ONES = RangeQuery(_LIVE, live=True)
_LIVE_TABLES = (
    select(_AT.supervisor_id, _AT.data_source)
    .where(_LIVE)
    .distinct()
    .with_hint(generations, LIVE_INDEX, "sqlite")
)
_LIVE_OF = RangeQuery(_LIVE, _OF_SUPERVISOR, live=True)
_NEWEST_OF = RangeQuery(_AT.id == _NEWEST.scalar_subquery())
# Both under names of their own: `RangeQuery` joins the table itself, for whole ranges.
_MINE, _THEIRS = (generation_partitions.alias(name).c for name in ("mine", "theirs"))
_SHARES = exists().where(
    _THEIRS.generation_id == _AT.id,
    _MINE.generation_id == bindparam("wanted"),
    _MINE.topic == _THEIRS.topic,
    _MINE.partition == _THEIRS.partition,
)
_BEFORE = RangeQuery(_LIVE, _OF_SUPERVISOR, _AT.ordinal < bindparam("mine"), _SHARES, live=True)
_PUBLISHED = select(publications.c.rows, publications.c.rejected, publications.c.task_id).where(
    publications.c.generation_id == bindparam("wanted")
)
_Changed = Row[tuple[object, ...]]
_EXISTS = select(_AT.id).where(_AT.id == bindparam("wanted"))

_CLOSES_FROM: Mapping[GenerationState, frozenset[GenerationState]] = {
    GenerationState.EMPTY: OPEN_STATES,
    GenerationState.DISCARDED: LIVE_STATES,
    GenerationState.PUBLISHED: frozenset({GenerationState.PUBLISHING}),
}


class SqlGenerations:
    """See `ports.generations.Generations`."""

    def __init__(self, connection: Connection, record: RecordEvent, touched: Touched) -> None:
        self._db = connection
        self._record = record
        self._touched = touched

    def open(
        self, supervisor_id: str, data_source: str, action: OpenGeneration, now: datetime
    ) -> bool:
        """Insert the generation as READING; False, changing nothing, if its id exists.

        Raises:
            StateMoved: another open generation holds one of its partitions.
        """
        if self._exists(action.generation_id):
            return False
        if insert_unless_taken(
            self._db,
            (generations, [new_row(supervisor_id, data_source, action, now)]),
            (generation_partitions, new_partitions(supervisor_id, action)),
        ):
            self._touched.supervisors.add(supervisor_id)
            self._record(opened(action, supervisor_id, data_source, now))
            return True
        if self._exists(action.generation_id):
            return False
        raise StateMoved(
            f"{action.generation_id} cannot open: an open generation of {supervisor_id} "
            f"holds one of {', '.join(map(str, sorted(action.start)))}"
        )

    def get(self, generation_id: str) -> Generation | None:
        """Return one generation."""
        return next(iter(self._select(_ONE, wanted=generation_id)), None)

    def rows_of(self, generation_ids: Sequence[str]) -> dict[str, Generation]:
        """Return id -> generation, for those that exist; see the port."""
        rows = [
            each
            for some in chunks(generation_ids)
            for each in self._select(_SOME, to_show=True, wanted=some)
        ]
        return {each.id: each for each in rows}

    def live(self, supervisor_id: str | None = None) -> list[Generation]:
        """Return live generations of one supervisor, or of all, by (supervisor, ordinal)."""
        if supervisor_id is None:
            return self._select(_LIVE_ONES)
        return self._select(_LIVE_OF, of_supervisor=supervisor_id)

    def live_tables(self) -> dict[str, str]:
        """Return supervisor -> table, for supervisors with live generations; see the port."""
        return {row.supervisor_id: row.data_source for row in self._db.execute(_LIVE_TABLES)}

    def newest(self, supervisor_id: str) -> Generation | None:
        """Return the generation with the highest ordinal, whatever its state."""
        return next(iter(self._select(_NEWEST_OF, of_supervisor=supervisor_id)), None)

    def recent(self, supervisor_id: str, limit: int) -> list[Generation]:
        """Return the newest ended generations, newest first."""
        newest = (
            select(_AT.id)
            .where(_AT.supervisor_id == supervisor_id, _AT.ended_at.is_not(None))
            .order_by(_AT.ordinal.desc(), _AT.id.desc())
            .limit(limit)
        )
        return self._select(RangeQuery(_AT.id.in_(newest)))[::-1]

    def page(
        self,
        supervisor_id: str,
        limit: int,
        *,
        before: int | None = None,
        window: RangeWindow = EVERY_RANGE,
        down_to: int = 0,
    ) -> list[Generation]:
        """Return the live and ended generations of a window, newest first; see the port."""
        newest = ids_within(supervisor_id, window, (before, down_to), limit)
        return self._select(RangeQuery(_AT.id.in_(newest)), to_show=True)[::-1]

    def finished(self, generation_id: str, now: datetime) -> None:
        """Record when a replica first asked to publish a live generation; again: no change."""
        first = _AT.first_finished_at.is_(None)
        self._change(_AT.id == generation_id, _LIVE, first, first_finished_at=now)

    def ask_handoff(self, generation_id: str, why: str) -> bool:
        """Record that the handoff of a READING generation is wanted now; False: not READING."""
        at = {GenerationState.READING}
        return self._change(_is_at(generation_id, at), asked=why) is not None

    def begin_handoff(
        self, generation_id: str, expected_sequence: int, *, must_end: bool, why: str, now: datetime
    ) -> bool:
        """READING or PAUSING -> PAUSING, sequence + 1, `paused_at` = now; False: state moved."""
        row = self._change(
            _is_at(generation_id, OPEN_STATES),
            _AT.sequence == expected_sequence,
            state=GenerationState.PAUSING,
            sequence=expected_sequence + 1,
            handoff_why=why,
            must_end=must_end,
            paused_at=now,
        )
        return self._record_change(row, EventKind.GENERATION_PAUSING, now, {"why": why})

    def resume(
        self, generation_id: str, expected_sequence: int, *, restart_timer: bool, now: datetime
    ) -> bool:
        """PAUSING -> READING, sequence + 1, handoff fields cleared; False: state moved."""
        timer = {"timer_started_at": now, "asked": None} if restart_timer else {}
        row = self._change(
            _is_at(generation_id, {GenerationState.PAUSING}),
            _AT.sequence == expected_sequence,
            state=GenerationState.READING,
            sequence=expected_sequence + 1,
            handoff_why="",
            must_end=False,
            paused_at=None,
            **timer,
        )
        detail: dict[str, JsonValue] = {"timerRestarted": restart_timer}
        return self._record_change(row, EventKind.GENERATION_RESUMED, now, detail)

    def fix_end(self, action: FixEnd, now: datetime) -> bool:
        """PAUSING -> PUBLISHING with the end, sequence + 1, partitions freed; False: state moved.

        Raises:
            OffsetsError: the end does not fit the start, which is a bug.
        """
        row = self._change(
            _is_at(action.generation_id, {GenerationState.PAUSING}),
            _AT.sequence == action.expected_sequence,
            state=GenerationState.PUBLISHING,
            sequence=action.expected_sequence + 1,
            end_fixed_at=now,
        )
        if row is None:
            return False
        start = self._set_ends(action)
        detail = {"start": shown_offsets(start), "end": shown_offsets(action.end)}
        return self._record_change(row, EventKind.GENERATION_END_FIXED, now, {**detail})

    def close(
        self, generation_id: str, state: GenerationState, now: datetime, why: str = ""
    ) -> bool:
        """Live -> EMPTY, DISCARDED or PUBLISHED, partitions freed; False: it had ended already.

        EMPTY follows an open state, and PUBLISHED follows PUBLISHING.  From other states the result
        is False too.
        """
        at = _is_at(generation_id, _CLOSES_FROM[state])
        row = self._change(at, state=state, ended_at=now)
        if row is None:
            return False
        parts = self._db.execute(
            update(generation_partitions)
            .where(_PART.generation_id == generation_id)
            .values(open=False)
            .returning(_PART.topic, _PART.partition, _PART.start_offset, _PART.end_offset)
        ).all()
        start = {TopicPartition(p.topic, p.partition): p.start_offset for p in parts}
        end = {TopicPartition(p.topic, p.partition): p.end_offset for p in parts}
        fixed = end if all(at is not None for at in end.values()) else None
        detail = closed_detail(start, fixed, self._published(generation_id, state), why)
        return self._record_change(row, CLOSED_AS[state], now, detail)

    def _published(self, generation_id: str, state: GenerationState) -> tuple[int, int, str] | None:
        if state is not GenerationState.PUBLISHED:
            return None
        row = self._db.execute(_PUBLISHED, {"wanted": generation_id}).one_or_none()
        return None if row is None else (row.rows, row.rejected, row.task_id)

    def predecessors(self, generation: Generation) -> list[Generation]:
        """Return live generations with a lower ordinal that share a partition with this one."""
        return self._select(
            _BEFORE,
            of_supervisor=generation.supervisor_id,
            wanted=generation.id,
            mine=generation.ordinal,
        )

    def forget(self, supervisor_id: str, up_to: int, limit: int) -> int:
        """Delete rows of ended, unpublished generations up to an ordinal; see the port."""
        self._touched.supervisors.add(supervisor_id)
        meant = _forgotten(supervisor_id, up_to)
        settled = (
            select(tasks.c.id)
            .join(generations, _AT.id == tasks.c.generation_id)
            .where(*meant, tasks.c.folder_deleted_at.is_not(None))
            .limit(limit)
        )
        if gone := self._deleted(delete(tasks).where(tasks.c.id.in_(settled))):
            return gone
        counted_on = (
            select(func.max(_AT.ordinal)).where(_AT.supervisor_id == supervisor_id)
        ).scalar_subquery()
        empty = (*meant, _AT.ordinal < counted_on, ~exists().where(tasks.c.generation_id == _AT.id))
        part = tuple_(_PART.generation_id, _PART.topic, _PART.partition)
        parts = select(*part.clauses).join(generations, _AT.id == _PART.generation_id)
        some = parts.where(*empty).limit(limit)
        if gone := self._deleted(delete(generation_partitions).where(part.in_(some))):
            return gone
        ids = select(_AT.id).where(*empty).limit(limit)
        return self._deleted(delete(generations).where(_AT.id.in_(ids)))

    def unsettled(self, supervisor_id: str, up_to: int) -> bool:
        """Return whether a task of such a generation still has a folder that may not be empty."""
        waiting = (
            select(tasks.c.id)
            .join(generations, _AT.id == tasks.c.generation_id)
            .where(*_forgotten(supervisor_id, up_to), tasks.c.folder_deleted_at.is_(None))
            .where(func.coalesce(tasks.c.outcome, "") != PublishOutcome.STALE)
            .limit(1)
        )
        return self._db.execute(waiting).one_or_none() is not None

    def _deleted(self, statement: Delete) -> int:
        return self._db.execute(statement).rowcount

    def _exists(self, generation_id: str) -> bool:
        return self._db.execute(_EXISTS, {"wanted": generation_id}).one_or_none() is not None

    def _select(
        self, query: RangeQuery, *, to_show: bool = False, **values: object
    ) -> list[Generation]:
        rows = self._db.execute(query.ranges, values).mappings().all()
        if not rows:
            return []
        ranges: dict[str, list[RowMapping]] = {row["id"]: [] for row in rows}
        for part in self._db.execute(query.parts, values).mappings():
            if part["generation_id"] in ranges:  # else it was opened between the two queries
                ranges[part["generation_id"]].append(part)
        return [read_generation(row, ranges[row["id"]], to_show=to_show) for row in rows]

    def _change(self, *conditions: ColumnElement[bool], **values: object) -> _Changed | None:
        row = self._db.execute(
            update(generations)
            .where(*conditions)
            .values(values)
            .returning(_AT.id, _AT.supervisor_id, _AT.group_number, _AT.data_source)
        ).one_or_none()
        if row is not None:
            self._touched.supervisors.add(row.supervisor_id)
        return row

    def _record_change(
        self,
        row: _Changed | None,
        kind: EventKind,
        now: datetime,
        detail: Mapping[str, JsonValue],
    ) -> bool:
        """Record the lifecycle event of a change; return whether a row changed."""
        if row is None:
            return False
        event = LifecycleEvent(
            now,
            kind,
            row.supervisor_id,
            detail,
            group=row.group_number,
            generation_id=row.id,
            data_source=row.data_source,
        )
        self._record(event)
        return True

    def _set_ends(self, action: FixEnd) -> Offsets:
        rows = self._db.execute(
            select(_PART.topic, _PART.partition, _PART.start_offset).where(
                _PART.generation_id == action.generation_id
            )
        )
        start = {TopicPartition(r.topic, r.partition): r.start_offset for r in rows}
        count(start, action.end)
        self._db.execute(
            update(generation_partitions)
            .where(_PART.generation_id == action.generation_id)
            .where(_PART.topic == bindparam("in_topic"), _PART.partition == bindparam("number"))
            .values(end_offset=bindparam("end"), open=False),
            [
                {"in_topic": p.topic, "number": p.partition, "end": action.end[p]}
                for p in sorted(action.end)
            ],
        )
        return start


def _forgotten(supervisor_id: str, up_to: int) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for generations that ended unpublished, up to an ordinal."""
    published = exists().where(publications.c.generation_id == _AT.id)
    mine = _AT.supervisor_id == supervisor_id
    return mine, _AT.ordinal <= up_to, _AT.ended_at.is_not(None), ~published


def _is_at(generation_id: str, states: Iterable[GenerationState]) -> ColumnElement[bool]:
    return (_AT.id == generation_id) & _AT.state.in_(sorted(states))
