"""Routes of the audit log and of denied tries."""

from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Parts
from supervisor.core.values.permissions import Permission
from supervisor.views.history import AuditPage
from tasks.contract.wire import Instant, Wire

router = APIRouter(prefix="/api/v1", tags=["history"])

LIMIT_MAX = 1_000
Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="At most so many.")]
Cursor = Annotated[
    str | None,
    Query(
        description="The `next` of the page before.",
        json_schema_extra={"pattern": "^[A-Za-z0-9_-]{1,200}$"},
    ),
]
Text = Annotated[str | None, Query(max_length=1_000)]


class DeniedRow(Wire):
    """Tries that were refused alike within a short time; `name` is empty if nobody has it."""

    first_at: Instant
    last_at: Instant
    times: int
    name: str
    address: str
    what: str
    why: str


@router.get("/audit", dependencies=[needs(Permission.AUDIT)])
def list_audit(
    parts: Parts,
    *,
    supervisor: Text = None,
    action: Text = None,
    actor: Text = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> AuditPage:
    """List changes with actor and time, newest first: of one supervisor, action or actor."""
    return parts.chronicle.audit(
        limit, cursor, supervisor_id=supervisor, action=action, actor=actor
    )


@router.get("/audit/denied", dependencies=[needs(Permission.AUDIT)])
def list_denied(parts: Parts, limit: Limit = 100) -> list[DeniedRow]:
    """List what was refused for want of credentials or permission, newest first."""
    if parts.authentication is not None:
        parts.authentication.flush()
    with parts.store.reading() as tx:
        found = tx.access.denied(limit)
    return [DeniedRow.model_validate(vars(each)) for each in found]
