"""The route of a supervisor's explanation: its state, the reasons, and the next step."""

from fastapi import APIRouter

from supervisor.api.http.access import SUPERVISOR_EVER, needs
from supervisor.api.http.deps import Parts
from supervisor.core.values.permissions import Permission
from supervisor.views.attention.explain import Explanation, explain

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["supervisors"])


@router.get("/explain", dependencies=[needs(Permission.READ, SUPERVISOR_EVER)])
def get_explanation(supervisor_id: str, parts: Parts) -> Explanation:
    """Explain the state of a supervisor in sentences: why it is so, and what comes next."""
    status = parts.supervisors.status(supervisor_id)
    plans = parts.supervisors.plans(supervisor_id, 1).plans
    return explain(status, parts.chronicle.state(supervisor_id), plans)
