"""The last plans of every supervisor, as they are shown to people."""

from sqlalchemy import Connection, delete, insert, select

from supervisor.core.model import StoredPlan
from supervisor.metadata.tables import plans

_AT = plans.c
KEPT = 200
"""Plans per supervisor."""


class SqlPlans:
    """See `ports.Plans`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def record(self, plan: StoredPlan) -> None:
        """Store a plan, and drop what is older than the newest 200 of its supervisor."""
        self._db.execute(
            insert(plans).values(
                supervisor_id=plan.supervisor_id,
                at=plan.at,
                term=plan.term,
                actions=[dict(action) for action in plan.actions],
                error=plan.error,
            )
        )
        oldest_dropped = (
            select(_AT.id)
            .where(_AT.supervisor_id == plan.supervisor_id)
            .order_by(_AT.id.desc())
            .offset(KEPT)
            .limit(1)
        )
        self._db.execute(
            delete(plans).where(
                _AT.supervisor_id == plan.supervisor_id,
                _AT.id <= oldest_dropped.scalar_subquery(),
            )
        )

    def recent(self, supervisor_id: str, limit: int) -> list[StoredPlan]:
        """Return the newest first."""
        rows = self._db.execute(
            select(plans)
            .where(_AT.supervisor_id == supervisor_id)
            .order_by(_AT.id.desc())
            .limit(limit)
        )
        return [
            StoredPlan(row.supervisor_id, row.at, row.term, tuple(row.actions), row.error)
            for row in rows
        ]

    def forget(self, supervisor_id: str) -> None:
        """Delete the plans of a supervisor."""
        self._db.execute(delete(plans).where(_AT.supervisor_id == supervisor_id))
