"""The triggers of a flow as they are written, and the rules between their fields."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from supervisor.core.executions.expressions import (
    ExpressionFailed,
    Expressions,
    Known,
    parts_of,
)
from supervisor.core.flows.slots import (
    CATCH_UP_MAX,
    BadSchedule,
    Misfire,
    Schedule,
    check_schedule,
)
from supervisor.core.flows.steps import Name
from supervisor.core.flows.visible import trigger_variables
from supervisor.core.spec.problems import SpecProblems
from supervisor.core.values.field_types import Text, Whole, nearest, pointer_part
from tasks.contract.wire import Wire

__all__ = [
    "TRIGGERS_MAX",
    "TRIGGER_TYPES",
    "PublishedTrigger",
    "ScheduleTrigger",
    "TriggerDocument",
    "TriggerFields",
    "WebhookTrigger",
    "check_triggers",
    "read_trigger",
    "written_trigger",
]

TRIGGERS_MAX = 20
"""Triggers of one flow."""
_OF_ALL = ("type", "name", "by")
"""What expressions read of every trigger."""
_CHECKED_FROM = datetime(2026, 1, 1, tzinfo=UTC)
"""A schedule that fires at all fires within 50 years after this."""


class TriggerFields(Wire):
    """The fields of every trigger."""

    name: Name
    inputs: dict[str, JsonValue] = Field(default_factory=dict)
    """Inputs of the executions that it starts; expressions read `trigger`."""
    paused: bool = False
    """How it begins; from then on people pause and resume it."""


class ScheduleTrigger(TriggerFields):
    """Fires at the slots of a cron."""

    type: Literal["schedule"]
    cron: Text
    timezone: Text = "UTC"
    misfire: Misfire = Misfire.ONCE
    catch_up: Annotated[Whole, Field(ge=1, le=CATCH_UP_MAX)] = 100

    @property
    def schedule(self) -> Schedule:
        """When it fires."""
        return Schedule(self.cron, self.timezone, self.misfire, self.catch_up)


class PublishedTrigger(TriggerFields):
    """Fires at the publishes of a table or of a supervisor."""

    type: Literal["published"]
    table: Text | None = None
    supervisor: Text | None = None
    mode: Literal["each", "coalesced"] = "each"
    """An execution per publish, or one for all that came while the one before ran."""

    def wants(self, table: str, supervisor: str) -> bool:
        """Whether it fires at a publish of this supervisor into this table."""
        return self.table == table if self.supervisor is None else self.supervisor == supervisor


class WebhookTrigger(TriggerFields):
    """Fires at requests that know its secret."""

    type: Literal["webhook"]
    secret: Annotated[str, Field(strict=True, pattern=r"^TIDEGATE_SECRET_[A-Za-z0-9_]{1,100}$")]
    """The variable of the overlords that holds it."""
    auth: Literal["hmac", "token"] = "hmac"


TriggerDocument = Annotated[
    ScheduleTrigger | PublishedTrigger | WebhookTrigger, Field(discriminator="type")
]
TRIGGER_TYPES: dict[str, type[TriggerFields]] = {
    "schedule": ScheduleTrigger,
    "published": PublishedTrigger,
    "webhook": WebhookTrigger,
}
"""Type as it is written -> its fields."""
_FORM: TypeAdapter[ScheduleTrigger | PublishedTrigger | WebhookTrigger] = TypeAdapter(
    TriggerDocument
)


def read_trigger(text: str) -> ScheduleTrigger | PublishedTrigger | WebhookTrigger:
    """Return the trigger that `written_trigger` has written.

    Raises:
        pydantic.ValidationError: another release has written it.
    """
    return _FORM.validate_json(text)


def written_trigger(trigger: TriggerFields) -> str:
    """Return a trigger as JSON: equal ones are equal texts."""
    return trigger.to_json()


def check_triggers(
    notes: SpecProblems,
    language: Expressions,
    triggers: tuple[TriggerFields, ...],
    inputs: Mapping[str, bool],
) -> None:
    """Note what is wrong with the triggers of a flow.

    `inputs`: name of each input of the flow -> whether it has to be given.
    """
    names: set[str] = set()
    if len(triggers) > TRIGGERS_MAX:
        notes.refuse("/triggers", f"a flow has at most {TRIGGERS_MAX} triggers")
    for at, one in enumerate(triggers[:TRIGGERS_MAX]):
        pointer = f"/triggers/{at}"
        if one.name in names:
            notes.refuse(f"{pointer}/name", f"{one.name} is there twice")
        names.add(one.name)
        _check_inputs(notes, language, one, pointer, inputs)
        match one:
            case ScheduleTrigger():
                _check_schedule(notes, one, pointer)
            case PublishedTrigger():
                if (one.table is None) == (one.supervisor is None):
                    hint = "table: orders"
                    notes.refuse(pointer, "it has a table or a supervisor, and not both", hint)
            case _:
                pass


def _check_schedule(notes: SpecProblems, trigger: ScheduleTrigger, pointer: str) -> None:
    try:
        check_schedule(trigger.schedule, _CHECKED_FROM)
    except BadSchedule as error:
        notes.refuse(f"{pointer}/{error.part}", str(error), error.hint)


def _check_inputs(
    notes: SpecProblems,
    language: Expressions,
    trigger: TriggerFields,
    pointer: str,
    inputs: Mapping[str, bool],
) -> None:
    check = partial(language.check, variables=_variables_of(trigger))
    for name, value in trigger.inputs.items():
        place = f"{pointer}/inputs/{pointer_part(name)}"
        if name not in inputs:
            close = nearest(name, inputs)
            hint = f"did you mean {close}?" if close else f"its inputs are {', '.join(inputs)}"
            notes.refuse(place, f"{name} is no input of the flow", hint)
        _check_value(notes, check, value, place)
    if isinstance(trigger, WebhookTrigger) and not trigger.inputs:
        return  # its body has them
    for name, required in inputs.items():
        if required and name not in trigger.inputs:
            notes.refuse(f"{pointer}/inputs", f"the input {name} has no default: give it here")


def _check_value(
    notes: SpecProblems, check: Callable[[str], None], value: JsonValue, pointer: str
) -> None:
    match value:
        case str():
            try:
                for part, computed in parts_of(value):
                    if computed:
                        check(part)
            except ExpressionFailed as error:
                notes.refuse(pointer, str(error), error.hint)
        case list():
            for at, item in enumerate(value):
                _check_value(notes, check, item, f"{pointer}/{at}")
        case dict():
            for name, item in value.items():
                _check_value(notes, check, item, f"{pointer}/{pointer_part(name)}")
        case _:
            pass


def _variables_of(trigger: TriggerFields) -> Known:
    match trigger:
        case ScheduleTrigger():
            return trigger_variables("schedule", (*_OF_ALL, "slot", "local", "day", "passed"))
        case PublishedTrigger():
            return trigger_variables("published", (*_OF_ALL, "publishes", "rows", "publish"))
        case _:
            return trigger_variables("webhook", (*_OF_ALL, "body"))
