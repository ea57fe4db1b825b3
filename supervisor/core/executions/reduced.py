"""What one input brings about: a new version with calls, messages and events, or a counted drop."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Generic, TypeVar

from pydantic import Field, JsonValue

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import ExecutionInput, GateInput
from supervisor.core.executions.plan import KILL_GRACE
from supervisor.core.values.tagged import Tagged

EntityT = TypeVar("EntityT")


class Drop(StrEnum):
    """Why an input changes nothing.  UNKNOWN_RUN and FUTURE_ATTEMPT are dead letters."""

    NOT_LIVE = "not_live"
    UNKNOWN_RUN = "unknown_run"
    FUTURE_ATTEMPT = "future_attempt"
    OLD_ATTEMPT = "old_attempt"
    AFTER_TERMINAL = "after_terminal"
    DUPLICATE = "duplicate"
    LATE = "late"
    CLAIMED = "claimed"
    """Another runner, or another life of this one, holds the claim."""
    NOT_NOW = "not_now"
    """What is asked for does not fit the state, such as an answer to what does not ask."""

    @property
    def dead(self) -> bool:
        """Whether somebody has invented what the reducer has not created."""
        return self in {Drop.UNKNOWN_RUN, Drop.FUTURE_ATTEMPT}


@dataclass(frozen=True, slots=True)
class StepCall:
    """Work for a runner.  A `check` above 0 is a look at a condition, and needs no claim."""

    execution: str
    run: str
    step: str
    attempt: int
    effect: int
    verb: str
    arguments: Mapping[str, JsonValue]
    check: int = 0
    state: JsonValue = None
    grace: Annotated[timedelta, Field(exclude_if=lambda given: given == KILL_GRACE)] = KILL_GRACE
    """It is left, or its process killed, so long after it shall stop: the `killGrace` of its flow.

    Left out at the default, which is what a release without the field waits."""

    @property
    def key(self) -> str:
        """The idempotency key of what the call does."""
        return f"{self.execution}/{self.run}/{self.effect}"


@dataclass(frozen=True, slots=True)
class ClaimReply:
    """The answer to a claim."""

    run: str
    attempt: int
    runner: Runner
    granted: bool


@dataclass(frozen=True, slots=True)
class Cancel:
    """A runner shall stop a call."""

    run: str
    attempt: int
    runner: Runner


@dataclass(frozen=True, slots=True)
class Send:
    """An input for another execution."""

    execution: str
    input: ExecutionInput


@dataclass(frozen=True, slots=True)
class SendGate:
    """An input for a gate."""

    gate: str
    input: GateInput


@dataclass(frozen=True, slots=True)
class StartChild:
    """A new execution for a `subflow` step; `parent` is where its end is told."""

    execution: str
    flow: str
    inputs: Mapping[str, JsonValue]
    parent: str
    depth: int


@dataclass(frozen=True, slots=True)
class StartBatch:
    """A new execution for some items of a `forEach`."""

    execution: Execution


Message = Annotated[ClaimReply | Cancel | Send | SendGate | StartChild | StartBatch, Tagged()]


@dataclass(frozen=True, slots=True)
class ExecutionEvent:
    """Something that listeners see.  Numbers of one execution have no hole."""

    number: int
    at: datetime
    name: str
    run: str = ""
    about: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Reduced(Generic[EntityT]):
    """The outcome of one input.  With `dropped` the entity is the one that it was."""

    entity: EntityT
    changed: frozenset[str] = frozenset()
    """Ids of the task runs that are new or other than before."""
    calls: tuple[StepCall, ...] = ()
    messages: tuple[Message, ...] = ()
    events: tuple[ExecutionEvent, ...] = ()
    dropped: Drop | None = None
