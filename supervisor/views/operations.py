"""Response models of operations on supervisors."""

from collections.abc import Sequence

from pydantic import Field

from supervisor.core.history.operations import Operation, OperationKind, OperationState, Progress
from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from supervisor.core.model.rows import Generation
from tasks.contract.wire import Instant, Wire, WireOffsets


class UnpublishedRange(Wire):
    """A range that was given up: its records are in no table."""

    generation: str
    group: int
    start: WireOffsets
    end: WireOffsets | None
    """Null: the end was not fixed; perhaps some records behind the start were read."""


class ReplayView(Wire):
    """What a replay sends, and where; and what it did, once it is over."""

    topic: str
    """The target."""
    reason: str | None
    """Only bad records with this reason; null: all."""
    partition: int | None
    """Only those of this partition; null: all."""
    most: int
    keep_time: bool
    sent: int | None
    """Null: it is not over."""
    there: int | None
    """Records that the topic had already; null: it is not over."""
    more: bool | None
    """Whether there are more than were sent; null: it is not over."""
    ends: dict[str, int]
    """Partition of the topic -> its end offset after the replay."""
    problem: str | None
    """Why nothing was sent; null: nothing failed."""


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
    replay: ReplayView | None = None
    """Of a replay of bad records."""


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
        replay=None if operation.replay is None else _replay(operation.replay, operation.outcome),
    )


def _replay(request: ReplayRequest, outcome: ReplayOutcome | None) -> ReplayView:
    return ReplayView(
        topic=request.topic,
        reason=request.reason,
        partition=request.partition,
        most=request.most,
        keep_time=request.keep_time,
        sent=None if outcome is None else outcome.sent,
        there=None if outcome is None else outcome.there,
        more=None if outcome is None else outcome.more,
        ends={} if outcome is None else {str(p): end for p, end in outcome.ends.items()},
        problem=None if outcome is None else outcome.problem or None,
    )


def _unpublished(generation: Generation) -> UnpublishedRange:
    return UnpublishedRange(
        generation=generation.id,
        group=generation.group,
        start=dict(generation.start),
        end=None if generation.end is None else dict(generation.end),
    )
