"""A compiled flow: its steps as a graph, with everything that the reducer needs to know of them.

    steps        pack ─► prove ─► tell        a step begins when all that it comes `after` are done
    on_failure   page                         begins when a step has failed and all others ended
    always       tidy                         begins last, however the steps ended

A plan is part of its execution: a flow that is changed later changes nothing that runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import JsonValue

from supervisor.core.values.tagged import SortedTexts, Tagged

RUNS_MAX = 1_000
"""Task runs of one execution; a `forEach` of more has batches, or fails."""
STEPS_MAX = 200
DEPTH_MAX = 5
"""Of steps within steps, and of executions within executions."""
KILL_GRACE = timedelta(seconds=30)
"""Unless a flow says otherwise."""


class OnError(StrEnum):
    """What follows when a step has failed for good.

    PAUSE: the step waits for a person, who retries or skips it; the other steps go on.
    """

    FAIL = "fail"
    CONTINUE = "continue"
    PAUSE = "pause"


class OnLost(StrEnum):
    """What follows when the runner of an attempt is gone, so that nobody knows how far it came."""

    RETRY = "retry"
    FAIL = "fail"
    ASK = "ask"


class WhenFull(StrEnum):
    """What an execution does when its flow runs as often as it may."""

    QUEUE = "queue"
    CANCEL = "cancel"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class RetryRule:
    """How often a step that failed is tried again, and how long it waits before that."""

    attempts: int = 1
    """All attempts, the first one too."""
    backoff: timedelta = timedelta(seconds=10)
    """Before the second attempt; doubled for each further one."""
    longest: timedelta = timedelta(minutes=5)
    errors: SortedTexts = frozenset()
    """Codes of the errors that are tried again; empty: each that says that it passes."""


@dataclass(frozen=True, slots=True)
class CallWork:
    """A call that a runner makes: a verb of the product, `http`, `verify`, `noop`."""

    verb: str
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)
    """May hold expressions, which are worked out when the step begins."""


@dataclass(frozen=True, slots=True)
class SetWork:
    """Values that later steps read; worked out in place."""

    values: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class FailWork:
    """Ends as FAILED with a message."""

    message: str


@dataclass(frozen=True, slots=True)
class SleepWork:
    """Waits for a duration: seconds, or an expression that gives seconds."""

    seconds: JsonValue


@dataclass(frozen=True, slots=True)
class ApproveWork:
    """Waits for the answer of a person."""

    question: str


@dataclass(frozen=True, slots=True)
class ParallelWork:
    """Steps within a step, a graph of their own."""

    steps: tuple["Step", ...]


@dataclass(frozen=True, slots=True)
class SwitchWork:
    """The steps of one case, chosen by a value; no case and no default: nothing is done."""

    value: str
    cases: Mapping[str, tuple["Step", ...]]
    default: tuple["Step", ...] = ()


@dataclass(frozen=True, slots=True)
class EachWork:
    """The same steps for each item, `concurrency` items at a time."""

    items: JsonValue
    """A list, or an expression that gives one."""
    steps: tuple["Step", ...]
    concurrency: int = 1
    batch: int | None = None
    """So many items go to an execution of their own, and `steps` is one step that waits for it."""

    @property
    def steps_of_item(self) -> tuple["Step", ...]:
        """The steps that are done for an item, here or in another execution."""
        first = self.steps[0].work if self.steps else None
        return first.steps if isinstance(first, BatchWork) else self.steps


@dataclass(frozen=True, slots=True)
class BatchWork:
    """Steps for some items, one item after another, in another execution that is waited for."""

    steps: tuple["Step", ...]


@dataclass(frozen=True, slots=True)
class SubflowWork:
    """Another execution, whose end is waited for."""

    flow: str
    inputs: Mapping[str, JsonValue] = field(default_factory=dict)


Work = Annotated[
    CallWork
    | SetWork
    | FailWork
    | SleepWork
    | ApproveWork
    | ParallelWork
    | SwitchWork
    | EachWork
    | BatchWork
    | SubflowWork,
    Tagged(),
]


def type_of(work: Work) -> str:
    """Return the type of a step as flows write it; of a call its verb."""
    match work:
        case CallWork(verb):
            return verb
        case SetWork():
            return "set"
        case FailWork():
            return "fail"
        case SleepWork():
            return "sleep"
        case ApproveWork():
            return "approve"
        case ParallelWork():
            return "parallel"
        case SwitchWork():
            return "switch"
        case EachWork():
            return "forEach"
        case BatchWork():
            return "batch"
        case SubflowWork():
            return "subflow"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a flow."""

    name: str
    """Unique in its flow."""
    work: Work
    after: tuple[str, ...] = ()
    """Names of steps of the same graph."""
    condition: str | None = None
    """An expression; false: the step is SKIPPED."""
    retry: RetryRule = field(default_factory=RetryRule)
    timeout: timedelta | None = None
    """Of one attempt, from its claim or its wait on."""
    queue_timeout: timedelta | None = None
    """Of one attempt, from its submission to its claim."""
    on_error: OnError = OnError.FAIL
    on_lost: OnLost = OnLost.RETRY


@dataclass(frozen=True, slots=True)
class Concurrency:
    """How many executions of a flow run at once."""

    limit: int
    key: str | None = None
    """An expression over the inputs; executions with other values do not count."""
    when_full: WhenFull = WhenFull.QUEUE


@dataclass(frozen=True, slots=True)
class OuterVariables:
    """What expressions of a batch read of the execution that it is a part of."""

    steps: Mapping[str, JsonValue]
    """Those that had ended when the batch began."""
    execution: JsonValue
    first: int
    """The number of the first item of the batch."""


@dataclass(frozen=True)
class FlowPlan:
    """A compiled flow."""

    flow: str
    version: int
    steps: tuple[Step, ...]
    on_failure: tuple[Step, ...] = ()
    always: tuple[Step, ...] = ()
    outputs: Mapping[str, JsonValue] = field(default_factory=dict)
    """What an execution that ends well gives; may hold expressions."""
    timeout: timedelta | None = None
    warn_after: timedelta | None = None
    kill_grace: timedelta = KILL_GRACE
    """How long a kill waits for a runner, before it waits no more."""
    concurrency: Concurrency | None = None
    outer: OuterVariables | None = None
    """Of a batch of items; None: it is a whole flow."""

    def __post_init__(self) -> None:
        """Index the steps by their names."""
        index = {step.name: step for step in all_steps(self)}
        object.__setattr__(self, "_index", index)

    _index: Mapping[str, Step] = field(init=False, repr=False, compare=False, default_factory=dict)

    def step(self, name: str) -> Step:
        """Return a step by its name, wherever it is."""
        return self._index[name]


def steps_within(work: Work) -> tuple[Step, ...]:
    """Return the steps directly inside a step."""
    match work:
        case ParallelWork(steps) | EachWork(steps=steps):
            return steps
        case SwitchWork(cases=cases, default=default):
            return (*(step for steps in cases.values() for step in steps), *default)
        case _:
            return ()


def all_steps(plan: FlowPlan) -> Iterator[Step]:
    """Go through every step of a plan, those within others too."""
    waiting = [*plan.steps, *plan.on_failure, *plan.always]
    while waiting:
        step = waiting.pop()
        yield step
        waiting.extend(steps_within(step.work))
