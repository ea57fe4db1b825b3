"""What was asked of supervisors, and whether it is done."""

from fastapi import APIRouter, Response

from supervisor.api.http.access import LISTED, OPERATION, Shown, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.routes.cluster.audit import Cursor, Limit, Text
from supervisor.core.values.permissions import Permission
from supervisor.views.operations import OperationsPage, OperationView

router = APIRouter(prefix="/api/v1/operations", tags=["history"])

HEADER = "Tidegate-Operation"
"""Of the answer to each verb that takes its time: the id to ask for here."""


def named(response: Response, operation_id: str | None) -> None:
    """Tell the id of an operation in the header of an answer; None: nothing is to be done."""
    if operation_id:
        response.headers[HEADER] = operation_id


@router.get("", dependencies=[needs(Permission.READ, LISTED)])
def list_operations(
    parts: Parts,
    asking: Asking,
    *,
    supervisor: Text = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> OperationsPage:
    """List what was asked of supervisors and how far it is, newest first."""
    page = parts.chronicle.operations(limit, cursor, supervisor_id=supervisor)
    shown = Shown.to(asking, parts)
    found = [each for each in page.operations if shown.supervisor(each.supervisor)]
    return page.model_copy(update={"operations": found})


@router.get("/{operation}", dependencies=[needs(Permission.READ, OPERATION)])
def get_operation(operation: str, parts: Parts) -> OperationView:
    """Tell how far one operation is, and what it waits for."""
    return parts.chronicle.operation(operation)
