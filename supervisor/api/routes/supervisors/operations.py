"""Routes of operations: long-running requests to supervisors, and their progress."""

from fastapi import APIRouter, Response

from supervisor.api.http.access import LISTED, OPERATION, Shown, needs
from supervisor.api.http.deps import Asking, Parts
from supervisor.api.routes.cluster.audit import Cursor, Limit, Text
from supervisor.core.values.permissions import Permission
from supervisor.views.operations import OperationsPage, OperationView

router = APIRouter(prefix="/api/v1/operations", tags=["history"])

HEADER = "Tidegate-Operation"
"""The header with the id of the operation, in the answer to each long-running verb."""


def named(response: Response, operation_id: str | None) -> None:
    """Add an operation's id to the headers of an answer; None: there is no operation."""
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
    """List the requested changes of supervisors and how far each is, newest first."""
    page = parts.chronicle.operations(limit, cursor, supervisor_id=supervisor)
    shown = Shown.to(asking, parts)
    found = [each for each in page.operations if shown.supervisor(each.supervisor)]
    return page.model_copy(update={"operations": found})


@router.get("/{operation}", dependencies=[needs(Permission.READ, OPERATION)])
def get_operation(operation: str, parts: Parts) -> OperationView:
    """Tell how far one operation is, and what it waits for."""
    return parts.chronicle.operation(operation)
