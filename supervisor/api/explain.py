"""Why a supervisor stands as it does."""

from fastapi import APIRouter

from supervisor.api.deps import Parts
from supervisor.views_explain import Explanation, explain

router = APIRouter(prefix="/api/v1/supervisors/{supervisor_id}", tags=["supervisors"])


@router.get("/explain")
def get_explanation(supervisor_id: str, parts: Parts) -> Explanation:
    """Say in sentences how a supervisor stands and why, and what comes next."""
    status = parts.views.status(supervisor_id)
    plans = parts.views.plans(supervisor_id, 1).plans
    return explain(status, parts.chronicle.state(supervisor_id), plans)
