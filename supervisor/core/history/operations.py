"""What was asked of a supervisor, and whether it has come true: judged from rows alone.

    running ──► done          what it asked for is so
        └─────► superseded    a newer version of the spec came first

Nothing is kept but the wish: every overlord, and every later look, comes to the same answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.values.errors import OperationNotFound

_DIGITS_MAX = 18


def number_of(operation_id: str) -> int:
    """Return the number in an id.

    Raises:
        OperationNotFound: it is no id of an operation.
    """
    digits = operation_id.removeprefix("op_")
    is_id = operation_id.startswith("op_") and digits.isascii() and digits.isdigit()
    if not is_id or len(digits) > _DIGITS_MAX:
        raise OperationNotFound(operation_id)
    return int(digits)


class OperationKind(StrEnum):
    """What can be asked for."""

    APPLY = "apply"
    ROLLBACK = "rollback"
    SUSPEND = "suspend"
    RESUME = "resume"
    TERMINATE = "terminate"
    HANDOFF = "handoff"
    RESET = "reset"
    RESET_OFFSETS = "reset-offsets"
    RESET_TO_LATEST_AND_BACKFILL = "reset-to-latest-and-backfill"
    UNKNOWN = "unknown"
    """A newer release stored it: never stored."""


class OperationState(StrEnum):
    """How far it is."""

    RUNNING = "running"
    DONE = "done"
    SUPERSEDED = "superseded"


NOT_KNOWN = "an overlord of a newer release, which can judge it"
"""What an operation waits for whose rows have words that this release does not know."""


@dataclass(frozen=True)
class Operation:
    """What somebody asked for; `number` is 0 until it is stored."""

    supervisor_id: str
    kind: OperationKind
    requested_by: str
    at: datetime
    spec_version: int | None = None
    """That it stored; None: it stored none."""
    ranges: tuple[str, ...] = ()
    """Generations that have to be over for it, as its transaction found them."""
    disturbs: bool = True
    """Ranges have to end, or to be opened, for it; False: it holds at once."""
    last_ordinal: int | None = None
    """Of the newest range when it was stored, which no clock of another leader can misjudge;
    None: it is not stored yet, or by a version that did not keep it."""
    number: int = 0

    @property
    def id(self) -> str:
        """The name that clients use."""
        return f"op_{self.number}"


@dataclass(frozen=True)
class OperationFacts:
    """The rows that an operation is judged by."""

    older: Sequence[Generation] = ()
    """Live ranges that were opened with a version below the operation's."""
    older_ended_at: datetime | None = None
    """When the last such range ended, after the operation was asked for."""
    opened_at: datetime | None = None
    """When the first range was opened behind it, with its version or a newer one."""
    named: Sequence[Generation] = ()
    """Its `ranges`, those that are still on record."""
    next_version_at: datetime | None = None
    """When the next version of the spec was stored."""
    discarded: Sequence[Generation] = ()
    """Of a terminate: those it found that were given up unpublished (P19)."""
    rests: bool = False
    """Its spec wants no range: it is suspended, or has read all that it is to read."""


@dataclass(frozen=True)
class Progress:
    """What has become of an operation."""

    state: OperationState
    waits_for: str = ""
    finished_at: datetime | None = None


def discarded_by(operation: Operation, named: Sequence[Generation]) -> tuple[Generation, ...]:
    """Return, of the ranges that a terminate found, those that were given up unpublished (P19)."""
    if operation.kind is not OperationKind.TERMINATE:
        return ()
    gone = (g for g in named if g.state is GenerationState.DISCARDED)
    return tuple(sorted(gone, key=lambda generation: generation.ordinal))


def judge_operation(operation: Operation, facts: OperationFacts) -> Progress:
    """Tell how far an operation is."""
    match operation.kind:
        case (
            OperationKind.RESET
            | OperationKind.RESET_OFFSETS
            | OperationKind.RESET_TO_LATEST_AND_BACKFILL
        ):
            return _done(operation.at)  # its transaction is all there is to it
        case OperationKind.HANDOFF:
            return _handoff(operation, facts)
        case OperationKind.SUSPEND | OperationKind.TERMINATE:
            return _bounded(facts, _rest(operation, facts))
        case OperationKind.RESUME | OperationKind.APPLY | OperationKind.ROLLBACK:
            if not operation.disturbs:
                return _done(operation.at)
            return _bounded(facts, _runs(operation, facts))
        case OperationKind.UNKNOWN:
            return Progress(OperationState.RUNNING, NOT_KNOWN)
        case _:
            assert_never(operation.kind)


def _rest(operation: Operation, facts: OperationFacts) -> Progress:
    if facts.older:
        return _waiting(facts.older)
    return _done(facts.older_ended_at or operation.at)


def _runs(operation: Operation, facts: OperationFacts) -> Progress:
    """Ranges that the planner does not end for it are read on, and not waited for."""
    if waiting := [g for g in facts.named if g.ended_at is None]:
        return _waiting(waiting)
    times = [operation.at, *(g.ended_at for g in facts.named if g.ended_at is not None)]
    if facts.rests:
        return _done(max(times))
    if facts.opened_at is None:
        why = "its first range: the offsets in Kafka have to be known, and a pass made"
        return Progress(OperationState.RUNNING, why)
    return _done(max(*times, facts.opened_at))


def _bounded(facts: OperationFacts, progress: Progress) -> Progress:
    """What came true only after the next version was stored, or has not yet, is superseded."""
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
    """Its pause found nothing to publish, and it reads on.

    Only then is the wish gone from a row that reads; the time may be that of a slower clock.
    """
    resumed = not generation.handoff_request or generation.timer_started_at > operation.at
    return generation.state is GenerationState.READING and resumed


def _waiting(ranges: Sequence[Generation]) -> Progress:
    waits_for = ", ".join(f"group {g.group} {_VERBS.get(g.state, 'ends')} ({g.id})" for g in ranges)
    return Progress(OperationState.RUNNING, waits_for)


_VERBS = {
    GenerationState.READING: "reads until its handoff begins",
    GenerationState.PAUSING: "pauses, and its end is not fixed",
    GenerationState.PUBLISHING: "has its end, and publishes",
}


def _done(at: datetime) -> Progress:
    return Progress(OperationState.DONE, finished_at=at)
