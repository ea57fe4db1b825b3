"""What was changed by whom, and what was refused to whom."""

from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.access import needs
from supervisor.api.deps import Parts
from supervisor.core.access import Permission
from tasks.wire import Instant, Wire

router = APIRouter(prefix="/api/v1/audit", tags=["access"])

ROWS_MAX = 1_000
Limit = Annotated[int, Query(ge=1, le=ROWS_MAX, description="At most so many.")]


class AuditRow(Wire):
    """One change; `detail` also has the caller's address, and its comment."""

    at: Instant
    actor: str
    action: str
    subject: str
    detail: dict[str, str]


class DeniedRow(Wire):
    """Tries that were refused alike within a short time; `name` is empty if nobody has it."""

    first_at: Instant
    last_at: Instant
    times: int
    name: str
    address: str
    what: str
    why: str


@router.get("", dependencies=[needs(Permission.AUDIT)])
def list_changes(parts: Parts, limit: Limit = 100) -> list[AuditRow]:
    """List what was changed, newest first."""
    with parts.views.sources.store.reading() as tx:
        found = tx.audit.recent(limit)
    return [
        AuditRow(at=e.at, actor=e.actor, action=e.action, subject=e.subject, detail=dict(e.detail))
        for e in found
    ]


@router.get("/denied", dependencies=[needs(Permission.AUDIT)])
def list_denied(parts: Parts, limit: Limit = 100) -> list[DeniedRow]:
    """List what was refused for want of credentials or permission, newest first."""
    if parts.authentication is not None:
        parts.authentication.flush()
    with parts.views.sources.store.reading() as tx:
        found = tx.access.denied(limit)
    return [DeniedRow.model_validate(vars(each)) for each in found]
