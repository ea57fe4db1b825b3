"""A batch: some items of a `forEach`, in an execution of their own.

    forEach of 10,000 items, batch 500 ─► 20 task runs ─► 20 executions, each with 500 items

A batch runs under the name and the version of its flow.  It has one step, the `forEach`, that is
under way from the beginning, with its items.  Its expressions read what those of an item in the
execution itself would read.
"""

from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import Execution, StepScope, TaskRun
from supervisor.core.executions.plan import EachWork, FlowPlan, OuterVariables, Step
from supervisor.core.executions.scopes import variables_of
from supervisor.core.executions.states import StepState

__all__ = ["batch_execution", "in_batches"]


def in_batches(items: list[JsonValue], size: int | None) -> list[JsonValue]:
    """Return items in lists of this size; None: as they are."""
    if size is None:
        return items
    return [items[first : first + size] for first in range(0, len(items), size)]


def batch_execution(
    draft: ExecutionDraft, run: TaskRun, steps: tuple[Step, ...], child: str, parent: str
) -> Execution:
    """Return the execution that a task run of a batch begins.

    `child`: its id; `parent`: the execution, task run and attempt that wait for it.
    """
    execution = draft.execution
    each = draft.run(run.scope.parent)
    number = run.scope.item
    if each is None or each.items is None or number is None:
        raise TypeError(f"{run.step} is no batch of a forEach")
    work, items = draft.step_of(each).work, each.items[number]
    if not isinstance(work, EachWork) or not isinstance(items, list):
        raise TypeError(f"{each.step} has no batches")
    variables = variables_of(draft, run.scope)
    outer = OuterVariables(
        steps=cast("Mapping[str, JsonValue]", variables["steps"]),
        execution=variables["execution"],
        first=number * (work.batch or 0),
    )
    step = Step(each.step, EachWork([], steps))
    whole = execution.plan
    plan = FlowPlan(whole.flow, whole.version, (step,), kill_grace=whole.kill_grace, outer=outer)
    begun = TaskRun(
        StepScope().run_id(child, step),
        step.name,
        StepState.RUNNING,
        draft.now,
        StepScope(),
        items=tuple(items),
    )
    return Execution(
        child,
        plan,
        execution.inputs,
        draft.now,
        trigger=execution.trigger,
        labels=execution.labels,
        parent=parent,
        depth=execution.depth + 1,
        runs={begun.id: begun},
    )
