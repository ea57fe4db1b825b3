"""Reading of a flow, with all errors at once: each with its JSON pointer and what to do.

document ─► names that are not known ─► fields ─► steps as a graph, expressions ─► FlowDocument
"""

import json
from collections.abc import Mapping

from pydantic import BaseModel

from supervisor.core.executions.expressions import Expressions
from supervisor.core.flows.checks import FlowChecks
from supervisor.core.flows.document import ConcurrencyDocument, FlowDocument, InputDocument
from supervisor.core.flows.steps import STEP_TYPES, RetryDocument
from supervisor.core.flows.triggers import TRIGGER_TYPES
from supervisor.core.spec.problems import SpecProblems
from supervisor.core.values.errors import FieldError, InvalidFlow
from supervisor.core.values.field_types import nearest, pointer_part, shown

__all__ = ["FLOW_BYTES_MAX", "read_flow", "read_stored"]

FLOW_BYTES_MAX = 256 * 1024
"""Of a flow, as JSON without blanks."""
_HINTS = {
    "flow": "name the flow: letters, digits, `.`, `_`, `-`",
    "name": "name it: letters, digits and `_`",
    "type": f"use one of {', '.join(STEP_TYPES)}",
    "steps": "give it steps: [{name: pack, type: noop}]",
    "url": "write url: https://hooks.example/orders",
    "limit": "say how many executions may run at once",
    "cases": "give the steps of each value",
    "items": 'give a list, or an expression: "${ inputs.days }"',
    "supervisor": "name the supervisor",
    "table": "name the table",
}
"""Field that is missing -> what to do."""
_GRAPHS = ("steps", "onFailure", "finally")


def read_flow(document: object, language: Expressions) -> FlowDocument:
    """Return a flow that can be applied.

    Raises:
        InvalidFlow: it has errors.
    """
    _check_size(document)
    notes = SpecProblems(document, hints=_HINTS)
    flow = _fields(notes, document)
    if flow is not None and not notes.errors:
        FlowChecks(notes, language, flow).check()
    if flow is None or notes.errors:
        raise InvalidFlow(notes.errors)
    return flow


def read_stored(document: object) -> FlowDocument:
    """Return a flow that was checked when it was applied: its rules are not looked at again.

    So a flow that an older release has taken goes on.

    Raises:
        InvalidFlow: this release does not know its fields.
    """
    notes = SpecProblems(document, hints=_HINTS)
    flow = _fields(notes, document)
    if flow is None or notes.errors:
        raise InvalidFlow(notes.errors)
    return flow


def _check_size(document: object) -> None:
    try:
        size = len(json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode())
    except (TypeError, ValueError):
        return  # no JSON: the reading of its fields says what is wrong
    if size > FLOW_BYTES_MAX:
        message = f"the flow has {size} bytes, at most {FLOW_BYTES_MAX} (256 KiB) are allowed"
        hint = "give long lists as inputs, and put steps into a subflow"
        raise InvalidFlow([FieldError("", message, hint)])


def _fields(notes: SpecProblems, document: object) -> FlowDocument | None:
    """Return the fields of a flow; None: their errors are noted."""
    if not isinstance(document, Mapping):
        raise InvalidFlow([FieldError("", "a flow must be an object", "{flow: ..., steps: [...]}")])
    known = _known(notes, document, FlowDocument, "")
    _known_within(notes, known, "concurrency", ConcurrencyDocument, "")
    inputs = known.get("inputs")
    if isinstance(inputs, list):
        known["inputs"] = [
            _known(notes, one, InputDocument, f"/inputs/{at}") if isinstance(one, Mapping) else one
            for at, one in enumerate(inputs)
        ]
    for graph in _GRAPHS:
        known = _with_steps(notes, known, graph, "")
    known = _with_triggers(notes, known)
    return notes.validate(FlowDocument, known)


def _known(
    notes: SpecProblems, document: Mapping[str, object], model: type[BaseModel], pointer: str
) -> dict[str, object]:
    """Return a document without the fields that its model does not have; each is noted."""
    fields = [field.alias or name for name, field in model.model_fields.items()]
    for name in document:
        if name not in fields:
            close = nearest(str(name), fields)
            hint = f"did you mean {close}?" if close else f"known are {', '.join(fields)}"
            place = f"{pointer}/{pointer_part(str(name))}"
            notes.refuse(place, f"{shown(name)} is not known there", hint)
    return {name: value for name, value in document.items() if name in fields}


def _known_within(
    notes: SpecProblems, known: dict[str, object], name: str, model: type[BaseModel], pointer: str
) -> None:
    """Leave unknown names out of an object inside; each is noted."""
    inner = known.get(name)
    if isinstance(inner, Mapping):
        known[name] = _known(notes, inner, model, f"{pointer}/{name}")


def _with_steps(
    notes: SpecProblems, document: dict[str, object], name: str, pointer: str
) -> dict[str, object]:
    steps = document.get(name)
    if not isinstance(steps, list):
        return document
    read = [_step(notes, step, f"{pointer}/{name}/{at}") for at, step in enumerate(steps)]
    return {**document, name: read}


def _with_triggers(notes: SpecProblems, document: dict[str, object]) -> dict[str, object]:
    triggers = document.get("triggers")
    if not isinstance(triggers, list):
        return document
    read: list[object] = []
    for at, one in enumerate(triggers):
        model = TRIGGER_TYPES.get(str(one.get("type"))) if isinstance(one, Mapping) else None
        if model is None or not isinstance(one, Mapping):
            read.append(one)
        else:
            read.append(_known(notes, one, model, f"/triggers/{at}"))
    return {**document, "triggers": read}


def _step(notes: SpecProblems, step: object, pointer: str) -> object:
    model = STEP_TYPES.get(str(step.get("type"))) if isinstance(step, Mapping) else None
    if model is None or not isinstance(step, Mapping):
        return step  # the reading of its fields says what is wrong
    known = _known(notes, step, model, pointer)
    _known_within(notes, known, "retry", RetryDocument, pointer)
    for inner in ("steps", "default"):
        known = _with_steps(notes, known, inner, pointer)
    cases = known.get("cases")
    if isinstance(cases, dict):
        for case in cases:
            cases = _with_steps(notes, cases, case, f"{pointer}/cases")
        known["cases"] = cases
    return known
