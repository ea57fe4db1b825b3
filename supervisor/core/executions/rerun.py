"""A rerun: a new execution of an ended one's flow, with what steps of the old one have given.

    begins anew   the step that is named, and all that comes after it; what failed or never began
    is kept       every other step that was done, with its outputs
    is kept in    a `parallel`, `switch` or `forEach` of which a part begins anew: it is open, with
    part          what was done inside it

The old execution is not changed.  What is kept is no new effect; what begins anew is one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from supervisor.core.executions.entities import Execution, StepScope, TaskRun
from supervisor.core.executions.plan import (
    BatchWork,
    EachWork,
    FlowPlan,
    OnError,
    ParallelWork,
    Step,
    SwitchWork,
    Work,
    steps_within,
)
from supervisor.core.executions.states import StepState

__all__ = ["KeptSteps", "RerunPreview", "begins_in", "kept_steps"]


@dataclass
class KeptSteps:
    """What a rerun keeps."""

    runs: dict[str, TaskRun] = field(default_factory=dict)
    """Task runs of the new execution, by their ids in it."""
    changed: list[str] = field(default_factory=list)
    """Names of kept steps that are another step in the plan of the rerun."""


@dataclass(frozen=True)
class RerunPreview:
    """What a rerun would do: names of steps of the flow's own graph, in its order."""

    version: int
    """Of the flow."""
    keeps: list[str]
    goes_on: list[str]
    """Steps around others, of which a part is kept."""
    runs: list[str]
    changed: list[str]
    """Kept steps that are others in that version, those inside of steps too."""


def begins_in(plan: FlowPlan) -> list[str]:
    """Return the names of the steps that a rerun can begin with: not those of failure and end."""
    return [step.name for step in _nested(plan.steps)]


def kept_steps(
    old: Execution, plan: FlowPlan, execution: str, now: datetime, first: str | None = None
) -> KeptSteps:
    """Return what a rerun by a plan keeps of an ended execution.

    `execution`: the id of the new one.  `first`: the name of the step that begins anew, one of
    `begins_in(plan)`; None: what was not done begins.
    """
    keeping = _Keeping(old, execution, now, first)
    keeping.keep(StepScope(), StepScope(), plan.steps)
    return keeping.kept


@dataclass
class _Keeping:
    old: Execution
    execution: str
    now: datetime
    first: str | None
    kept: KeptSteps = field(default_factory=KeptSteps)

    def keep(
        self, there: StepScope, here: StepScope, graph: tuple[Step, ...], *, whole: bool = False
    ) -> None:
        """Keep what is done of a graph.  `there`: its place in the old execution; `here`: now.

        `whole`: the step around it is kept as it is.
        """
        again = frozenset[str]() if whole else _begun_anew(graph, self.first)
        for step in graph:
            run = self.old.runs.get(there.run_id(self.old.id, step))
            if run is None or step.name in again:
                continue
            if whole or (_is_done(run, step) and not _holds(step, self.first)):
                self._keep_whole(run, step, here)
            else:
                self._keep_part(run, step, here)

    def _keep_whole(self, run: TaskRun, step: Step, here: StepScope) -> None:
        self._compare(step, within=True)
        kept = replace(
            run, id=here.run_id(self.execution, step), scope=here, attempts=(), kept=True
        )
        self.kept.runs[kept.id] = kept
        self._keep_inside(run, step, kept.id, whole=True)

    def _keep_part(self, run: TaskRun, step: Step, here: StepScope) -> None:
        """Keep what is done inside a step that is not done; nothing is: it begins anew."""
        before = len(self.kept.runs)
        run_id = here.run_id(self.execution, step)
        self._keep_inside(run, step, run_id, whole=False)
        if len(self.kept.runs) == before:
            return
        self._compare(step, within=False)
        # Its items begin again one by one: those with all their steps end at once.
        self.kept.runs[run_id] = TaskRun(
            run_id,
            step.name,
            StepState.RUNNING,
            self.now,
            here,
            items=run.items,
            branch=run.branch,
        )

    def _keep_inside(self, run: TaskRun, step: Step, run_id: str, *, whole: bool) -> None:
        phase = run.scope.phase
        pairs: list[tuple[int | None, tuple[Step, ...]]] = []
        match step.work, self.old.plan.step(step.name).work:
            case ParallelWork(steps), ParallelWork():
                pairs = [(None, steps)]
            case SwitchWork(cases=cases, default=default), SwitchWork():
                steps = default if run.branch is None else cases.get(run.branch, ())
                pairs = [(None, steps)]
            case EachWork(steps=steps), EachWork():
                pairs = [(number, steps) for number in range(run.begun)]
            case _:
                pass
        for item, graph in pairs:
            there, here = StepScope(phase, run.id, item), StepScope(phase, run_id, item)
            self.keep(there, here, graph, whole=whole)

    def _compare(self, step: Step, *, within: bool) -> None:
        """Note a kept step that is not what gave its outputs.  `within`: or one inside it."""
        before = self.old.plan.step(step.name)
        same = _gist(step, within=within) == _gist(before, within=within)
        if not same and step.name not in self.kept.changed:
            self.kept.changed.append(step.name)


def _is_done(run: TaskRun, step: Step) -> bool:
    overlooked = run.state is StepState.FAILED and step.on_error is OnError.CONTINUE
    return overlooked or run.state in {StepState.SUCCESS, StepState.SKIPPED}


def _holds(step: Step, name: str | None) -> bool:
    """Whether a step is inside another one."""
    return name is not None and name in (one.name for one in _nested(steps_within(step.work)))


def _nested(graph: tuple[Step, ...]) -> Iterator[Step]:
    for step in graph:
        yield step
        yield from _nested(steps_within(step.work))


def _begun_anew(graph: tuple[Step, ...], first: str | None) -> frozenset[str]:
    """Return the names of the steps of a graph that begin anew because of the first one."""
    again = {step.name for step in graph if step.name == first}
    reached = again | {step.name for step in graph if _holds(step, first)}
    grown = True
    while grown:
        behind = {step.name for step in graph if reached.intersection(step.after)} - reached
        again |= behind
        reached |= behind
        grown = bool(behind)
    return frozenset(again)


def _gist(step: Step, *, within: bool) -> Step:
    """Return what a step's outputs follow from: not how often and how long it is tried."""
    return Step(step.name, _work(step.work, within=within), step.after, step.condition)


def _work(work: Work, *, within: bool) -> Work:
    def inside(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(_gist(step, within=True) for step in steps) if within else ()

    match work:
        case ParallelWork(steps):
            return ParallelWork(inside(steps))
        case SwitchWork(value, cases, default):
            graphs = {case: inside(steps) for case, steps in cases.items()}
            return SwitchWork(value, graphs if within else {}, inside(default))
        case EachWork(items, steps, batch=batch):
            return EachWork(items, inside(steps), batch=batch)
        case BatchWork(steps):
            return BatchWork(tuple(_gist(step, within=True) for step in steps))
        case _:
            return work
