"""A flow as it is written, and the values that its inputs take."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue

from supervisor.core.executions.plan import KILL_GRACE, WhenFull
from supervisor.core.flows.artifacts import reference_of
from supervisor.core.flows.steps import FlowName, Name, StepDocument
from supervisor.core.flows.triggers import TriggerDocument
from supervisor.core.values.errors import FieldError, InvalidInputs
from supervisor.core.values.field_types import LongDuration, Text, Whole, nearest, shown
from tasks.contract.wire import Wire


class InputType(StrEnum):
    """What an input holds.  A date is `2026-11-25`, a datetime ISO 8601 with its zone."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    LIST = "list"
    OBJECT = "object"


class InputDocument(Wire):
    """One input.  Without a default it has to be given."""

    name: Name
    type: InputType = InputType.STRING
    default: JsonValue = None
    required: bool = True
    description: Text = ""


class ConcurrencyDocument(Wire):
    """How many executions run at once."""

    limit: Annotated[Whole, Field(ge=1, le=1_000)]
    key: Text | None = None
    when_full: WhenFull = WhenFull.QUEUE


class FlowDocument(Wire):
    """A flow."""

    flow: FlowName
    description: Text = ""
    labels: dict[str, Text] = Field(default_factory=dict)
    inputs: tuple[InputDocument, ...] = ()
    triggers: tuple[TriggerDocument, ...] = ()
    steps: tuple[StepDocument, ...] = Field(min_length=1)
    on_failure: tuple[StepDocument, ...] = ()
    finally_: tuple[StepDocument, ...] = Field(default=(), alias="finally")
    outputs: dict[Name, JsonValue] = Field(default_factory=dict)
    concurrency: ConcurrencyDocument | None = None
    timeout: LongDuration | None = None
    warn_after: LongDuration | None = None
    kill_grace: LongDuration = KILL_GRACE


def bind_inputs(flow: FlowDocument, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return name of each input -> its value: the one that is given, else the default.

    Raises:
        InvalidInputs: one is missing, unknown, or of another type.
    """
    return bind_values(flow.flow, flow.inputs, given)


def bind_values(
    flow: str,
    inputs: Sequence[InputDocument],
    given: Mapping[str, JsonValue],
    *,
    from_steps: bool = False,
) -> dict[str, JsonValue]:
    """Return name of each input -> its value, as `bind_inputs`; `flow`: the name for messages.

    `from_steps`: outputs of steps may be among the values, so that a large one is a reference.

    Raises:
        InvalidInputs: one is missing, unknown, or of another type.
    """
    known = {one.name: one for one in inputs}
    errors = [
        FieldError(f"/inputs/{name}", f"{shown(name)} is no input of {flow}", _meant(name, known))
        for name in given
        if name not in known
    ]
    values: dict[str, JsonValue] = {}
    for name, one in known.items():
        value = given.get(name, one.default)
        if value is None:
            if one.required:
                errors.append(
                    FieldError(f"/inputs/{name}", f"{name} is required", f"give a {one.type}")
                )
            values[name] = None
        elif not (from_steps and _is_large(one.type, value)) and (wrong := misfit(one.type, value)):
            errors.append(FieldError(f"/inputs/{name}", *wrong))
        else:
            values[name] = value
    if errors:
        raise InvalidInputs(tuple(errors))
    return values


def misfit(kind: InputType, value: JsonValue) -> tuple[str, str] | None:
    """Return why a value is none of a type, and what to do; None: it is one."""
    if _fits(kind, value):
        return None
    return f"{shown(value)} is no {kind}", _HINTS.get(kind, f"give a {kind}")


_LARGE = {InputType.STRING, InputType.LIST, InputType.OBJECT}
_HINTS = {InputType.DATE: "write 2026-11-25", InputType.DATETIME: "write 2026-11-25T04:00:00Z"}


def _meant(name: str, known: Mapping[str, InputDocument]) -> str:
    close = nearest(name, known)
    return f"did you mean {close}?" if close else f"its inputs are {', '.join(known) or 'none'}"


def _fits(kind: InputType, value: JsonValue) -> bool:
    match kind:
        case InputType.STRING:
            return isinstance(value, str)
        case InputType.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool)
        case InputType.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case InputType.BOOLEAN:
            return isinstance(value, bool)
        case InputType.LIST:
            return isinstance(value, list)
        case InputType.OBJECT:
            return isinstance(value, dict)
        case InputType.DATE:
            return isinstance(value, str) and _reads(date.fromisoformat, value)
        case InputType.DATETIME:
            return isinstance(value, str) and _has_zone(value)


def _is_large(kind: InputType, value: JsonValue) -> bool:
    """Whether a value refers to a large output that may be of this type."""
    return kind in _LARGE and reference_of(value) is not None


def _reads(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _has_zone(text: str) -> bool:
    return _reads(datetime.fromisoformat, text) and datetime.fromisoformat(text).tzinfo is not None
