"""The repository of lifecycle events, which are numbered at commit under the lock of a counter.

    happenings        trimmed + 1 ... newest, without a hole     the oldest ones are trimmed
    kept_happenings   some numbers up to `trimmed`               of the kinds that are kept longer

The store flushes lifecycle events after the event queues.  So a transaction that holds the counter
waits for no other lock, and no deadlock is possible.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, RowMapping, Select, Table, bindparam, delete, insert, select
from sqlalchemy import update as sql_update

from supervisor.core.history.archive import trimmed_to
from supervisor.core.history.lifecycle_events import LASTING, LifecycleEvent, NumberedEvent
from supervisor.core.history.windows import EventWindow
from supervisor.metadata.schema.history import happening_counter, happenings, kept_happenings
from supervisor.metadata.schema.tables import generations

KEPT = 100_000
"""Lifecycle events that are kept: some 30 MB, days of a hundred supervisors.

A client of the event stream may be away for that long.
"""
TRIM_EVERY = 1_000
"""Old rows are deleted in batches of this size, so that as many new rows share the cost."""

TRIM_AT_ONCE = 5 * TRIM_EVERY
"""The most rows that a transaction trims after the archive was behind."""

_AT = happenings.c
_COUNTER = happening_counter.c
# Built once: these end each transaction that changes something.
_NUMBER = (
    sql_update(happening_counter)
    .values(newest=_COUNTER.newest + bindparam("count"))
    .returning(_COUNTER.newest, _COUNTER.trimmed, _COUNTER.archived)
)
_GROUPS = select(generations.c.id, generations.c.group_number).where(
    generations.c.id.in_(bindparam("wanted", expanding=True))
)
_INSERT = insert(happenings)
_ALL = select(happenings)
_KEEP = insert(kept_happenings).from_select(
    [column.name for column in kept_happenings.columns],
    select(*(_AT[column.name] for column in kept_happenings.columns)).where(
        _AT.number <= bindparam("up_to"), _AT.kind.in_(sorted(LASTING))
    ),
)


class SqlLifecycleEvents:
    """See `ports.lifecycle.LifecycleEvents`.

    Without `writable` no lifecycle event can be recorded.
    """

    def __init__(self, connection: Connection, *, writable: bool = True, kept: int = KEPT) -> None:
        self._db = connection
        self._writable = writable
        self._kept = kept
        self._drafts: list[LifecycleEvent] = []

    def record(self, happening: LifecycleEvent) -> None:
        """Record a lifecycle event with this transaction."""
        assert self._writable, "a transaction that reads does not write"
        self._drafts.append(happening)

    def flush(self) -> Sequence[LifecycleEvent]:
        """Number, insert and return the recorded events; the store calls it just before commit."""
        drafts, self._drafts = self._with_groups(self._drafts), []
        if not drafts:
            return drafts
        newest, trimmed, archived = self._db.execute(_NUMBER, {"count": len(drafts)}).one()
        first = newest - len(drafts) + 1
        self._db.execute(_INSERT, [_row(first + n, one) for n, one in enumerate(drafts)])
        up_to = trimmed_to(newest, trimmed, self._kept, archived, TRIM_AT_ONCE)
        if up_to - trimmed >= min(TRIM_EVERY, self._kept):
            self._trim(up_to)
        return drafts

    def _with_groups(self, drafts: Sequence[LifecycleEvent]) -> Sequence[LifecycleEvent]:
        lack = {d.generation_id for d in drafts if d.group is None and d.generation_id is not None}
        if not lack:
            return drafts
        rows = self._db.execute(_GROUPS, {"wanted": sorted(lack)})
        groups: dict[str | None, int] = {row.id: row.group_number for row in rows}
        return [
            replace(d, group=groups.get(d.generation_id)) if d.group is None else d for d in drafts
        ]

    def after(
        self, number: int, limit: int, *, supervisor_id: str | None = None
    ) -> list[NumberedEvent]:
        """Return lifecycle events with higher numbers, ascending."""
        query = _ALL.where(_AT.number > number).order_by(_AT.number)
        return self._select(query, limit, supervisor_id)

    def before(
        self, number: int | None, limit: int, *, supervisor_id: str | None = None
    ) -> list[NumberedEvent]:
        """Return lifecycle events, newest first; with a `number` only lower numbers."""
        query = _ALL if number is None else _ALL.where(_AT.number < number)
        return self._select(query.order_by(_AT.number.desc()), limit, supervisor_id)

    def within(
        self, window: EventWindow, before: int, down_to: int, limit: int
    ) -> list[NumberedEvent]:
        """Return the events of a window, newest first, whose numbers lie between the two."""
        return self._within(happenings, window, before, down_to, limit)

    def lasting(
        self, window: EventWindow, before: int, down_to: int, limit: int
    ) -> list[NumberedEvent]:
        """Return the trimmed events of a window that are kept longer; as `within`."""
        return self._within(kept_happenings, window, before, down_to, limit)

    def lasting_down_to(self, window: EventWindow, before: int, rows_max: int) -> int:
        """Return the number above which at most so many events lie; see the port."""
        kept = kept_happenings.c
        rows = select(kept.number).where(kept.number < before).order_by(kept.number.desc())
        if window.supervisor_id is not None:
            rows = rows.where(kept.supervisor_id == window.supervisor_id)
        lowest = self._db.execute(rows.offset(rows_max - 1).limit(1)).scalar_one_or_none()
        return 0 if lowest is None else int(lowest) - 1

    def time_at(self, number: int) -> datetime | None:
        """Return when the newest kept event up to a number happened; None: there is none."""
        for at in (_AT, kept_happenings.c):
            newest = select(at.at).where(at.number <= number).order_by(at.number.desc()).limit(1)
            found: datetime | None = self._db.execute(newest).scalar_one_or_none()
            if found is not None:
                return found
        return None

    def trimmed(self) -> int:
        """Return the highest number that was trimmed."""
        return int(self._db.execute(select(_COUNTER.trimmed)).scalar_one())

    def newest(self) -> int:
        """Return the number of the newest lifecycle event."""
        return int(self._db.execute(select(_COUNTER.newest)).scalar_one())

    def _trim(self, up_to: int) -> None:
        self._db.execute(_KEEP, {"up_to": up_to})
        self._db.execute(delete(happenings).where(_AT.number <= up_to))
        self._db.execute(sql_update(happening_counter).values(trimmed=up_to))

    def _within(
        self, table: Table, window: EventWindow, before: int, down_to: int, limit: int
    ) -> list[NumberedEvent]:
        at = table.c
        query = select(table).where(at.number < before, at.number > down_to)
        if window.kinds:
            query = query.where(at.kind.in_(sorted(window.kinds)))
        if window.begin is not None:
            query = query.where(at.at >= window.begin)
        if window.end is not None:
            query = query.where(at.at < window.end)
        if window.supervisor_id is not None:
            query = query.where(at.supervisor_id == window.supervisor_id)
        return self._select(query.order_by(at.number.desc()), limit, None)

    def _select(
        self, query: Select[*tuple[object, ...]], limit: int, supervisor_id: str | None
    ) -> list[NumberedEvent]:
        if supervisor_id is not None:
            query = query.where(_AT.supervisor_id == supervisor_id)
        return [read_event(row) for row in self._db.execute(query.limit(limit)).mappings()]


def _row(number: int, event: LifecycleEvent) -> dict[str, object]:
    return {
        "number": number,
        "at": event.at,
        "kind": event.kind,
        "supervisor_id": event.supervisor_id,
        "group_number": event.group,
        "generation_id": event.generation_id,
        "task_id": event.task_id,
        "detail": dict(event.detail),
    }


def read_event(row: RowMapping) -> NumberedEvent:
    """Return the event of a row."""
    return NumberedEvent(
        row["number"],
        LifecycleEvent(
            row["at"],
            row["kind"],
            row["supervisor_id"],
            row["detail"],
            group=row["group_number"],
            generation_id=row["generation_id"],
            task_id=row["task_id"],
        ),
    )
