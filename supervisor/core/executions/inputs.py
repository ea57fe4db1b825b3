"""Everything that can happen to an execution or to a gate, as values.

An input names what it is about by ids, attempts and incarnations, so that one that comes twice, or
late, is known as such and changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, JsonValue

from supervisor.core.executions.entities import Runner, StepError
from supervisor.core.executions.plan import WhenFull
from supervisor.core.executions.states import ExecutionState
from supervisor.core.values.tagged import Tagged


@dataclass(frozen=True, slots=True)
class Begin:
    """A new execution is there; a repeat finds one that has begun."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A runner asks whether it may make a call."""

    run: str
    attempt: int
    runner: Runner


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The call is done."""

    outputs: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fails:
    """The call, or what it waited for, has failed."""

    error: StepError


@dataclass(frozen=True, slots=True)
class Stopped:
    """The runner has stopped the call because it was cancelled."""


@dataclass(frozen=True, slots=True)
class Waits:
    """The verb was answered; its object is not where it shall be yet."""

    what: str
    """What is waited for, in words."""
    state: JsonValue = None
    """What the next look needs."""


Outcome = Annotated[Succeeded | Fails | Stopped | Waits, Tagged()]


@dataclass(frozen=True, slots=True)
class Report:
    """What came of an attempt, or of one look at what it waits for."""

    run: str
    attempt: int
    outcome: Outcome
    runner: Runner | None = None
    """Who holds the claim; None for a look, which needs none."""
    check: int = 0
    """The number of the look; 0: the call itself."""


@dataclass(frozen=True, slots=True)
class AttemptLost:
    """The runner that held the claim is gone."""

    run: str
    attempt: int
    runner: Runner


@dataclass(frozen=True, slots=True)
class Tick:
    """A time that the execution waits for has come."""


@dataclass(frozen=True, slots=True)
class KillIt:
    """Somebody ends the execution.

    `force`: it does not wait for what runs, and its `finally` steps do not begin.
    """

    by: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class PauseIt:
    """Somebody wants no further step to begin."""

    by: str


@dataclass(frozen=True, slots=True)
class ResumeIt:
    """Somebody lets a paused execution go on."""

    by: str


@dataclass(frozen=True, slots=True)
class RetryStep:
    """Somebody wants another attempt of a step, now."""

    run: str
    by: str


@dataclass(frozen=True, slots=True)
class SkipStep:
    """Somebody lets the execution go on without a step."""

    run: str
    by: str


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """Somebody answers what an `approve` step asks."""

    run: str
    yes: bool
    by: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Nudge:
    """Something has happened for which a step may wait: it looks at once."""

    run: str


@dataclass(frozen=True, slots=True)
class ChildEnded:
    """The execution that a `subflow` step or a batch waits for has ended."""

    run: str
    attempt: int
    state: ExecutionState
    outputs: Mapping[str, JsonValue] = field(default_factory=dict)
    why: str = ""
    refused: Annotated[bool, Field(exclude_if=lambda given: not given)] = False
    """Whether it has never begun: there is no such flow, or it got no slot.

    Left out if not, so that the record is the one of a release without the field."""


@dataclass(frozen=True, slots=True)
class SlotGiven:
    """The gate has a slot for the execution."""

    gate: str


@dataclass(frozen=True, slots=True)
class SlotRefused:
    """The gate is full, and the flow does not queue."""

    gate: str
    when_full: WhenFull


ExecutionInput = Annotated[
    Begin
    | Claim
    | Report
    | AttemptLost
    | Tick
    | KillIt
    | PauseIt
    | ResumeIt
    | RetryStep
    | SkipStep
    | AnswerStep
    | Nudge
    | ChildEnded
    | SlotGiven
    | SlotRefused,
    Tagged(),
]


@dataclass(frozen=True, slots=True)
class SlotWanted:
    """An execution wants to hold a slot."""

    execution: str
    limit: int
    when_full: WhenFull


@dataclass(frozen=True, slots=True)
class SlotFreed:
    """An execution has ended, or does not want a slot any more."""

    execution: str


GateInput = Annotated[SlotWanted | SlotFreed, Tagged()]
