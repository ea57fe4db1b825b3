"""Response models of operations on supervisors."""

from collections.abc import Sequence

from pydantic import Field

from supervisor.core.history.operations import Operation, OperationKind, OperationState, Progress
from supervisor.core.model.rows import Generation
from tasks.contract.wire import Instant, Wire, WireOffsets


class UnpublishedRange(Wire):
    """A range that was given up: its records are in no table."""

    generation: str
    group: int
    start: WireOffsets
    end: WireOffsets | None
    """Null: the end was not fixed; perhaps some records behind the start were read."""


class OperationView(Wire):
    """One requested change of a supervisor, and how far it is."""

    id: str
    kind: OperationKind
    supervisor: str
    asked_by: str
    reason: str | None = None
    """Why, in the words of the caller; null: no reason was given."""
    at: Instant
    state: OperationState
    waits_for: str
    """Empty unless the operation is running."""
    finished_at: Instant | None
    spec_version: int | None
    """The version of the spec that the operation stored."""
    ranges: list[str] = Field(default_factory=list)
    """Ids of the generations that had to end first, because they were to publish, or because they
    cannot go on with the stored spec."""
    unpublished: list[UnpublishedRange] = Field(default_factory=list)
    """Of a terminate: ranges that were discarded because no task of them was left."""


class OperationsPage(Wire):
    """Operations, newest first."""

    operations: list[OperationView]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


def operation_view(
    operation: Operation, progress: Progress, discarded: Sequence[Generation] = ()
) -> OperationView:
    """Return the response for one operation; `discarded`: ranges that it left unpublished."""
    return OperationView(
        id=operation.id,
        kind=operation.kind,
        supervisor=operation.supervisor_id,
        asked_by=operation.requested_by,
        reason=operation.reason,
        at=operation.at,
        state=progress.state,
        waits_for=progress.waits_for,
        finished_at=progress.finished_at,
        spec_version=operation.spec_version,
        ranges=list(operation.ranges),
        unpublished=[_unpublished(generation) for generation in discarded],
    )


def _unpublished(generation: Generation) -> UnpublishedRange:
    return UnpublishedRange(
        generation=generation.id,
        group=generation.group,
        start=dict(generation.start),
        end=None if generation.end is None else dict(generation.end),
    )
