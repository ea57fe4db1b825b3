"""A flow gone through before it runs: which steps would begin, and with which arguments.

    if, switch, items, arguments ─► worked out with the inputs and what `set` steps give
                               └──► an earlier step's output is not known yet: the step says whose

No step is made and no outcome is guessed: each is taken to succeed.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pydantic import JsonValue

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.expressions import (
    ExpressionFailed,
    Expressions,
    parts_of,
    resolve,
)
from supervisor.core.executions.plan import (
    ApproveWork,
    BatchWork,
    CallWork,
    EachWork,
    FailWork,
    FlowPlan,
    ParallelWork,
    SetWork,
    SleepWork,
    Step,
    SubflowWork,
    SwitchWork,
    Work,
    type_of,
)
from supervisor.core.flows.costs import cost_of

__all__ = [
    "STEPS_FORESEEN",
    "FlowOutlook",
    "ForeseenStep",
    "StepBegins",
    "StepOutlook",
    "foresee_flow",
]

STEPS_FORESEEN = 200
"""Steps that are gone through, those of each item counted: a list may have a thousand items."""
_STEP_OF = re.compile(r"(?<![.\w])steps\b(?:\s*\.\s*([A-Za-z_][A-Za-z0-9_]*))?")
_OTHERS = re.compile(r"(?<![.\w])(trigger|execution|item|index)\b")


class StepBegins(StrEnum):
    """Whether a step would begin."""

    YES = "yes"
    NO = "no"
    """Its `if` is false, or that of a step around it."""
    OPEN = "open"
    """An `if` or a `switch` depends on what is not known yet."""
    FAILURE = "failure"
    """Only once another step has failed for good."""


@dataclass(frozen=True)
class ForeseenStep:
    """One step, of a `forEach` for one item."""

    step: str
    verb: str
    """The type of the step."""
    begins: StepBegins
    after: tuple[str, ...]
    inside: tuple[str, ...] = ()
    """The steps around it, the outermost first, such as `days[3]`."""
    arguments: Mapping[str, JsonValue] | None = None
    """With every expression worked out; None: not all of them can be."""
    depends_on: tuple[str, ...] = ()
    """What has to be known first: names of steps; `trigger`, `execution` or `item`."""
    error: str = ""
    """Why an expression of it has no value."""


@dataclass(frozen=True)
class StepOutlook:
    """What one step would do."""

    step: ForeseenStep
    effect: Mapping[str, JsonValue] | None = None
    """What its dry run gives; of a step that has none its arguments; None: it is not known."""
    error: StepError | None = None
    """Why it would fail now."""
    looked: bool = True
    """False: there were too many dry runs before it."""

    @property
    def costs(self) -> str:
        """What the step costs, for people."""
        return cost_of(self.step.verb, self.effect)


@dataclass(frozen=True)
class FlowOutlook:
    """What a flow would do."""

    inputs: Mapping[str, JsonValue]
    """As they are bound."""
    steps: Sequence[StepOutlook]
    left_out: int
    """Steps that are not gone through, as there are too many."""


class _Unknown(Exception):
    """An expression reads what is not known yet."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = tuple(names)


@dataclass(frozen=True)
class _Scope:
    """What is known where steps stand side by side."""

    begins: StepBegins
    variables: Mapping[str, JsonValue]
    """Of expressions; without what is not known."""
    inside: tuple[str, ...] = ()


@dataclass
class _FlowWalk:
    language: Expressions
    steps: list[ForeseenStep] = field(default_factory=list)
    left_out: int = 0

    def graph(self, steps: Sequence[Step], scope: _Scope) -> _Scope:
        """Go through steps in their order; return what is known behind them."""
        for step in _in_order(steps):
            if len(self.steps) >= STEPS_FORESEEN:
                self.left_out += 1
                continue
            given = self._step(step, scope)
            if given is not None:
                known = {**_mapping(scope.variables["steps"]), step.name: given}
                scope = replace(scope, variables={**scope.variables, "steps": known})
        return scope

    def _step(self, step: Step, scope: _Scope) -> JsonValue:
        """Note a step and those inside it; return its outputs, None: they are not known."""
        noted = ForeseenStep(step.name, type_of(step.work), scope.begins, step.after, scope.inside)
        if step.condition is not None and noted.begins is not StepBegins.NO:
            try:
                if self._value(step.condition, scope) is False:
                    noted = replace(noted, begins=StepBegins.NO)
            except _Unknown as unknown:
                noted = replace(noted, begins=StepBegins.OPEN, depends_on=unknown.names)
            except ExpressionFailed as error:
                noted = replace(noted, error=str(error))
        if noted.begins is StepBegins.NO:
            self.steps.append(noted)
            self._inside(step, scope, noted, {})
            return {"state": "SKIPPED"}
        arguments: Mapping[str, JsonValue] | None = None
        try:
            arguments = self._arguments(step.work, scope)
        except _Unknown as unknown:
            names = dict.fromkeys((*noted.depends_on, *unknown.names))
            noted = replace(noted, depends_on=tuple(names))
        except ExpressionFailed as error:
            noted = replace(noted, error=str(error))
        self.steps.append(replace(noted, arguments=arguments))
        self._inside(step, scope, noted, arguments or {})
        if isinstance(step.work, SetWork) and arguments and noted.begins is StepBegins.YES:
            return {"state": "SUCCESS", **arguments}
        return None

    def _inside(
        self, step: Step, scope: _Scope, noted: ForeseenStep, known: Mapping[str, JsonValue]
    ) -> None:
        """Go through the steps inside a step."""
        inner = replace(scope, begins=noted.begins, inside=(*scope.inside, step.name))
        match step.work:
            case ParallelWork(steps):
                self.graph(steps, inner)
            case SwitchWork(cases=cases, default=default):
                self._cases(cases, default, inner, known)
            case EachWork() as each:
                self._items(step.name, each.steps_of_item, scope, inner, known.get("items"))
            case _:
                pass

    def _cases(
        self,
        cases: Mapping[str, Sequence[Step]],
        default: Sequence[Step],
        inner: _Scope,
        known: Mapping[str, JsonValue],
    ) -> None:
        chosen = known.get("case")
        if isinstance(chosen, str):
            self.graph(cases.get(chosen, default), inner)
            return
        begins = inner.begins if inner.begins is StepBegins.NO else StepBegins.OPEN
        for steps in (*cases.values(), default):
            self.graph(steps, replace(inner, begins=begins))

    def _items(
        self, name: str, steps: Sequence[Step], scope: _Scope, inner: _Scope, items: JsonValue
    ) -> None:
        if not isinstance(items, list):  # each of them is like this
            hidden = {k: v for k, v in scope.variables.items() if k not in {"item", "index"}}
            self.graph(steps, replace(inner, variables=hidden))
            return
        for index, item in enumerate(items):
            if len(self.steps) >= STEPS_FORESEEN:
                self.left_out += (len(items) - index) * len(steps)
                return
            variables = {**scope.variables, "item": item, "index": index}
            place = (*scope.inside, f"{name}[{index}]")
            self.graph(steps, replace(inner, variables=variables, inside=place))

    def _arguments(self, work: Work, scope: _Scope) -> dict[str, JsonValue]:
        match work:
            case CallWork(arguments=arguments):
                return _mapping(self._resolved(dict(arguments), scope))
            case SetWork(values):
                return _mapping(self._resolved(dict(values), scope))
            case FailWork(message):
                return {"message": self._resolved(message, scope)}
            case SleepWork(seconds):
                return {"seconds": self._resolved(seconds, scope)}
            case ApproveWork(question):
                return {"question": self._resolved(question, scope)}
            case SubflowWork(flow, inputs):
                given = self._resolved(dict(inputs), scope)
                return {"flow": self._resolved(flow, scope), "inputs": given}
            case SwitchWork(value=value):
                chosen = self._value(value, scope)
                return {"case": chosen if isinstance(chosen, str) else json.dumps(chosen)}
            case EachWork(items=items):
                listed = self._resolved(items, scope)
                if not isinstance(listed, list):
                    raise ExpressionFailed("`items` gives no list")
                return {"items": listed}
            case ParallelWork() | BatchWork():
                return {}

    def _resolved(self, value: JsonValue, scope: _Scope) -> JsonValue:
        _require(_expressions_in(value), scope.variables)
        return resolve(value, scope.variables, self.language)

    def _value(self, text: str, scope: _Scope) -> JsonValue:
        _require([text], scope.variables)
        return self.language.value(text, scope.variables)


def foresee_flow(
    plan: FlowPlan, inputs: Mapping[str, JsonValue], language: Expressions
) -> tuple[list[ForeseenStep], int]:
    """Return the steps of a flow for these inputs, and how many more there are.

    `inputs`: bound, one for each that the flow has.
    """
    walk = _FlowWalk(language)
    start: dict[str, JsonValue] = {"inputs": dict(inputs), "steps": {}}
    # Outside of a `forEach` both are null.
    begun = _Scope(StepBegins.YES, {**start, "item": None, "index": None})
    behind = walk.graph(plan.steps, begun)
    walk.graph(plan.on_failure, replace(behind, begins=StepBegins.FAILURE))
    walk.graph(plan.always, behind)
    return walk.steps, walk.left_out


def _require(texts: Iterable[str], variables: Mapping[str, JsonValue]) -> None:
    """Raise `_Unknown` if expressions may read what is not known."""
    known, missing = _mapping(variables["steps"]), []
    for text in texts:
        names = [match[1] or "steps" for match in _STEP_OF.finditer(text)]
        missing += [name for name in names if name not in known]
        missing += [name for name in _OTHERS.findall(text) if name not in variables]
    if missing:
        raise _Unknown(list(dict.fromkeys(missing)))


def _expressions_in(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield from (part for part, computed in parts_of(value) if computed)
        case list():
            for each in value:
                yield from _expressions_in(each)
        case dict():
            for each in value.values():
                yield from _expressions_in(each)
        case _:
            pass


def _in_order(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield steps behind those that they come after, else as they are written."""
    done: set[str] = set()
    left = list(steps)
    while left:
        first = next(step for step in left if done.issuperset(step.after))
        left.remove(first)
        done.add(first.name)
        yield first


def _mapping(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict)
    return value
