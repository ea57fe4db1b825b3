"""A rerun keeps what was done, with its outputs, and begins anew what follows its first step."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from supervisor.core.executions.entities import Execution, TaskRun
from supervisor.core.executions.plan import OnError, Step, steps_within
from tests.supervisor.core.crashes.checkers.rules import ENDS


def check_rerun(new: Execution, old: Execution, old_runs: Mapping[str, TaskRun]) -> Iterator[str]:
    """Yield what is wrong with a rerun, as it is after its first commit."""
    assert new.rerun is not None
    if old.state not in ENDS:
        yield f"X9 {new.id} runs {old.id} again, which has not ended"
    before, after = _top(old_runs.values()), _top(new.runs.values())
    anew = _anew(new.plan.steps, new.rerun.first)
    for step in new.plan.steps:
        run, kept = before.get(step.name), after.get(step.name)
        is_kept = kept is not None and kept.kept
        done = run is not None and (
            run.state in ("SUCCESS", "SKIPPED")
            or (run.state == "FAILED" and step.on_error is OnError.CONTINUE)
        )
        wanted = done and step.name not in anew and not _is_inside(step, new.rerun.first)
        if is_kept != wanted:
            yield f"a rerun keeps {step.name}: {is_kept}, and it should: {wanted}"
        if not is_kept or run is None or kept is None:
            continue
        if (kept.state, kept.outputs, kept.attempts) != (run.state, run.outputs, ()):
            yield f"a rerun keeps {step.name}, and not as it was"
        same = _gist(step) == _gist(old.plan.step(step.name))
        if not same and not new.rerun.force:
            yield f"a rerun keeps {step.name}, which is another step, and was not forced"


def _top(runs: Iterable[TaskRun]) -> dict[str, TaskRun]:
    return {run.step: run for run in runs if run.scope.parent == "" and run.scope.phase == "steps"}


def _anew(steps: Sequence[Step], first: str | None) -> set[str]:
    """Return the names of the first step and of all that comes after it, or after what holds it."""
    anew = {step.name for step in steps if step.name == first}
    reached = {step.name for step in steps if step.name == first or _is_inside(step, first)}
    for _ in steps:
        behind = {step.name for step in steps if reached & set(step.after)}
        anew |= behind
        reached |= behind
    return anew


def _is_inside(step: Step, name: str | None) -> bool:
    return any(one.name == name or _is_inside(one, name) for one in steps_within(step.work))


def _gist(step: Step) -> tuple[object, ...]:
    return step.work, step.after, step.condition
