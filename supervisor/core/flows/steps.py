"""The steps of a flow as they are written: fields of every step, and those of each type."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from supervisor.core.executions.plan import RUNS_MAX, OnError, OnLost
from supervisor.core.values.field_types import Duration, LongDuration, Text, Whole
from tasks.contract.wire import Wire

Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
"""Of a step or an input: letters, digits and _, for it is used in expressions."""
Expression = Annotated[str, Field(strict=True, min_length=1)]
"""CEL without `${ }` around it."""


class RetryDocument(Wire):
    """How often a step that failed is tried again."""

    attempts: Annotated[Whole, Field(ge=1, le=100)] = 1
    backoff: LongDuration = timedelta(seconds=10)
    max: LongDuration = timedelta(minutes=5)
    errors: tuple[Text, ...] = ()


class StepFields(Wire):
    """The fields of every step."""

    name: Name
    after: tuple[Name, ...] = ()
    if_: Expression | None = Field(default=None, alias="if")
    on_error: OnError = OnError.FAIL


class CallFields(StepFields):
    """The fields of every step that a runner makes."""

    retry: RetryDocument | None = None
    timeout: LongDuration | None = None
    queue_timeout: LongDuration | None = None
    on_lost: OnLost | None = None


class NoopStep(CallFields):
    """Does nothing, by the whole path of a call."""

    type: Literal["noop"]


class HttpStep(CallFields):
    """Calls a server."""

    type: Literal["http"]
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: Text
    headers: dict[str, JsonValue] = Field(default_factory=dict)
    body: JsonValue = None
    idempotent: bool = False
    """Whether a repeat does no harm: then a lost attempt is tried again."""


class SetStep(StepFields):
    """Works values out for later steps."""

    type: Literal["set"]
    values: dict[Name, JsonValue]


class FailStep(StepFields):
    """Ends as FAILED."""

    type: Literal["fail"]
    message: Text


class SleepStep(StepFields):
    """Waits for a duration, or for as many seconds as an expression gives."""

    type: Literal["sleep"]
    duration: Duration | None = None
    seconds: Text | None = None


class ApproveStep(StepFields):
    """Waits for the answer of a person."""

    type: Literal["approve"]
    question: Text
    timeout: LongDuration | None = None


class SubflowStep(StepFields):
    """Starts another flow, and waits for its end."""

    type: Literal["subflow"]
    flow: Text
    inputs: dict[str, JsonValue] = Field(default_factory=dict)
    retry: RetryDocument | None = None
    timeout: LongDuration | None = None


class ParallelStep(StepFields):
    """Holds steps that begin side by side."""

    type: Literal["parallel"]
    steps: tuple["StepDocument", ...] = Field(min_length=1)


class SwitchStep(StepFields):
    """Runs the steps of one case."""

    type: Literal["switch"]
    value: Expression
    cases: dict[str, tuple["StepDocument", ...]] = Field(min_length=1)
    default: tuple["StepDocument", ...] = ()


class ForEachStep(StepFields):
    """Runs its steps for each item of a list."""

    type: Literal["forEach"]
    items: list[JsonValue] | Text
    steps: tuple["StepDocument", ...] = Field(min_length=1)
    concurrency: Annotated[Whole, Field(ge=1, le=RUNS_MAX)] = 1


StepDocument = Annotated[
    NoopStep
    | HttpStep
    | SetStep
    | FailStep
    | SleepStep
    | ApproveStep
    | SubflowStep
    | ParallelStep
    | SwitchStep
    | ForEachStep,
    Field(discriminator="type"),
]
STEP_TYPES: dict[str, type[StepFields]] = {
    "noop": NoopStep,
    "http": HttpStep,
    "set": SetStep,
    "fail": FailStep,
    "sleep": SleepStep,
    "approve": ApproveStep,
    "subflow": SubflowStep,
    "parallel": ParallelStep,
    "switch": SwitchStep,
    "forEach": ForEachStep,
}
"""Type as it is written -> its fields."""
for _model in (ParallelStep, SwitchStep, ForEachStep):
    _model.model_rebuild()
