"""The ranges of a supervisor, and how long each step of them took."""

from fastapi import APIRouter

from supervisor.api.http.access import SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Parts
from supervisor.api.routes.cluster.audit import Cursor, Limit
from supervisor.core.values.permissions import Permission
from supervisor.views.generations import GenerationsPage

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["history"])


@router.get("/generations", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def list_generations(
    supervisor_id: str, parts: Parts, *, limit: Limit = 50, cursor: Cursor = None
) -> GenerationsPage:
    """List ranges with their replicas and the times of their steps, newest first."""
    return parts.chronicle.generations(supervisor_id, limit, cursor)
