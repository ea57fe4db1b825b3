"""Where task runs stand side by side: their steps, what is around them, and what they may read."""

from collections.abc import Iterator

from pydantic import JsonValue

from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import Execution, Phase, StepScope
from supervisor.core.executions.plan import EachWork, ParallelWork, Step, SwitchWork
from supervisor.core.executions.states import StepState


def graph_of(draft: ExecutionDraft, scope: StepScope) -> tuple[Step, ...]:
    """Return the steps of a scope."""
    plan = draft.execution.plan
    parent = draft.run(scope.parent)
    if parent is None:
        return {
            Phase.STEPS: plan.steps,
            Phase.ON_FAILURE: plan.on_failure,
            Phase.ALWAYS: plan.always,
        }[scope.phase]
    match draft.step_of(parent).work:
        case ParallelWork(steps) | EachWork(steps=steps):
            return steps
        case SwitchWork(cases=cases, default=default):
            return default if parent.branch is None else cases[parent.branch]
        case _:
            return ()


def scopes_above(draft: ExecutionDraft, scope: StepScope) -> Iterator[StepScope]:
    """Go from a scope outwards; itself is the first."""
    while True:
        yield scope
        parent = draft.run(scope.parent)
        if parent is None:
            return
        scope = parent.scope


def open_scopes(draft: ExecutionDraft) -> Iterator[StepScope]:
    """Go through every scope that has begun and is not over, the execution's own one first."""
    phase = draft.execution.phase
    yield StepScope(phase)
    for run in draft.runs():
        if run.state is not StepState.RUNNING or run.attempts:
            continue
        yield StepScope(run.scope.phase, run.id)
        for number in run.open:
            yield StepScope(run.scope.phase, run.id, number)


def variables_of(draft: ExecutionDraft, scope: StepScope) -> dict[str, JsonValue]:
    """Return the variables of the steps in a scope: `inputs`, `steps`, `item`, `index`, ..."""
    execution = draft.execution
    above = list(scopes_above(draft, scope))
    if scope.phase is not Phase.STEPS:
        above.append(StepScope())
    outer = execution.plan.outer
    steps: dict[str, JsonValue] = {} if outer is None else dict(outer.steps)
    item: JsonValue = None
    index: JsonValue = None
    for one in above:
        for step in graph_of(draft, one):
            run = draft.run(one.run_id(execution.id, step))
            if run is not None and run.state.ended:
                steps[step.name] = {"state": run.state, **run.outputs}
        parent = draft.run(one.parent)
        if index is None and parent is not None and parent.items and one.item is not None:
            first = 0 if outer is None or parent.scope.parent else outer.first
            item, index = parent.items[one.item], first + one.item
    return {
        "inputs": dict(execution.inputs),
        "trigger": dict(execution.trigger),
        "steps": steps,
        "item": item,
        "index": index,
        "execution": _about(execution) if outer is None else outer.execution,
    }


def _about(execution: Execution) -> JsonValue:
    return {
        "id": execution.id,
        "flow": execution.flow,
        "failures": [
            {"step": one.step, "code": one.error.code, "message": one.error.message}
            for one in execution.failures
        ],
    }
