"""The steps of a flow as they are written: fields of every step, and those of each type."""

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from supervisor.core.executions.plan import RUNS_MAX, OnError, OnLost
from supervisor.core.values.field_types import Duration, LongDuration, Text, Whole, wrong
from tasks.contract.wire import Wire

Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
"""Of a step or an input: letters, digits and _, for it is used in expressions."""
FlowName = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
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


class VerbFields(CallFields):
    """A verb of the product, carried out for the owner of the flow."""

    type: str

    def arguments(self) -> dict[str, JsonValue]:
        """Return the fields of the verb alone, as they are written, without those left out."""
        own = set(type(self).model_fields) - set(CallFields.model_fields) - {"type"}
        fields = self.model_dump(mode="json", by_alias=True, include=own)
        return {name: value for name, value in fields.items() if value is not None}


class ChangingVerb(VerbFields):
    """A verb that changes something."""

    dry_run: bool = False
    """Tell what it would do, and do nothing."""


class ForeseenVerb(ChangingVerb):
    """A verb whose dry run gives a digest."""

    expect: Text | None = None
    """The digest of a dry run: it does just that, or nothing."""


class SupervisorVerb(ForeseenVerb):
    """A verb on one supervisor."""

    supervisor: Text
    if_match: Text | None = None
    """The tag that its newest version has to have."""
    wait: bool = True
    """Whether the step ends only once the change is in effect."""


class SuspendStep(SupervisorVerb):
    """Lets a supervisor publish what it has read, and begin nothing new."""

    type: Literal["suspend"]


class ResumeStep(SupervisorVerb):
    """Lets a supervisor go on at its committed offsets."""

    type: Literal["resume"]
    wait: bool = False


class TerminateStep(SupervisorVerb):
    """Ends a supervisor: it publishes what it has read."""

    type: Literal["terminate"]


class ApplyStep(ChangingVerb):
    """Stores a spec."""

    type: Literal["apply"]
    spec: dict[str, JsonValue] | Text
    if_match: Text | None = None
    wait: bool = False


class EarlyHandoffStep(ForeseenVerb):
    """Lets groups publish what they have read, before their time."""

    type: Literal["handoff"]
    supervisor: Text
    groups: list[JsonValue] | Text | None = None
    """None: all."""
    wait: bool = True


class ResetStep(ForeseenVerb):
    """Moves the committed offsets: to given ones, or to an end of the log."""

    type: Literal["reset"]
    supervisor: Text
    to: Literal["earliest", "latest"] | None = None
    offsets: dict[str, JsonValue] | Text | None = None
    wait: bool = False

    @model_validator(mode="after")
    def _goes_to_one_place(self) -> Self:
        if self.to is not None and self.offsets is not None:
            raise wrong("give `to` or `offsets`, and not both")
        return self


class ForgetStep(ForeseenVerb):
    """Forgets a terminated supervisor; its table stays."""

    type: Literal["forget"]
    supervisor: Text
    with_reports: bool = False


class MarkUnusedStep(ForeseenVerb):
    """Takes segments out of their table."""

    type: Literal["markUnused"]
    table: Text
    interval: Text | None = None
    segment_ids: list[JsonValue] | Text | None = None

    @model_validator(mode="after")
    def _names_one_of_both(self) -> Self:
        if (self.interval is None) == (self.segment_ids is None):
            raise wrong("give either `interval` or `segmentIds`")
        return self


class CompactStep(ForeseenVerb):
    """Joins the small files of a table, and waits for the new ones."""

    type: Literal["compact"]
    table: Text
    interval: Text | None = None
    target_rows: Whole | Text | None = None
    target_bytes: Whole | Text | None = None
    files_min: Whole | Text | None = None


class BackfillStep(ChangingVerb):
    """Lets a bounded supervisor read ranges that the table does not have, and waits for it."""

    type: Literal["backfill"]
    supervisor: Text
    """Whose spec it reads by; it goes on as it is."""
    ranges: dict[str, JsonValue] | Text | None = None
    """Partition -> {from, to}: offsets, the second one exclusive."""
    from_: Text | None = Field(default=None, alias="from")
    to: Text | None = None
    day: Text | None = None
    """A day in UTC, by the timestamps of Kafka."""
    task_count: Whole | Text | None = None

    @model_validator(mode="after")
    def _names_its_ranges_once(self) -> Self:
        ways = (self.ranges is not None, self.from_ is not None, self.day is not None)
        if sum(ways) != 1 or (self.from_ is None) != (self.to is None):
            raise wrong("give `ranges`, or `from` and `to`, or `day`")
        return self


class WaitForStep(VerbFields):
    """Waits until something is so."""

    type: Literal["waitFor"]
    operation: Text | None = None
    supervisor: Text | None = None
    state: Text | None = None
    """That the supervisor is in."""
    lag_at_most: Whole | Text | None = None
    """Records that it has not read."""
    published: dict[str, JsonValue] | Text | None = None
    """Partition -> the offset up to which all is published; `latest`: all that Kafka holds now."""
    table: Text | None = None
    exported: Text | None = None
    """The format that holds all that is published now."""

    @model_validator(mode="after")
    def _waits_for_one_thing(self) -> Self:
        wishes = (self.state, self.lag_at_most, self.published)
        whole = {
            "operation": self.operation is not None,
            "supervisor": self.supervisor is not None,
            "table": self.table is not None,
        }
        fits = sum(wish is not None for wish in wishes) == int(whole["supervisor"])
        if sum(whole.values()) != 1 or not fits or whole["table"] != (self.exported is not None):
            raise wrong(
                "give `operation`; or `supervisor` and one of `state`, `lagAtMost`, `published`; "
                "or `table` and `exported`"
            )
        return self


class VerifyStep(VerbFields):
    """Proves that each record of the topic is exactly once in the table."""

    type: Literal["verify"]
    supervisor: Text
    strict: bool = False
    """Fail for what is unproven, too."""


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
    flow: FlowName
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
    batch: Annotated[Whole, Field(ge=1, le=RUNS_MAX)] | None = None
    """So many items go to an execution of their own; None: all are of this one."""


StepDocument = Annotated[
    NoopStep
    | HttpStep
    | ApplyStep
    | SuspendStep
    | ResumeStep
    | EarlyHandoffStep
    | ResetStep
    | TerminateStep
    | ForgetStep
    | MarkUnusedStep
    | BackfillStep
    | CompactStep
    | WaitForStep
    | VerifyStep
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
    "apply": ApplyStep,
    "suspend": SuspendStep,
    "resume": ResumeStep,
    "handoff": EarlyHandoffStep,
    "reset": ResetStep,
    "terminate": TerminateStep,
    "forget": ForgetStep,
    "markUnused": MarkUnusedStep,
    "backfill": BackfillStep,
    "compact": CompactStep,
    "waitFor": WaitForStep,
    "verify": VerifyStep,
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
