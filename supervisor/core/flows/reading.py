"""Reading of a flow, with all errors at once: each with its JSON pointer and what to do.

document ─► names that are not known ─► fields ─► steps as a graph, expressions ─► FlowDocument
"""

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from pydantic import BaseModel, JsonValue

from supervisor.core.executions.expressions import ExpressionFailed, Expressions, parts_of
from supervisor.core.executions.plan import DEPTH_MAX, STEPS_MAX
from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.steps import (
    STEP_TYPES,
    ForEachStep,
    ParallelStep,
    SleepStep,
    StepFields,
    SwitchStep,
)
from supervisor.core.flows.triggers import TRIGGER_TYPES, check_triggers
from supervisor.core.spec.problems import SpecProblems
from supervisor.core.values.errors import FieldError, InvalidFlow
from supervisor.core.values.field_types import nearest, pointer_part, shown

_STEP_OF = re.compile(r"\bsteps\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)")
_GRAPHS = ("steps", "onFailure", "finally")


def read_flow(document: object, language: Expressions) -> FlowDocument:
    """Return a flow.

    Raises:
        InvalidFlow: it has errors.
    """
    notes = SpecProblems(document)
    if not isinstance(document, Mapping):
        raise InvalidFlow([FieldError("", "a flow must be an object", "{flow: ..., steps: [...]}")])
    known = _known(notes, document, FlowDocument, "")
    for graph in _GRAPHS:
        known = _with_steps(notes, known, graph, "")
    known = _with_triggers(notes, known)
    flow = notes.validate(FlowDocument, known)
    if flow is not None and not notes.errors:
        _Checks(notes, language, flow).check()
    if flow is None or notes.errors:
        raise InvalidFlow(notes.errors)
    return flow


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
    for inner in ("steps", "default"):
        known = _with_steps(notes, known, inner, pointer)
    cases = known.get("cases")
    if isinstance(cases, dict):
        for case in cases:
            cases = _with_steps(notes, cases, case, f"{pointer}/cases")
        known["cases"] = cases
    return known


class _Checks:
    """The rules between the fields of a flow."""

    def __init__(self, notes: SpecProblems, language: Expressions, flow: FlowDocument) -> None:
        self._notes = notes
        self._language = language
        self._flow = flow
        self._names: set[str] = set()

    def check(self) -> None:
        """Note what is wrong."""
        flow = self._flow
        self._graph(flow.steps, "/steps", frozenset(), 1)
        done = frozenset(self._names)
        self._graph(flow.on_failure, "/onFailure", done, 1)
        self._graph(flow.finally_, "/finally", frozenset(self._names), 1)
        self._values(flow.outputs, "/outputs", done)
        if flow.concurrency is not None and flow.concurrency.key is not None:
            self._values(flow.concurrency.key, "/concurrency/key", frozenset())
        self._inputs()
        wanted = {one.name: one.required and one.default is None for one in flow.inputs}
        check_triggers(self._notes, self._language, flow.triggers, wanted)
        if len(self._names) > STEPS_MAX:
            self._notes.refuse("/steps", f"a flow has at most {STEPS_MAX} steps", "use a subflow")

    def _inputs(self) -> None:
        names: set[str] = set()
        for at, one in enumerate(self._flow.inputs):
            if one.name in names:
                self._notes.refuse(f"/inputs/{at}/name", f"{one.name} is there twice")
            names.add(one.name)

    def _graph(
        self, steps: tuple[StepFields, ...], pointer: str, before: frozenset[str], depth: int
    ) -> None:
        """Check steps that stand side by side.  `before`: names that are done when they begin."""
        if depth > DEPTH_MAX:
            self._notes.refuse(pointer, f"steps are at most {DEPTH_MAX} deep", "use a subflow")
            return
        here = {step.name: step for step in steps}
        for at, step in enumerate(steps):
            if step.name in self._names:
                message = f"{step.name} is the name of another step"
                self._notes.refuse(f"{pointer}/{at}/name", message, "names are unique in a flow")
            self._names.add(step.name)
            for place, name in enumerate(step.after):
                if name not in here:
                    close = nearest(name, here)
                    hint = f"did you mean {close}?" if close else "name a step of the same list"
                    self._notes.refuse(
                        f"{pointer}/{at}/after/{place}", f"no step {name} here", hint
                    )
        if (cycle := _cycle_in(here)) is not None:
            self._notes.refuse(pointer, f"steps wait for each other: {' → '.join(cycle)}")
            return
        for at, step in enumerate(steps):
            known = before | frozenset(_all_before(step, here))
            self._step(step, f"{pointer}/{at}", known, depth)

    def _step(self, step: StepFields, pointer: str, before: frozenset[str], depth: int) -> None:
        if step.if_ is not None:
            self._expression(step.if_, f"{pointer}/if", before)
        if isinstance(step, SleepStep) and (step.duration is None) == (step.seconds is None):
            self._notes.refuse(pointer, "a sleep has a duration or seconds, and not both")
        match step:
            case ParallelStep() | ForEachStep():
                if isinstance(step, ForEachStep) and isinstance(step.items, str):
                    self._values(step.items, f"{pointer}/items", before)
                self._graph(step.steps, f"{pointer}/steps", before, depth + 1)
            case SwitchStep():
                self._expression(step.value, f"{pointer}/value", before)
                for case, steps in step.cases.items():
                    place = f"{pointer}/cases/{pointer_part(case)}"
                    self._graph(steps, place, before, depth + 1)
                self._graph(step.default, f"{pointer}/default", before, depth + 1)
            case _:
                fields = step.model_dump(mode="json", by_alias=True, exclude={"if_", "after"})
                self._values(fields, pointer, before)

    def _values(self, value: JsonValue, pointer: str, before: frozenset[str]) -> None:
        for place, text in _texts(value, pointer):
            try:
                parts = list(parts_of(text))
            except ExpressionFailed as error:
                self._notes.refuse(place, str(error))
                continue
            for part, computed in parts:
                if computed:
                    self._expression(part, place, before)

    def _expression(self, text: str, pointer: str, before: frozenset[str]) -> None:
        try:
            self._language.check(text)
        except ExpressionFailed as error:
            self._notes.refuse(pointer, str(error))
            return
        for name in _STEP_OF.findall(text):
            if name not in before:
                close = nearest(name, before)
                hint = f"did you mean {close}?" if close else "name it in `after`"
                self._notes.refuse(pointer, f"the step {name} is not before this one", hint)


def _texts(value: JsonValue, pointer: str) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield pointer, value
        case list():
            for at, item in enumerate(value):
                yield from _texts(item, f"{pointer}/{at}")
        case dict():
            for name, item in value.items():
                yield from _texts(item, f"{pointer}/{pointer_part(name)}")


def _all_before(step: StepFields, here: Mapping[str, StepFields]) -> set[str]:
    """Return the names of all steps that are done before one begins."""
    before: set[str] = set()
    waiting = list(step.after)
    while waiting:
        name = waiting.pop()
        if name in here and name not in before:
            before.add(name)
            waiting.extend(here[name].after)
    return before


def _cycle_in(steps: Mapping[str, StepFields]) -> list[str] | None:
    """Return steps that wait for each other, the first one at both ends; None: there are none."""
    graph = {name: set(step.after) & set(steps) for name, step in steps.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return None
