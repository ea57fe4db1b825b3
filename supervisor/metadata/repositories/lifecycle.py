"""The repository of lifecycle events, which are numbered at commit under the lock of a counter.

The store flushes lifecycle events after the event queues.  So a transaction that holds the counter
waits for no other lock, and no deadlock is possible.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, RowMapping, Select, bindparam, delete, insert, select
from sqlalchemy import update as sql_update

from supervisor.core.history.lifecycle_events import LifecycleEvent, NumberedEvent
from supervisor.core.history.windows import EventWindow
from supervisor.metadata.schema.history import happening_counter, happenings
from supervisor.metadata.schema.tables import generations

KEPT = 100_000
"""Lifecycle events that are kept: some 30 MB, days of a hundred supervisors.

A client of the event stream may be away for that long.
"""
TRIM_EVERY = 1_000
"""Old rows are deleted in batches of this size, so that as many new rows share the cost."""

_AT = happenings.c
_COUNTER = happening_counter.c
# Built once: these end each transaction that changes something.
_NUMBER = (
    sql_update(happening_counter)
    .values(newest=_COUNTER.newest + bindparam("count"))
    .returning(_COUNTER.newest, _COUNTER.trimmed)
)
_GROUPS = select(generations.c.id, generations.c.group_number).where(
    generations.c.id.in_(bindparam("wanted", expanding=True))
)
_INSERT = insert(happenings)
_ALL = select(happenings)


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
        newest, trimmed = self._db.execute(_NUMBER, {"count": len(drafts)}).one()
        first = newest - len(drafts) + 1
        self._db.execute(_INSERT, [_row(first + n, one) for n, one in enumerate(drafts)])
        if newest - trimmed >= self._kept + min(TRIM_EVERY, self._kept):
            self._trim(newest - self._kept)
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
        query = _ALL.where(_AT.number < before, _AT.number > down_to).order_by(_AT.number.desc())
        if window.kinds:
            query = query.where(_AT.kind.in_(sorted(window.kinds)))
        if window.begin is not None:
            query = query.where(_AT.at >= window.begin)
        if window.end is not None:
            query = query.where(_AT.at < window.end)
        return self._select(query, limit, window.supervisor_id)

    def time_at(self, number: int) -> datetime | None:
        """Return when the newest event up to a number happened; None: it was trimmed."""
        newest = select(_AT.at).where(_AT.number <= number).order_by(_AT.number.desc()).limit(1)
        return self._db.execute(newest).scalar_one_or_none()

    def trimmed(self) -> int:
        """Return the highest number whose lifecycle event has been deleted."""
        return int(self._db.execute(select(_COUNTER.trimmed)).scalar_one())

    def newest(self) -> int:
        """Return the number of the newest lifecycle event."""
        return int(self._db.execute(select(_COUNTER.newest)).scalar_one())

    def _trim(self, up_to: int) -> None:
        self._db.execute(delete(happenings).where(_AT.number <= up_to))
        self._db.execute(sql_update(happening_counter).values(trimmed=up_to))

    def _select(
        self, query: Select[*tuple[object, ...]], limit: int, supervisor_id: str | None
    ) -> list[NumberedEvent]:
        if supervisor_id is not None:
            query = query.where(_AT.supervisor_id == supervisor_id)
        return [_read(row) for row in self._db.execute(query.limit(limit)).mappings()]


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


def _read(row: RowMapping) -> NumberedEvent:
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
