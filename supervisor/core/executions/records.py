"""Executions, gates and inputs as records: what an engine stores, and reads back after a crash.

    e/<id>            the execution without its plan and task runs
    e/<id>/plan       the compiled flow, written once
    e/<id>/r/<run>    one task run
    e/<id>/r/<run>/items   what a `forEach` goes through, written once
    g/<name>          a gate that somebody holds or waits for

An input that is worked in changes the first and a few task runs: what is written does not grow with
the execution.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_core import from_json

from supervisor.core.executions.entities import Execution, TaskRun
from supervisor.core.executions.gates import Gate
from supervisor.core.executions.inputs import ExecutionInput, GateInput, Outcome
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.reduced import ExecutionEvent, StepCall

T = TypeVar("T")

__all__ = [
    "CALL_FORM",
    "EVENT_FORM",
    "GATE_INPUT_FORM",
    "INPUT_FORM",
    "OUTCOME_FORM",
    "RECORD_VERSION",
    "NewerRecord",
    "RecordForm",
    "Restored",
    "StateRecord",
    "UnreadableExecution",
    "UnreadableRecord",
    "gate_record",
    "head_record",
    "items_record",
    "overlaid",
    "plan_record",
    "restore",
    "run_record",
]

RECORD_VERSION = 1
"""Of the shape of records.  A reader takes its own and lower ones."""

_EXECUTION = TypeAdapter(Execution)
_PLAN = TypeAdapter(FlowPlan)
_RUN = TypeAdapter(TaskRun)
_GATE = TypeAdapter(Gate)
_LIST: TypeAdapter[dict[str, list[JsonValue]]] = TypeAdapter(dict[str, list[JsonValue]])
_APART = {"plan", "runs"}
"""What has records of its own."""
_OF_ITEMS = "/items"
_ITEMS = {"items"}
"""What a task run that has items leaves to a record of its own: it is written for each of them."""


class UnreadableRecord(Exception):
    """A record is no JSON, or not of its kind."""


class UnreadableExecution(UnreadableRecord):
    """A record of an execution that is stored cannot be read."""

    def __init__(self, execution: str, why: str) -> None:
        super().__init__(f"execution {execution}: {why}")
        self.execution = execution


class NewerRecord(Exception):
    """A record was written by a newer release: it is kept for one that reads it."""

    def __init__(self, version: int) -> None:
        """Name the version that a reader needs."""
        super().__init__(f"the record needs version {version}, this release reads {RECORD_VERSION}")
        self.version = version


@dataclass(frozen=True, slots=True)
class StateRecord:
    """One record of what is kept; `value` is JSON, None: the record is over."""

    key: str
    value: bytes | None


@dataclass
class Restored:
    """What records give: entities by id, and what could not be read, by the entity's key."""

    executions: dict[str, Execution] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    """`e/<id>` or `g/<name>` -> why."""


def head_record(execution: Execution) -> StateRecord:
    """Return the record of an execution without its plan and task runs."""
    return StateRecord(f"e/{execution.id}", _write(_EXECUTION, execution, _APART))


def plan_record(execution: Execution) -> StateRecord:
    """Return the record of its plan, which never changes."""
    return StateRecord(f"e/{execution.id}/plan", _write(_PLAN, execution.plan))


def run_record(execution: Execution, run: str) -> StateRecord:
    """Return the record of one of its task runs, without its items if it has any."""
    kept = execution.runs[run]
    apart = None if kept.items is None else _ITEMS
    return StateRecord(f"e/{execution.id}/r/{run}", _write(_RUN, kept, apart))


def items_record(execution: Execution, run: str) -> StateRecord:
    """Return the record of the items of a task run, which never change."""
    items = list(execution.runs[run].items or ())
    return StateRecord(f"e/{execution.id}/r/{run}/items", _write(_LIST, {"items": items}))


def gate_record(gate: Gate) -> StateRecord:
    """Return the record of a gate; of one that nobody needs it ends."""
    return StateRecord(f"g/{gate.name}", None if gate.at_rest else _write(_GATE, gate))


def restore(records: Iterable[StateRecord]) -> Restored:
    """Build entities from the newest record of each key, in any order.

    An entity with a record that cannot be read is set aside; its neighbours are built.

    Raises:
        NewerRecord: a record needs a newer release; nothing may be worked in without it.
    """
    restored = Restored()
    parts: dict[str, dict[str, Mapping[str, object]]] = {}
    for record in records:
        if record.value is None:
            continue
        kind, _, rest = record.key.partition("/")
        name = rest if kind == "g" else rest.partition("/")[0]
        entity = f"{kind}/{name}"
        try:
            parts.setdefault(entity, {})[record.key.removeprefix(entity)] = _read(record.value)
        except UnreadableRecord as error:
            restored.unreadable[entity] = str(error)
    for entity, part in parts.items():
        if entity not in restored.unreadable:
            _build(entity, part, restored)
    return restored


def overlaid(stored: Execution | None, records: Iterable[StateRecord]) -> Execution:
    """Lay newer records of one execution over what is stored of it; one of them is its head.

    Only what the records hold is read: the plan and the other task runs are taken over as they are.

    Raises:
        UnreadableRecord: a record is none of its kind, or one is missing.
        NewerRecord: a newer release has written one of them.
    """
    parts = {
        "/".join(record.key.split("/", 2)[2:]): _read(record.value)
        for record in records
        if record.value is not None
    }
    try:
        plan = parts["plan"] if stored is None or "plan" in parts else stored.plan
        kept = {} if stored is None else stored.runs
        runs = {
            key.removeprefix("r/"): _with_items(key, part, _known_items(key, kept) | parts)
            for key, part in parts.items()
            if key.startswith("r/") and not key.endswith(_OF_ITEMS)
        }
        return _EXECUTION.validate_python({**parts[""], "plan": plan, "runs": {**kept, **runs}})
    except KeyError as error:
        raise UnreadableRecord(f"its record {error.args[0] or 'head'} is missing") from error
    except ValidationError as error:
        raise UnreadableRecord(_line(error)) from error


def _build(entity: str, part: Mapping[str, Mapping[str, object]], restored: Restored) -> None:
    name = entity[2:]
    try:
        if entity.startswith("g/"):
            restored.gates[name] = _GATE.validate_python(part[""])
            return
        head, plan = part[""], part["/plan"]
        runs = {
            key.removeprefix("/r/"): _with_items(key, run, part)
            for key, run in part.items()
            if key.startswith("/r/") and not key.endswith(_OF_ITEMS)
        }
        restored.executions[name] = _EXECUTION.validate_python({**head, "plan": plan, "runs": runs})
    except KeyError as error:
        restored.unreadable[entity] = f"its record {entity}{error.args[0]} is missing"
    except ValidationError as error:
        restored.unreadable[entity] = _line(error)


def _with_items(
    key: str, run: Mapping[str, object], part: Mapping[str, Mapping[str, object]]
) -> Mapping[str, object]:
    return run if "items" in run else {**run, **part[f"{key}{_OF_ITEMS}"]}


def _known_items(key: str, kept: Mapping[str, TaskRun]) -> dict[str, Mapping[str, object]]:
    """Return the part of the items of a task run that is stored; nothing if it has none."""
    run = kept.get(key.removeprefix("r/"))
    return {} if run is None or run.items is None else {f"{key}{_OF_ITEMS}": {"items": run.items}}


def _write(adapter: TypeAdapter[T], value: T, exclude: set[str] | None = None) -> bytes:
    return b'{"v":%d,' % RECORD_VERSION + adapter.dump_json(value, exclude=exclude)[1:]


def _read(value: bytes) -> dict[str, object]:
    """Return a record as a JSON object of the version that this release knows."""
    try:
        body: object = from_json(value)
    except ValueError as error:
        raise UnreadableRecord(f"it is no JSON: {error}") from error
    if not isinstance(body, dict) or not isinstance(version := body.pop("v", None), int):
        raise UnreadableRecord("it has no version")
    if version > RECORD_VERSION:
        raise NewerRecord(version)
    return body


def _line(error: ValidationError) -> str:
    """Return the first problem in one line, without the value, which may be large or secret."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


@dataclass(frozen=True)
class RecordForm(Generic[T]):
    """What is written and read on its own, not as a part of an entity."""

    adapter: TypeAdapter[T]

    def write(self, value: T) -> bytes:
        """Return a value as JSON."""
        return _write(self.adapter, value)

    def read(self, value: bytes) -> T:
        """Read a value.

        Raises:
            UnreadableRecord: it is none of this form.
            NewerRecord: a newer release has written it.
        """
        try:
            return self.adapter.validate_python(_read(value))
        except ValidationError as error:
            raise UnreadableRecord(_line(error)) from error


INPUT_FORM: RecordForm[ExecutionInput] = RecordForm(TypeAdapter(ExecutionInput))
GATE_INPUT_FORM: RecordForm[GateInput] = RecordForm(TypeAdapter(GateInput))
CALL_FORM = RecordForm(TypeAdapter(StepCall))
EVENT_FORM = RecordForm(TypeAdapter(ExecutionEvent))
OUTCOME_FORM: RecordForm[Outcome] = RecordForm(TypeAdapter(Outcome))
