"""An execution as a picture: a node per step, whatever the number of its items, and what is after.

node   pack   SUCCESS          node   days   RUNNING   90 runs: 40 SUCCESS, 3 RUNNING
edge   pack ─► days
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.executions.entities import Execution, Phase, TaskRun
from supervisor.core.executions.plan import (
    EachWork,
    ParallelWork,
    Step,
    SwitchWork,
    type_of,
)
from supervisor.core.executions.states import StepState

__all__ = ["StepNode", "edges_of", "nodes_of"]

_ENDS = (StepState.FAILED, StepState.KILLED, StepState.SUCCESS, StepState.SKIPPED)
"""Of the runs of a step that have all ended, the first of these counts for it."""


@dataclass(frozen=True, slots=True)
class StepNode:
    """One step of a flow, with what has come of it."""

    step: str
    kind: str
    """Its type, as flows write it."""
    phase: Phase
    after: tuple[str, ...]
    inside: str | None
    """The step that holds it; None: it is of a graph of the flow itself."""
    case: str | None
    """Of the `switch` that holds it; None: its default, or no switch."""
    state: StepState | None
    """None: it has not begun.  Of several runs: RUNNING until all have ended; then the worst."""
    runs: Mapping[StepState, int]
    """State -> how many task runs are in it; of a `forEach` there is one for each item."""
    kept: bool
    """Whether a rerun has taken all of them over."""
    attempts: int
    began_at: datetime | None
    ended_at: datetime | None
    """None: not all have ended."""


def nodes_of(execution: Execution) -> list[StepNode]:
    """Return a node for each step, those that hold others before what they hold."""
    runs: dict[str, list[TaskRun]] = {}
    for run in execution.runs.values():
        runs.setdefault(run.step, []).append(run)
    plan = execution.plan
    graphs = ((Phase.STEPS, plan.steps), (Phase.ON_FAILURE, plan.on_failure))
    return [
        _node(place, runs.get(place.step.name, []))
        for phase, graph in (*graphs, (Phase.ALWAYS, plan.always))
        for place in _places(phase, graph)
    ]


def edges_of(nodes: list[StepNode]) -> list[tuple[str, str]]:
    """Return pairs of steps: the second begins after the first."""
    return [(before, node.step) for node in nodes for before in node.after]


@dataclass(frozen=True, slots=True)
class _StepPlace:
    step: Step
    phase: Phase
    inside: str | None = None
    case: str | None = None


def _places(
    phase: Phase, graph: tuple[Step, ...], inside: str | None = None, case: str | None = None
) -> Iterator[_StepPlace]:
    for step in graph:
        yield _StepPlace(step, phase, inside, case)
        match step.work:
            case SwitchWork(cases=cases, default=default):
                for name, steps in cases.items():
                    yield from _places(phase, steps, step.name, name)
                yield from _places(phase, default, step.name)
            case ParallelWork(steps) | EachWork(steps=steps):
                yield from _places(phase, steps, step.name)
            case _:
                pass


def _node(place: _StepPlace, runs: list[TaskRun]) -> StepNode:
    ends = [run.ended_at for run in runs if run.ended_at is not None]
    return StepNode(
        step=place.step.name,
        kind=type_of(place.step.work),
        phase=place.phase,
        after=place.step.after,
        inside=place.inside,
        case=place.case,
        state=_state(runs),
        runs=Counter(run.state for run in runs),
        kept=bool(runs) and all(run.kept for run in runs),
        attempts=sum(len(run.attempts) for run in runs),
        began_at=min((run.created_at for run in runs), default=None),
        ended_at=max(ends, default=None) if len(ends) == len(runs) else None,
    )


def _state(runs: list[TaskRun]) -> StepState | None:
    states = {run.state for run in runs}
    if len(states) <= 1:
        return next(iter(states), None)
    if any(not state.ended for state in states):
        return StepState.RUNNING
    return next(state for state in _ENDS if state in states)
