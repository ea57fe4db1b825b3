"""Routes of plans: what each step of a flow would do, by its dry run."""

from fastapi import APIRouter
from pydantic import Field, JsonValue

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Asking, Author, Parts
from supervisor.api.routes.flows.flows import FlowName
from supervisor.core.values.permissions import Permission
from supervisor.services.steps.plans import outlook_on
from supervisor.views.flows.outlooks import FlowOutlookView, outlook_view
from tasks.contract.wire import Wire

router = APIRouter(prefix="/api/v1/flows", tags=["flows"])


class PlanInputs(Wire):
    """Inputs for a plan."""

    inputs: dict[str, JsonValue] = Field(default_factory=dict)


class PlanDocument(PlanInputs):
    """A flow that is not stored, and inputs for a plan of it."""

    flow: dict[str, JsonValue]
    """Its document."""


@router.post("/plan", dependencies=[needs(Permission.READ)])
def plan_document(
    wanted: PlanDocument, author: Author, asking: Asking, parts: Parts
) -> FlowOutlookView:
    """Return what each step of a flow would do, by its dry run for you; nothing is stored."""
    flow = parts.flows.check(wanted.flow)
    return outlook_view(flow.flow, outlook_on(parts, flow, wanted.inputs, asking, author))


@router.post("/{flow}/plan", dependencies=[needs(Permission.READ)])
def plan_flow(
    flow: FlowName, wanted: PlanInputs, author: Author, asking: Asking, parts: Parts
) -> FlowOutlookView:
    """Return what each step of a flow's newest version would do, by its dry run for you."""
    document = parts.flows.read(flow)
    return outlook_view(flow, outlook_on(parts, document, wanted.inputs, asking, author))
