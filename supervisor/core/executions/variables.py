"""What expressions of a step may read: inputs, what ended before, the item, the trigger."""

from pydantic import JsonValue

from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import Execution, Phase, StepScope
from supervisor.core.executions.scopes import graph_of, scopes_above


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
