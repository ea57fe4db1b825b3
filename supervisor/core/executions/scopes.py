"""Where task runs stand side by side: their steps, what is around them, and which are open."""

from collections.abc import Iterator

from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import Phase, StepScope
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
