"""Progress of an operation on a supervisor, judged from rows alone.

    running ──► done          the requested state is reached
        ├─────► superseded    a newer version of the spec was stored first
        └─────► failed        of a replay: it cannot be done, and nothing of it was

Only the request is stored, and of a replay its outcome.  So every overlord, at any later time,
comes to the same answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.rules.bounds import is_completed
from supervisor.core.values.errors import OperationNotFound

_DIGITS_MAX = 18


def number_of(operation_id: str) -> int:
    """Return the number in an operation's id.

    Raises:
        OperationNotFound: the text is no id of an operation.
    """
    digits = operation_id.removeprefix("op_")
    is_id = operation_id.startswith("op_") and digits.isascii() and digits.isdigit()
    if not is_id or len(digits) > _DIGITS_MAX:
        raise OperationNotFound(operation_id)
    return int(digits)


class OperationKind(StrEnum):
    """The changes that can be requested."""

    APPLY = "apply"
    ROLLBACK = "rollback"
    SUSPEND = "suspend"
    RESUME = "resume"
    TERMINATE = "terminate"
    HANDOFF = "handoff"
    RESET = "reset"
    RESET_OFFSETS = "reset-offsets"
    RESET_TO_LATEST_AND_BACKFILL = "reset-to-latest-and-backfill"
    REPLAY = "replay"
    UNKNOWN = "unknown"
    """A kind that only a newer release knows; never stored."""


class OperationState(StrEnum):
    """How far it is."""

    RUNNING = "running"
    DONE = "done"
    SUPERSEDED = "superseded"
    FAILED = "failed"


NOT_KNOWN = "an overlord of a newer release, which can judge it"
"""The `waits_for` of an operation whose rows have words that this release does not know."""


@dataclass(frozen=True)
class Operation:
    """A person's request to a supervisor; `number` is 0 until the operation is stored."""

    supervisor_id: str
    kind: OperationKind
    requested_by: str
    at: datetime
    spec_version: int | None = None
    """The version of the spec that the operation stored; None: it stored none."""
    ranges: tuple[str, ...] = ()
    """Ids of the generations that have to end first, as read in the operation's transaction."""
    disturbs: bool = True
    """Whether ranges have to end or to be opened; False: the operation is done at once."""
    last_ordinal: int | None = None
    """Ordinal of the newest range when the operation was stored; unlike a time, it depends on no
    leader's clock.  None: not stored yet, or stored by a release that did not record it."""
    number: int = 0
    reason: str | None = None
    """Why, in the words of the person; None: no reason was given, or it is not stored yet."""
    replay: ReplayRequest | None = None
    """Of a replay: what is sent, and where."""
    outcome: ReplayOutcome | None = None
    """Of a replay that is over: what it did."""
    finished_at: datetime | None = None
    """When the outcome was stored."""

    @property
    def id(self) -> str:
        """The id that clients use."""
        return f"op_{self.number}"


@dataclass(frozen=True)
class OperationFacts:
    """The rows that an operation is judged by."""

    older: Sequence[Generation] = ()
    """Live ranges that were opened with a version below the operation's."""
    older_ended_at: datetime | None = None
    """When the last such range ended, after the operation was stored."""
    opened_at: datetime | None = None
    """When the first range was opened after the operation, with its version or a newer one."""
    named: Sequence[Generation] = ()
    """Generations of the operation's `ranges` that are still on record."""
    next_version_at: datetime | None = None
    """When the next version of the spec was stored."""
    discarded: Sequence[Generation] = ()
    """Ranges that a terminate discarded, so that they were not published (P19)."""
    rests: bool = False
    """Whether the spec wants no range: it is suspended, or has read all of its bounded ranges."""
    trouble: str = ""
    """Why the last try of a replay failed; empty: it was not tried, or has not failed."""


@dataclass(frozen=True)
class Progress:
    """The progress of an operation; `waits_for` is a text for people."""

    state: OperationState
    waits_for: str = ""
    finished_at: datetime | None = None


def discarded_by(operation: Operation, named: Sequence[Generation]) -> tuple[Generation, ...]:
    """Return the ranges of a terminate that were discarded unpublished (P19), oldest first."""
    if operation.kind is not OperationKind.TERMINATE:
        return ()
    gone = (g for g in named if g.state is GenerationState.DISCARDED)
    return tuple(sorted(gone, key=lambda generation: generation.ordinal))


def judge_operation(operation: Operation, facts: OperationFacts) -> Progress:
    """Return the progress of an operation."""
    match operation.kind:
        case (
            OperationKind.RESET
            | OperationKind.RESET_OFFSETS
            | OperationKind.RESET_TO_LATEST_AND_BACKFILL
        ):
            return _done(operation.at)  # a reset is done with its transaction
        case OperationKind.HANDOFF:
            return _handoff(operation, facts)
        case OperationKind.SUSPEND | OperationKind.TERMINATE:
            return _bounded(facts, _rest(operation, facts))
        case OperationKind.RESUME | OperationKind.APPLY | OperationKind.ROLLBACK:
            if not operation.disturbs:
                return _done(operation.at)
            return _bounded(facts, _runs(operation, facts))
        case OperationKind.REPLAY:
            return _replay(operation, facts)
        case OperationKind.UNKNOWN:
            return Progress(OperationState.RUNNING, NOT_KNOWN)
        case _:
            assert_never(operation.kind)


def _replay(operation: Operation, facts: OperationFacts) -> Progress:
    if operation.outcome is None or operation.finished_at is None:
        why = "the leader, which sends its records"
        return Progress(OperationState.RUNNING, f"{why}: {facts.trouble}" if facts.trouble else why)
    state = OperationState.FAILED if operation.outcome.problem else OperationState.DONE
    return Progress(state, finished_at=operation.finished_at)


NOT_SEEN_YET = "the next pass of the leader"
_AT_ONCE = frozenset(
    {
        OperationKind.RESET,
        OperationKind.RESET_OFFSETS,
        OperationKind.RESET_TO_LATEST_AND_BACKFILL,
    }
)


def progress_in_pass(operation: Operation, seen: Observed) -> Progress:
    """Return the progress of a supervisor's newest operation, as a pass saw it: no row is read.

    A pass from before the operation has not seen what it wants, so it is running.
    """
    version, spec = operation.spec_version, seen.current.spec
    before = seen.now <= operation.at
    before = before or (version is not None and seen.current.version < version)
    if before and operation.disturbs and operation.kind not in _AT_ONCE:
        return Progress(OperationState.RUNNING, NOT_SEEN_YET)
    last, newest = operation.last_ordinal, seen.newest
    opened = newest is not None and (
        newest.opened_at >= operation.at if last is None else newest.ordinal > last
    )
    rests = spec is None or spec.suspended
    if spec is not None and not rests:
        idles = newest is not None and spec.io_config.idle_after is not None
        rests = idles or is_completed(spec, seen.committed)
    later = version is not None and seen.current.version > version
    facts = OperationFacts(
        older=[g for g in seen.generations if version is not None and g.spec_version < version],
        opened_at=newest.opened_at if newest is not None and opened else None,
        named=[g for g in seen.generations if g.id in operation.ranges],
        next_version_at=seen.current.created_at if later else None,
        rests=rests,
    )
    return judge_operation(operation, facts)


def _rest(operation: Operation, facts: OperationFacts) -> Progress:
    if facts.older:
        return _waiting(facts.older)
    return _done(facts.older_ended_at or operation.at)


def _runs(operation: Operation, facts: OperationFacts) -> Progress:
    """Judge an operation that wants ranges to run; only ranges that it ends are waited for."""
    if waiting := [g for g in facts.named if g.ended_at is None]:
        return _waiting(waiting)
    times = [operation.at, *(g.ended_at for g in facts.named if g.ended_at is not None)]
    if facts.rests:
        return _done(max(times))
    if facts.opened_at is None:
        why = "its first range, which begins once the leader has looked at Kafka"
        return Progress(OperationState.RUNNING, why)
    return _done(max(*times, facts.opened_at))


def _bounded(facts: OperationFacts, progress: Progress) -> Progress:
    """Return SUPERSEDED unless the operation was done before the next version was stored."""
    if facts.next_version_at is None:
        return progress
    if progress.finished_at is not None and progress.finished_at <= facts.next_version_at:
        return progress
    return Progress(OperationState.SUPERSEDED, finished_at=facts.next_version_at)


def _handoff(operation: Operation, facts: OperationFacts) -> Progress:
    waiting, times = [], [operation.at]
    for generation in facts.named:
        if generation.ended_at is not None:
            times.append(generation.ended_at)
        elif _read_nothing(generation, operation):
            times.append(generation.timer_started_at)
        else:
            waiting.append(generation)
    return _waiting(waiting) if waiting else _done(max(times))


def _read_nothing(generation: Generation, operation: Operation) -> bool:
    """Whether the pause of a generation found nothing to publish, so that it reads on.

    Only in this case has a row that reads lost its handoff request.  `timer_started_at` may come
    from a slower clock, so the missing request counts as well.
    """
    resumed = not generation.handoff_request or generation.timer_started_at > operation.at
    return generation.state is GenerationState.READING and resumed


def _waiting(ranges: Sequence[Generation]) -> Progress:
    waits_for = ", ".join(f"group {g.group} {_VERBS.get(g.state, 'ends')} ({g.id})" for g in ranges)
    return Progress(OperationState.RUNNING, waits_for)


_VERBS = {
    GenerationState.READING: "reads until its handoff begins",
    GenerationState.PAUSING: "stops reading at a common offset",
    GenerationState.PUBLISHING: "publishes what it has read",
}


def _done(at: datetime) -> Progress:
    return Progress(OperationState.DONE, finished_at=at)
