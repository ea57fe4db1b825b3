"""The repository of plans: the last plans of each supervisor, to show to people."""

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select

from supervisor.core.model.rows import StoredPlan
from supervisor.metadata.schema.history import plans

_AT = plans.c
KEPT = 200
"""Plans kept per supervisor."""

# Built once: each pass that decides something records its plan.
_INSERT = insert(plans)
_OLDEST_DROPPED = (
    select(_AT.id)
    .where(_AT.supervisor_id == bindparam("of_supervisor"))
    .order_by(_AT.id.desc())
    .offset(KEPT)
    .limit(1)
)
_DROP = delete(plans).where(
    _AT.supervisor_id == bindparam("of_supervisor"),
    _AT.id <= _OLDEST_DROPPED.scalar_subquery(),
)


class SqlPlans:
    """See `ports.store.Plans`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def record(self, plan: StoredPlan) -> None:
        """Store a plan, and delete all but the newest 200 plans of its supervisor."""
        self._db.execute(
            _INSERT,
            {
                "supervisor_id": plan.supervisor_id,
                "at": plan.at,
                "term": plan.term,
                "actions": [dict(action) for action in plan.actions],
                "error": plan.error,
            },
        )
        self._db.execute(_DROP, {"of_supervisor": plan.supervisor_id})

    def recent(self, supervisor_id: str, limit: int) -> list[StoredPlan]:
        """Return plans, newest first."""
        return [plan for _, plan in self.page(supervisor_id, limit)]

    def page(
        self,
        supervisor_id: str,
        limit: int,
        *,
        before: int | None = None,
        until: datetime | None = None,
    ) -> list[tuple[int, StoredPlan]]:
        """Return (number, plan), newest first; see the port."""
        query = select(plans).where(_AT.supervisor_id == supervisor_id).order_by(_AT.id.desc())
        if before is not None:
            query = query.where(_AT.id < before)
        if until is not None:
            query = query.where(_AT.at < until)
        return [
            (row.id, StoredPlan(row.supervisor_id, row.at, row.term, tuple(row.actions), row.error))
            for row in self._db.execute(query.limit(limit))
        ]

    def forget(self, supervisor_id: str) -> None:
        """Delete the plans of a supervisor."""
        self._db.execute(delete(plans).where(_AT.supervisor_id == supervisor_id))
