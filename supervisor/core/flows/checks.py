"""The rules between the fields of a flow: its order, its expressions, its bounds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from pydantic import JsonValue

from supervisor.core.executions.expressions import (
    ANY,
    ExpressionFailed,
    Expressions,
    Kinds,
    Known,
    ValueKind,
    parts_of,
)
from supervisor.core.executions.plan import DEPTH_MAX, RUNS_MAX, STEPS_MAX, OnError
from supervisor.core.flows.document import FlowDocument, InputDocument, InputType, misfit
from supervisor.core.flows.literals import check_literals
from supervisor.core.flows.steps import (
    FailStep,
    ForEachStep,
    ParallelStep,
    SetStep,
    SleepStep,
    StepFields,
    SwitchStep,
)
from supervisor.core.flows.triggers import check_triggers
from supervisor.core.flows.visible import flow_variables
from supervisor.core.spec.problems import SpecProblems
from supervisor.core.values.field_types import nearest, pointer_part

__all__ = ["FlowChecks"]

_FLAG: Kinds = frozenset({ValueKind.BOOL})
_LIST: Kinds = frozenset({ValueKind.LIST})
_SECONDS: Kinds = frozenset({ValueKind.INT, ValueKind.UINT, ValueKind.DOUBLE, ValueKind.DURATION})
_KINDS: Mapping[InputType, Kinds] = {
    InputType.INTEGER: frozenset({ValueKind.INT}),
    InputType.NUMBER: frozenset({ValueKind.INT, ValueKind.DOUBLE}),
    InputType.BOOLEAN: _FLAG,
    InputType.LIST: _LIST,
    InputType.OBJECT: frozenset({ValueKind.MAP}),
}
"""Of all others: a text."""
_TEXT: Kinds = frozenset({ValueKind.STRING})


@dataclass(frozen=True)
class _StepsPlace:
    """Where steps stand: what is done before they begin, and how deep they are."""

    before: frozenset[str] = frozenset()
    depth: int = 1
    in_each: bool = False

    def within(self, before: frozenset[str], *, in_each: bool = False) -> "_StepsPlace":
        return _StepsPlace(before, self.depth + 1, self.in_each or in_each)


class FlowChecks:
    """The rules between the fields of a flow."""

    def __init__(self, notes: SpecProblems, language: Expressions, flow: FlowDocument) -> None:
        """`notes` takes what is wrong."""
        self._notes = notes
        self._language = language
        self._flow = flow
        self._names: set[str] = set()
        self._inputs = {one.name: _known(one) for one in flow.inputs}

    def check(self) -> None:
        """Note what is wrong."""
        flow = self._flow
        done = _StepsPlace(frozenset(step.name for step in flow.steps))
        self._graph(flow.steps, "/steps", _StepsPlace())
        self._graph(flow.on_failure, "/onFailure", done)
        self._graph(flow.finally_, "/finally", done)
        self._values(dict(flow.outputs), "/outputs", done)
        if flow.concurrency is not None and flow.concurrency.key is not None:
            self._values(flow.concurrency.key, "/concurrency/key", _StepsPlace())
        self._check_inputs()
        wanted = {one.name: one.required and one.default is None for one in flow.inputs}
        check_triggers(self._notes, self._language, flow.triggers, wanted)
        self._check_given()
        if len(self._names) > STEPS_MAX:
            self._notes.refuse("/steps", f"a flow has at most {STEPS_MAX} steps", "use a subflow")

    def _check_inputs(self) -> None:
        names: set[str] = set()
        for at, one in enumerate(self._flow.inputs):
            if one.name in names:
                self._notes.refuse(
                    f"/inputs/{at}/name", f"{one.name} is there twice", "rename one of them"
                )
            names.add(one.name)
            if one.default is not None and (wrong := misfit(one.type, one.default)) is not None:
                self._notes.refuse(f"/inputs/{at}/default", *wrong)

    def _check_given(self) -> None:
        """Hold literal inputs of triggers against their types."""
        types = {one.name: one.type for one in self._flow.inputs}
        for at, trigger in enumerate(self._flow.triggers):
            for name, value in trigger.inputs.items():
                if name not in types or value is None or _has_expression(value):
                    continue
                if (wrong := misfit(types[name], value)) is not None:
                    self._notes.refuse(f"/triggers/{at}/inputs/{pointer_part(name)}", *wrong)

    def _graph(self, steps: tuple[StepFields, ...], pointer: str, place: _StepsPlace) -> None:
        """Check steps that stand side by side."""
        if place.depth > DEPTH_MAX:
            self._notes.refuse(pointer, f"steps are at most {DEPTH_MAX} deep", "use a subflow")
            return
        here = {step.name: step for step in steps}
        for at, step in enumerate(steps):
            self._check_name(step, f"{pointer}/{at}", here)
        if (cycle := _cycle_in(here)) is not None:
            self._notes.refuse(
                pointer,
                f"steps wait for each other: {' → '.join(cycle)}",
                f"take {cycle[0]} out of `after` of {cycle[1]}, or the other way round",
            )
            return
        for at, step in enumerate(steps):
            known = place.before | frozenset(_all_before(step, here))
            self._step(step, f"{pointer}/{at}", replace(place, before=known))

    def _check_name(self, step: StepFields, pointer: str, here: Mapping[str, StepFields]) -> None:
        if step.name in self._names:
            message = f"{step.name} is the name of another step"
            self._notes.refuse(f"{pointer}/name", message, "names are unique in a flow")
        self._names.add(step.name)
        for at, name in enumerate(step.after):
            if name not in here:
                close = nearest(name, here)
                hint = f"did you mean {close}?" if close else "name a step of the same list"
                self._notes.refuse(f"{pointer}/after/{at}", f"no step {name} here", hint)

    def _step(self, step: StepFields, pointer: str, place: _StepsPlace) -> None:
        if step.if_ is not None:
            self._expression(step.if_, f"{pointer}/if", place, _FLAG)
        _check_pause(self._notes, step, pointer)
        match step:
            case ParallelStep():
                self._graph(step.steps, f"{pointer}/steps", place.within(place.before))
            case ForEachStep():
                self._each(step, pointer, place)
            case SwitchStep():
                self._expression(step.value, f"{pointer}/value", place)
                within = place.within(place.before)
                for case, steps in step.cases.items():
                    self._graph(steps, f"{pointer}/cases/{pointer_part(case)}", within)
                self._graph(step.default, f"{pointer}/default", within)
            case SleepStep():
                self._sleep(step, pointer, place)
            case _:
                check_literals(self._notes, step, pointer)
                fields = step.model_dump(mode="json", by_alias=True, exclude={"if_", "after"})
                self._values(fields, pointer, place)

    def _each(self, step: ForEachStep, pointer: str, place: _StepsPlace) -> None:
        if isinstance(step.items, str) and "${" not in step.items:
            hint = 'give a list, or an expression: "${ inputs.days }"'
            self._notes.refuse(f"{pointer}/items", "this text is no list", hint)
        self._values(step.items, f"{pointer}/items", place, _LIST)
        _check_runs(self._notes, step, pointer)
        self._graph(step.steps, f"{pointer}/steps", place.within(place.before, in_each=True))

    def _sleep(self, step: SleepStep, pointer: str, place: _StepsPlace) -> None:
        if (step.duration is None) == (step.seconds is None):
            message = "a sleep has a duration or seconds, and not both"
            self._notes.refuse(pointer, message, "write duration: PT10M")
        elif step.seconds is not None:
            place_of = f"{pointer}/seconds"
            if "${" not in step.seconds:
                hint = "write duration: PT10S, or an expression"
                self._notes.refuse(place_of, "this text is no number of seconds", hint)
            self._values(step.seconds, place_of, place, _SECONDS)

    def _values(
        self, value: JsonValue, pointer: str, place: _StepsPlace, wanted: Kinds = ANY
    ) -> None:
        """Check the expressions in a value.  `wanted`: what it has to be if it is a text."""
        for at, text in _texts(value, pointer):
            try:
                parts = list(parts_of(text))
            except ExpressionFailed as error:
                self._notes.refuse(at, str(error), error.hint)
                continue
            is_text = len(parts) > 1 and at == pointer
            if is_text and not wanted & _TEXT:
                self._notes.refuse(at, "this gives a text", "write one expression and no more")
            alone = wanted if len(parts) == 1 and at == pointer else ANY
            for part, computed in parts:
                if computed:
                    self._expression(part, at, place, alone)

    def _expression(self, text: str, pointer: str, place: _StepsPlace, wanted: Kinds = ANY) -> None:
        variables = flow_variables(self._inputs, place.before, in_each=place.in_each)
        try:
            self._language.check(text, variables, wanted)
        except ExpressionFailed as error:
            self._notes.refuse(pointer, str(error), error.hint)


def _known(one: InputDocument) -> Known:
    kinds = _KINDS.get(one.type, _TEXT)
    may_lack = one.default is None and not one.required
    return Known(kinds | {ValueKind.NULL} if may_lack else kinds)


def _check_pause(notes: SpecProblems, step: StepFields, pointer: str) -> None:
    """Refuse a pause where a person would have no attempt to try again."""
    if step.on_error is not OnError.PAUSE:
        return
    if isinstance(step, ParallelStep | ForEachStep | SwitchStep):
        hint = "put it on the steps inside"
    elif isinstance(step, SetStep | FailStep):
        hint = "leave it out, or put an `approve` step before it"
    else:
        return
    message = "onError: pause is for a step with attempts, and this one has none"
    notes.refuse(f"{pointer}/onError", message, hint)


def _check_runs(notes: SpecProblems, step: ForEachStep, pointer: str) -> None:
    """Refuse what would be more task runs than an execution may have."""
    inside, most = len(step.steps), RUNS_MAX // len(step.steps)
    if step.batch is not None and step.batch > most:
        message = f"a batch of {step.batch} items with {inside} steps each has too many task runs"
        notes.refuse(f"{pointer}/batch", message, f"an execution has {RUNS_MAX}: at most {most}")
    elif step.batch is None and isinstance(step.items, list) and len(step.items) > most:
        message = f"{len(step.items)} items with {inside} steps each are too many task runs"
        hint = f"an execution has {RUNS_MAX}: give it a batch, such as batch: {most}"
        notes.refuse(f"{pointer}/items", message, hint)


def _has_expression(value: JsonValue) -> bool:
    return any("${" in text for _, text in _texts(value, ""))


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
