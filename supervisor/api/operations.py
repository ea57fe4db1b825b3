"""What was asked of supervisors, and whether it is done."""

from fastapi import APIRouter, Response

from supervisor.api.audit import Cursor, Limit, Text
from supervisor.api.deps import Parts
from supervisor.views_operations import OperationsPage, OperationView

router = APIRouter(prefix="/api/v1/operations", tags=["history"])

HEADER = "Tidegate-Operation"
"""Of the answer to each verb that takes its time: the id to ask for here."""


def named(response: Response, operation_id: str | None) -> None:
    """Tell the id of an operation in the header of an answer; None: nothing is to be done."""
    if operation_id:
        response.headers[HEADER] = operation_id


@router.get("")
def list_operations(
    parts: Parts, *, supervisor: Text = None, limit: Limit = 50, cursor: Cursor = None
) -> OperationsPage:
    """List what was asked of supervisors and how far it is, newest first."""
    return parts.chronicle.operations(limit, cursor, supervisor_id=supervisor)


@router.get("/{operation}")
def get_operation(operation: str, parts: Parts) -> OperationView:
    """Tell how far one operation is, and what it waits for."""
    return parts.chronicle.operation(operation)
