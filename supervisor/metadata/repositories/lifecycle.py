"""What happened, as rows: numbered at the end of a transaction, under the lock of the counter.

The store flushes it after the event queues: whoever holds the counter waits for nothing more, so
no two transactions wait for each other in a circle.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, RowMapping, Select, bindparam, delete, insert, select
from sqlalchemy import update as sql_update

from supervisor.core.history.lifecycle_events import LifecycleEvent, NumberedEvent
from supervisor.metadata.schema.history import happening_counter, happenings
from supervisor.metadata.schema.tables import generations

KEPT = 100_000
"""Some 30 MB, and days of what happens to a hundred supervisors: a stream may be away so long."""
TRIM_EVERY = 1_000
"""Old rows are dropped so many at a time: the cost of it is shared by as many new ones."""

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
    """See `ports_happenings.LifecycleEvents`."""

    def __init__(self, connection: Connection, *, writable: bool = True, kept: int = KEPT) -> None:
        """Begin without drafts; what is not `writable` takes none."""
        self._db = connection
        self._writable = writable
        self._kept = kept
        self._drafts: list[LifecycleEvent] = []

    def record(self, happening: LifecycleEvent) -> None:
        """Write it with this transaction."""
        assert self._writable, "a transaction that reads does not write"
        self._drafts.append(happening)

    def flush(self) -> Sequence[LifecycleEvent]:
        """Number and insert what was told, and return it; the store calls it as the last thing."""
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
        """Return those with higher numbers, ascending."""
        query = _ALL.where(_AT.number > number).order_by(_AT.number)
        return self._select(query, limit, supervisor_id)

    def before(
        self, number: int | None, limit: int, *, supervisor_id: str | None = None
    ) -> list[NumberedEvent]:
        """Return those with lower numbers, or all, newest first."""
        query = _ALL if number is None else _ALL.where(_AT.number < number)
        return self._select(query.order_by(_AT.number.desc()), limit, supervisor_id)

    def trimmed(self) -> int:
        """Return up to which number they were dropped."""
        return int(self._db.execute(select(_COUNTER.trimmed)).scalar_one())

    def newest(self) -> int:
        """Return the number of the last one."""
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
