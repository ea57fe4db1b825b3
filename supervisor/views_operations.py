"""What was asked of supervisors, as it is shown."""

from pydantic import Field

from supervisor.core.operations import Operation, OperationKind, OperationState, Progress
from tasks.wire import Instant, Wire


class OperationView(Wire):
    """One thing that somebody asked for, and what has become of it."""

    id: str
    kind: OperationKind
    supervisor: str
    asked_by: str
    at: Instant
    state: OperationState
    waits_for: str
    """Empty unless it is running."""
    finished_at: Instant | None
    spec_version: int | None
    """The version of the spec that it stored."""
    ranges: list[str] = Field(default_factory=list)
    """The generations that had to be over for it: those that were asked to publish, or that do
    not go on under what it stored."""


class OperationsPage(Wire):
    """Operations, newest first."""

    operations: list[OperationView]
    next: str | None
    """The `cursor` of the page behind this one; null: there is none."""


def operation_view(operation: Operation, progress: Progress) -> OperationView:
    """Return an operation as it is shown."""
    return OperationView(
        id=operation.id,
        kind=operation.kind,
        supervisor=operation.supervisor_id,
        asked_by=operation.asked_by,
        at=operation.at,
        state=progress.state,
        waits_for=progress.waits_for,
        finished_at=progress.finished_at,
        spec_version=operation.spec_version,
        ranges=list(operation.ranges),
    )
