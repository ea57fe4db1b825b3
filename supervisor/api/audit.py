"""Who changed what."""

from typing import Annotated

from fastapi import APIRouter, Query

from supervisor.api.deps import Parts
from supervisor.views_chronicle import AuditPage

router = APIRouter(prefix="/api/v1", tags=["history"])

LIMIT_MAX = 1_000
Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="At most so many.")]
Cursor = Annotated[str | None, Query(description="The `next` of the page before.")]
Text = Annotated[str | None, Query(max_length=1_000)]


@router.get("/audit")
def list_audit(
    parts: Parts,
    *,
    supervisor: Text = None,
    action: Text = None,
    actor: Text = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> AuditPage:
    """List who changed what and when, newest first; of one supervisor, action or actor if asked."""
    return parts.chronicle.audit(
        limit, cursor, supervisor_id=supervisor, action=action, actor=actor
    )
