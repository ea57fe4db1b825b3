"""An execution, its task runs and their attempts: immutable values, changed by the reducer alone.

Execution
  └ TaskRun     one per step, and per item of a `forEach`; its id follows from its place
      └ RunAttempt
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pydantic import JsonValue

from supervisor.core.executions.plan import FlowPlan, Step
from supervisor.core.executions.states import AttemptState, ExecutionState, StepState

_ID_BYTES = 10


class WaitsFor(StrEnum):
    """CONDITION: a runner asks for it now and then.  PERSON: a failed step is retried or skipped.

    ANSWER: yes or no of a person.  TIME: a sleep.  CHILD: another execution.
    """

    CONDITION = "condition"
    PERSON = "person"
    ANSWER = "answer"
    TIME = "time"
    CHILD = "child"


class Phase(StrEnum):
    """Which of the plan's graphs is under way."""

    STEPS = "steps"
    ON_FAILURE = "onFailure"
    ALWAYS = "finally"


@dataclass(frozen=True, slots=True)
class StepError:
    """Why a step failed.

    `code` is for programs, such as `timeout`; `passes` says that another try may succeed; `known`
    that the effect is known not to have come about, so that a retry begins a new effect.
    """

    code: str
    message: str
    passes: bool = False
    known: bool = True


@dataclass(frozen=True, slots=True)
class Wait:
    """What a task run waits for, in words for people, and since when."""

    kind: WaitsFor
    what: str
    since: datetime
    until: datetime | None = None
    """When a sleep is over, or a condition is asked for again."""
    check: int = 0
    """The number of the newest look at a condition."""
    state: JsonValue = None
    """What the verb gave for its looks, such as the id of an operation."""


@dataclass(frozen=True, slots=True)
class Runner:
    """A process that makes calls; `incarnation` tells two lives of one name apart."""

    name: str
    incarnation: str


@dataclass(frozen=True, slots=True)
class RunAttempt:
    """One try of a step."""

    number: int
    effect: int
    """The number in the idempotency key of what it does: a repeat after a loss keeps it."""
    state: AttemptState
    submitted_at: datetime
    runner: Runner | None = None
    began_at: datetime | None = None
    ended_at: datetime | None = None
    error: StepError | None = None


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One step of one execution, for one item where it is inside a `forEach`."""

    id: str
    step: str
    state: StepState
    created_at: datetime
    scope: "StepScope"
    attempts: tuple[RunAttempt, ...] = ()
    outputs: Mapping[str, JsonValue] = field(default_factory=dict)
    error: StepError | None = None
    wait: Wait | None = None
    retry_at: datetime | None = None
    """When a run that is RETRYING is submitted again."""
    due_at: datetime | None = None
    """When its attempt has taken too long."""
    ended_at: datetime | None = None
    items: tuple[JsonValue, ...] | None = None
    """Of a `forEach`."""
    begun: int = 0
    """How many items have begun."""
    open: frozenset[int] = frozenset()
    """The numbers of the items that have begun and not ended."""
    branch: str | None = None
    """The case that a `switch` has chosen."""
    loses: bool = False
    """Whether a step inside it has failed, so that no more of them begin."""
    kept: bool = False
    """Whether a rerun has taken it over, as it ended in the execution before."""

    @property
    def attempt(self) -> RunAttempt | None:
        """The newest attempt."""
        return self.attempts[-1] if self.attempts else None


@dataclass(frozen=True, slots=True)
class StepScope:
    """Where task runs stand side by side: in the execution itself, or inside another task run."""

    phase: Phase = Phase.STEPS
    parent: str = ""
    """The id of the task run that they are inside of; empty: the execution's own graph."""
    item: int | None = None
    """The number of the `forEach`'s item."""

    def run_id(self, execution: str, step: Step) -> str:
        """Return the id of a step's task run: the same whoever works it out, and how often."""
        place = "\x1f".join((execution, self.phase, self.parent, str(self.item), step.name))
        return hashlib.blake2b(place.encode(), digest_size=_ID_BYTES).hexdigest()


@dataclass(frozen=True, slots=True)
class RunFailure:
    """A step that failed for good, as the end of the execution names it."""

    run: str
    step: str
    error: StepError
    at: datetime


@dataclass(frozen=True, slots=True)
class RerunOf:
    """Which execution a rerun begins anew, and how that was asked for."""

    execution: str
    first: str | None = None
    """The step that begins anew; None: what was not done."""
    latest: bool = False
    """Whether it runs by its flow's newest version, and not by that of the execution before."""
    force: bool = False
    """Whether steps that are others now may be kept."""


@dataclass(frozen=True)
class Execution:
    """One run of a flow.  `version` counts the inputs that changed it, from 1 on."""

    id: str
    plan: FlowPlan
    inputs: Mapping[str, JsonValue]
    created_at: datetime
    version: int = 0
    state: ExecutionState = ExecutionState.CREATED
    phase: Phase = Phase.STEPS
    trigger: Mapping[str, JsonValue] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    parent: str | None = None
    """`<execution>/<task run>/<attempt>` of the subflow step that waits for this one."""
    depth: int = 0
    gate: str | None = None
    """The gate in which it holds a slot, or waits for one."""
    runs: Mapping[str, TaskRun] = field(default_factory=dict)
    failures: tuple[RunFailure, ...] = ()
    loses: bool = False
    """Whether a step of the phase has failed, so that no more of them begin."""
    failed: bool = False
    """Whether a phase before has failed."""
    killed: bool = False
    outputs: Mapping[str, JsonValue] = field(default_factory=dict)
    began_at: datetime | None = None
    ended_at: datetime | None = None
    paused_at: datetime | None = None
    """When it was paused; None: it is not."""
    due_at: datetime | None = None
    """When its timeout is over."""
    warned_at: datetime | None = None
    """When it had taken longer than its flow's `warnAfter`; None: it has not."""
    events: int = 0
    """The number of its newest event."""
    rerun: RerunOf | None = None
    """None: it is no rerun."""

    @property
    def flow(self) -> str:
        """The name of its flow."""
        return self.plan.flow

    @property
    def started_by(self) -> str:
        """What started it: the type of its trigger, `subflow` or `rerun`."""
        if self.rerun is not None:
            return "rerun"
        return "subflow" if self.parent is not None else str(self.trigger.get("type", "request"))

    @property
    def trigger_name(self) -> str | None:
        """The name of the trigger that started it; None: something else did, as a rerun."""
        name = self.trigger.get("name")
        own = self.rerun is None and self.parent is None
        return name if own and isinstance(name, str) else None

    @property
    def error(self) -> str:
        """The first step that failed for good, and why, for lists; empty: none has."""
        first = self.failures[0] if self.failures else None
        return "" if first is None else f"{first.step}: {first.error.message}"
