"""A `forEach` with batches: each of them is an execution of its own, and reads what items read."""

from pydantic import JsonValue

from supervisor.core.executions.entities import Execution, RerunOf
from supervisor.core.executions.inputs import Fails, KillIt, Succeeded
from supervisor.core.executions.plan import (
    BatchWork,
    CallWork,
    EachWork,
    FlowPlan,
    OnError,
    SetWork,
    Step,
)
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.rerun import kept_steps
from tests.supervisor.core.executions.test_steps import plan_of
from tests.supervisor.core.executions.world import (
    BROKEN,
    ExecutionState,
    StepState,
    World,
    call,
    is_at_rest,
)

READS: dict[str, JsonValue] = {
    "item": "${ item }",
    "index": "${ index }",
    "before": "${ steps.before.n }",
    "input": "${ inputs.day }",
    "execution": "${ execution.id }",
}
"""What an item may read."""


def each(items: JsonValue, batch: int, *steps: Step, concurrency: int = 1, after: str = "") -> Step:
    """Return a step as a flow with batches is compiled to."""
    inner = (Step("days.batch", BatchWork(steps)),)
    work = EachWork(items, inner, concurrency, batch)
    return Step("days", work, after=(after,) if after else ())


def children(world: World) -> list[str]:
    """Return the ids of the batches' executions, in the order in which they began."""
    return [name for name, one in world.engine.executions.items() if one.parent is not None]


def test_each_batch_is_an_execution_and_items_read_the_same() -> None:
    world = World()
    reads = Step("read", CallWork("noop", READS))
    plan = plan_of(
        Step("before", SetWork({"n": 7})),
        each("${ inputs.days }", 3, reads, after="before"),
        outputs={"count": "${ steps.days.count }"},
    )
    days: list[JsonValue] = [f"d{n}" for n in range(7)]
    world.start(plan, day="monday", days=days)

    world.make_calls()

    assert [dict(job.arguments) for job in world.done] == [
        {"item": day, "index": n, "before": 7, "input": "monday", "execution": "e1"}
        for n, day in enumerate(days)
    ]
    assert world.get().state is ExecutionState.SUCCESS
    assert world.get().outputs == {"count": 7}
    names = children(world)
    assert [len(one.runs) for one in map(world.get, names)] == [1 + 3, 1 + 3, 1 + 1]
    assert {one.flow for one in map(world.get, names)} == {plan.flow}
    assert len({job.key for job in world.done}) == 7
    world.check_ends()
    assert is_at_rest(world)


def test_so_many_batches_run_at_once_and_the_items_of_one_by_one() -> None:
    world = World()
    world.start(plan_of(each([1, 2, 3, 4, 5, 6], 2, call("a"), concurrency=2)))

    at_once = world.take_calls()

    assert len(at_once) == 2
    assert len({job.execution for job in at_once}) == 2
    assert len(children(world)) == 2


def test_more_items_than_task_runs_are_done() -> None:
    world = World()
    world.start(plan_of(each(list(range(2_500)), 500, call("a"), concurrency=5)))

    world.make_calls()

    assert world.get().state is ExecutionState.SUCCESS
    assert len(world.done) == 2_500
    assert len(world.get().runs) == 1 + 5


def test_a_failure_begins_no_further_item_and_no_further_batch() -> None:
    world = World()
    world.start(
        plan_of(each([1, 2, 3, 4, 5, 6], 2, Step("a", CallWork("noop", {"n": "${ item }"}))))
    )

    world.make_calls(lambda job: _fails_at(job, 3))

    assert [job.arguments["n"] for job in world.done] == [1, 2, 3]
    assert world.get().state is ExecutionState.FAILED
    assert [one.step for one in world.get().failures] == ["days.batch"]
    assert "it is broken" in world.get().failures[0].error.message
    world.check_ends()


def test_a_failure_that_is_overlooked_stops_no_item() -> None:
    world = World()
    step = call("a", on_error=OnError.CONTINUE)
    world.start(plan_of(each([1, 2, 3], 2, step)))

    world.make_calls(lambda _: Fails(BROKEN))

    assert len(world.done) == 3
    assert world.get().state is ExecutionState.SUCCESS


def test_a_kill_ends_the_batches() -> None:
    world = World()
    world.start(plan_of(each([1, 2, 3, 4], 2, call("a"), concurrency=2)))
    jobs = world.take_calls()

    world.send("e1", KillIt("p"))

    assert {one.state for one in world.engine.executions.values()} == {ExecutionState.KILLED}
    assert not any(world.claim(job) for job in jobs)
    world.check_ends()


def test_no_item_is_no_batch() -> None:
    world = World()
    world.start(plan_of(each([], 2, call("a"))))

    assert world.get().state is ExecutionState.SUCCESS
    assert world.states() == {"days": StepState.SUCCESS}
    assert world.run("days").outputs == {"count": 0}


def test_a_rerun_keeps_the_batches_that_succeeded() -> None:
    world = World()
    step = Step("a", CallWork("noop", {"n": "${ item }"}))
    world.start(plan_of(each([1, 2, 3, 4], 2, step)))
    world.make_calls(lambda job: _fails_at(job, 4))
    old = world.get()

    kept = kept_steps(old, old.plan, "e2", world.now)

    again = Execution("e2", old.plan, old.inputs, world.now, runs=kept.runs, rerun=RerunOf("e1"))
    world.engine.start(again)
    world.engine.work(world.now)
    world.make_calls()
    assert [job.arguments["n"] for job in world.done] == [1, 2, 3, 4, 3, 4]
    assert world.get("e2").state is ExecutionState.SUCCESS
    assert kept.changed == []


def test_batches_within_batches_read_the_item_that_is_nearest() -> None:
    world = World()
    inner = Step(
        "hours",
        EachWork(
            ["${ item }", "x"],
            (Step("hours.batch", BatchWork((Step("a", CallWork("noop", {"n": "${ item }"})),))),),
            batch=1,
        ),
    )
    plan: FlowPlan = plan_of(each(["d0", "d1"], 1, inner))

    world.start(plan)
    world.make_calls()

    assert [job.arguments["n"] for job in world.done] == ["d0", "x", "d1", "x"]
    assert world.get().state is ExecutionState.SUCCESS
    world.check_ends()


def _fails_at(job: StepCall, number: int) -> Fails | Succeeded:
    return Fails(BROKEN) if job.arguments["n"] == number else Succeeded()
