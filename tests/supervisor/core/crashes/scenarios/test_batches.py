"""A `forEach` with batches: executions of their own, on every engine, also over a restart."""

from supervisor.core.executions.inputs import Succeeded
from supervisor.core.executions.plan import BatchWork, CallWork, EachWork, SetWork, Step
from supervisor.core.executions.reduced import StepCall
from tests.supervisor.core.crashes.scenarios.engines import Stage
from tests.supervisor.core.crashes.scenarios.test_calls import plan

DAYS = ["d0", "d1", "d2", "d3", "d4"]


def _days() -> Step:
    reads = {"day": "${ item }", "n": "${ index }", "before": "${ steps.first.n }"}
    batch = Step("days.batch", BatchWork((Step("pack", CallWork("noop", reads)),)))
    return Step("days", EachWork([*DAYS], (batch,), concurrency=2, batch=2), after=("first",))


def _make(stage: Stage, job: StepCall) -> dict[str, object]:
    assert stage.claim(job)
    stage.report(job, Succeeded())
    return dict(job.arguments)


def test_items_are_done_in_executions_of_their_own(stage: Stage) -> None:
    jobs = stage.start(plan(Step("first", SetWork({"n": 7})), _days()))
    assert len({job.execution for job in jobs}) == 2
    done = [_make(stage, jobs.pop(0))]
    stage.engine.restart()
    while jobs := [*jobs, *stage.engine.take_calls()]:
        done.append(_make(stage, jobs.pop(0)))

    assert sorted(done, key=lambda one: str(one["day"])) == [
        {"day": day, "n": n, "before": 7} for n, day in enumerate(DAYS)
    ]
    assert stage.engine.get("e1").state == "SUCCESS"
    assert stage.run("days").outputs == {"count": 5}
