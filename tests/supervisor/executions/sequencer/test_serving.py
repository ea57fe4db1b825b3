"""Runners ask the owners of partitions: reports, claims, looks, losses."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import KillIt, Outcome, Report, Succeeded, Waits
from supervisor.core.executions.plan import CallWork, EachWork, FlowPlan, OnLost, Step
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.states import ExecutionState, StepState
from supervisor.executions.engine import CallReport, RunnerOrders, place_of
from supervisor.executions.runner import CallRunner
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.executions.sequencer.engine import PartitionedEngine
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.executions.sequencer.owners import PartitionOwners
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.executions import CallPlace
from tests.environment.memory_log import MemoryLog, MemoryTopics
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE
from tests.waiting import wait_until

RUNNER, OTHER = Runner("executor-1", "one"), Runner("executor-2", "one")
PARTITIONS = 3


class Process:
    """One executor over topics in memory, with a runner that does as it is bid."""

    def __init__(self, topics: MemoryTopics, partitions: range = range(PARTITIONS)) -> None:
        """Own these partitions."""
        self.topics = topics
        self.now = BEGAN
        self.partitions = partitions
        self.owners = PartitionOwners(self._new_owner, again_s=0.01)
        self.engine = PartitionedEngine(self.owners, PartitionPlan(PARTITIONS, 1), self._send)
        self.makes: dict[CallPlace, StepCall] = {}
        self.begin()

    def begin(self) -> None:
        """Take over."""
        self.owners.begin(self.partitions)
        wait_until(lambda: set(self.owners.working()) == set(self.partitions))

    def _new_owner(self, partition: int) -> PartitionOwner:
        log = MemoryLog(self.topics, partition, idle_s=0.002)
        plan = PartitionPlan(PARTITIONS, 1)
        return PartitionOwner(partition, plan, log, LANGUAGE, lambda _: None, now=lambda: self.now)

    def _send(self, partition: int, key: str, value: bytes) -> None:
        self.topics.append(LogTopic.HISTORY, partition, key, value)

    def serve(self, *done: StepCall, free: int = 0, runner: Runner = RUNNER) -> RunnerOrders:
        """Report these as done, and take what is granted."""
        reports = []
        for job in done:
            self.makes.pop(place_of(job), None)
            holder = None if job.check else runner
            given = Report(job.run, job.attempt, Succeeded(), holder, job.check)
            reports.append(CallReport(job.execution, given))
        orders = self.engine.serve(runner, list(self.makes), reports, free)
        self.makes |= {place_of(job): job for job in orders.begin}
        return orders

    def get(self, execution: str) -> Execution:
        """Return an execution of a partition that is worked here."""
        owner = self.owners.working()[partition_of(execution, PARTITIONS)]
        stored = owner.held.execution(execution)
        assert stored is not None
        return stored


@pytest.fixture
def process() -> Iterator[Process]:
    """One executor that owns all."""
    one = Process(MemoryTopics())
    yield one
    one.owners.leave(one.partitions)


def _each(items: int) -> FlowPlan:
    work = EachWork(list(range(items)), (Step("one", CallWork("noop")),), concurrency=items)
    return FlowPlan("f", 1, (Step("all", work),))


def _one(**more: object) -> FlowPlan:
    return FlowPlan("f", 1, (Step("a", CallWork("noop"), **more),))  # type: ignore[arg-type]


def _starts(plan: FlowPlan, *names: str) -> list[Execution]:
    return [Execution(name, plan, {}, BEGAN) for name in names]


def test_a_runner_gets_as_many_calls_as_it_has_room_for_and_each_goes_to_one(
    process: Process,
) -> None:
    started = process.engine.work(starts=_starts(_each(3), "e1", "e2", "e3")).started
    assert started == {"e1", "e2", "e3"}
    engine = process.engine

    granted = [
        engine.serve(RUNNER, [], free=2).begin,
        engine.serve(OTHER, [], free=99).begin,
        engine.serve(Runner("executor-3", "one"), [], free=99).begin,
    ]

    assert [len(calls) for calls in granted] == [2, 7, 0]
    assert len({place_of(call) for calls in granted for call in calls}) == 9


def test_flows_go_to_their_ends_by_what_runners_report(process: Process) -> None:
    process.engine.work(starts=_starts(_each(4), "e1", "e2"))
    orders = process.serve(free=3)
    while orders.begin:
        orders = process.serve(*orders.begin, free=3)

    assert {process.get(name).state for name in ("e1", "e2")} == {ExecutionState.SUCCESS}
    assert all(not owner.has_waiting for owner in process.owners.working().values())


def test_an_answer_that_got_lost_is_given_again_also_by_the_next_owner(process: Process) -> None:
    process.engine.work(starts=_starts(_one(), "e1"))
    [lost] = process.engine.serve(RUNNER, [], free=1).begin
    assert process.engine.serve(OTHER, [], free=9).begin == []

    process.owners.leave(process.partitions)
    process.begin()

    assert process.engine.serve(OTHER, [], free=9).begin == []
    # Nothing waits, so a runner with nothing to make asks by what it makes: nothing of this call.
    [again] = process.engine.serve(RUNNER, [CallPlace("e1", "nothing", 1)], free=1).begin
    assert again == lost


def test_what_was_killed_is_stopped(process: Process) -> None:
    process.engine.work(starts=_starts(_one(), "e1"))
    [job] = process.serve(free=1).begin
    process.engine.work([("e1", KillIt("ann"))])

    assert process.serve().stop == [place_of(job)]
    process.serve(job)
    assert process.get("e1").state is ExecutionState.KILLED


def test_a_runner_that_is_gone_loses_what_it_held(process: Process) -> None:
    process.engine.work(starts=_starts(_one(on_lost=OnLost.FAIL), "e1", "e2"))
    process.serve(free=2)

    assert process.engine.lose(RUNNER) == 2
    assert process.engine.lose(RUNNER) == 0
    states = {run.state for name in ("e1", "e2") for run in process.get(name).runs.values()}
    assert states == {StepState.FAILED}
    assert len(process.serve().stop) == 2, "it comes back, and hears of it"


def test_a_look_is_handed_out_until_it_is_answered(process: Process) -> None:
    process.engine.work(starts=_starts(_one(), "e1"))
    [job] = process.serve(free=1).begin
    process.makes.clear()
    waits = CallReport("e1", Report(job.run, 1, Waits("it"), RUNNER))
    assert process.engine.serve(RUNNER, [], [waits], free=1).begin == []

    process.now += timedelta(minutes=1)
    owner = process.owners.working()[partition_of("e1", PARTITIONS)]
    wait_until(lambda: owner.has_waiting)
    [look] = process.engine.serve(RUNNER, [], free=1).begin
    assert look.check == 1
    assert process.engine.serve(OTHER, [], free=1).begin == [look], "it needs no claim"
    assert process.serve(look, free=1).begin == []
    assert process.get("e1").state is ExecutionState.SUCCESS


def test_room_is_divided_among_partitions_and_none_is_always_the_last(process: Process) -> None:
    names = [
        next(f"e{n}" for n in range(99) if partition_of(f"e{n}", PARTITIONS) == k)
        for k in range(PARTITIONS)
    ]
    process.engine.work(starts=_starts(_each(5), *names))

    granted = [process.serve(free=1).begin for _ in range(PARTITIONS)]
    many = process.serve(free=7).begin

    assert sorted(call.execution for [call] in granted) == sorted(names)
    assert sorted(sum(call.execution == name for call in many) for name in names) == [2, 2, 3]


def test_quick_verbs_are_granted_beside_what_there_is_room_for(process: Process) -> None:
    slow = FlowPlan("f", 1, (Step("a", CallWork("http")),))
    process.engine.work(starts=_starts(_each(5), "e1", "e2") + _starts(slow, "e3", "e4"))
    process.engine.quick = {"noop"}

    assert sorted(call.verb for call in process.serve(free=1).begin) == ["http"] + 10 * ["noop"]
    assert process.serve().begin == []


def test_a_look_that_is_under_way_takes_no_room(process: Process) -> None:
    process.engine.work(starts=_starts(_one(), "e1"))
    [job] = process.serve(free=1).begin
    process.makes.clear()
    process.engine.serve(RUNNER, [], [CallReport("e1", Report(job.run, 1, Waits("it"), RUNNER))])
    process.now += timedelta(minutes=1)
    owner = process.owners.working()[partition_of("e1", PARTITIONS)]
    wait_until(lambda: owner.has_waiting)
    [look] = process.serve(free=1).begin
    same = next(
        f"e{n}"
        for n in range(2, 99)
        if partition_of(f"e{n}", PARTITIONS) == partition_of("e1", PARTITIONS)
    )
    process.engine.work(starts=_starts(_one(), same))

    [other] = process.serve(free=1).begin

    assert (look.check, other.execution) == (1, same)


def test_one_partition_in_trouble_holds_up_no_other_one(process: Process) -> None:
    names = [
        next(f"e{n}" for n in range(99) if partition_of(f"e{n}", PARTITIONS) == k) for k in range(2)
    ]
    process.engine.work(starts=_starts(_one(), *names))
    jobs = {job.execution: job for job in process.serve(free=2).begin}
    fenced = process.owners.working()[0]
    process.topics.owners[0] = MemoryLog(process.topics, 0)  # somebody else fences it
    process.makes.clear()
    reports = [
        CallReport(name, Report(job.run, job.attempt, Succeeded(), RUNNER))
        for name, job in jobs.items()
    ]

    orders = process.engine.serve(RUNNER, [], reports)

    assert [one.execution for one in orders.unheard] == [names[0]]
    assert process.get(names[1]).state is ExecutionState.SUCCESS
    wait_until(lambda: process.owners.working().get(0, fenced) is not fenced)
    assert not process.engine.serve(RUNNER, [], orders.unheard).unheard
    assert process.get(names[0]).state is ExecutionState.SUCCESS


def test_a_grant_whose_answer_got_lost_is_given_again_to_who_makes_nothing(
    process: Process,
) -> None:
    process.engine.work(starts=_starts(_one(), "e1"))
    process.engine.within_s = 0.0  # the answer comes too late
    process.topics.goes_on.clear()
    with pytest.raises(TimeoutError):
        process.engine.serve(RUNNER, [], free=1)
    process.engine.within_s = 30.0
    process.topics.goes_on.set()
    owner = process.owners.working()[partition_of("e1", PARTITIONS)]
    wait_until(lambda: not owner.has_waiting)

    [again] = process.engine.serve(RUNNER, [], free=1).begin

    assert again.execution == "e1"


def test_what_was_reported_by_the_history_is_not_ordered_again_before_it_is_read(
    process: Process,
) -> None:
    """Goal: what may be made once at most is made once, though its partition came and went."""
    names = [f"e{n}" for n in range(99) if partition_of(f"e{n}", PARTITIONS) == 1][:2]
    process.engine.work(starts=_starts(_one(), *names))
    [job] = process.serve(free=1).begin
    process.topics.comes.clear()
    process.owners.leave([1])
    process.serve(job)

    process.begin()
    ordered = [one.execution for _ in range(3) for one in process.serve(free=9).begin]
    process.topics.comes.set()

    assert ordered == [name for name in names if name != job.execution]
    wait_until(lambda: process.get(job.execution).state is ExecutionState.SUCCESS)


def test_what_rests_writes_nothing(process: Process) -> None:
    process.engine.work(starts=_starts(_one(), "e1"))
    process.serve(free=1)
    before = len(process.topics.commits)

    process.serve()
    process.serve(free=9)

    assert len(process.topics.commits) == before


def test_what_is_of_another_process_goes_there_by_the_history() -> None:
    topics = MemoryTopics()
    name = next(f"e{n}" for n in range(99) if partition_of(f"e{n}", PARTITIONS) == 2)
    first, second = Process(topics, range(2)), Process(topics, range(2, PARTITIONS))
    try:
        assert first.engine.work(starts=_starts(_one(), name)).started == frozenset()
        wait_until(lambda: any(one.has_waiting for one in second.owners.working().values()))
        [job] = second.engine.serve(RUNNER, [], free=1).begin
        assert first.serve(job).begin == []
        wait_until(lambda: second.get(name).state is ExecutionState.SUCCESS)
    finally:
        first.owners.leave(first.partitions)
        second.owners.leave(second.partitions)


def test_e9_a_runner_that_is_stopped_takes_no_more_and_what_it_makes_ends_there(
    process: Process,
) -> None:
    """As after SIGTERM: what ends inside the grace is reported, and nobody else makes it."""
    begun, goes_on, keys = threading.Semaphore(0), threading.Event(), list[str]()

    def slow(job: StepCall, _: threading.Event) -> Outcome:
        keys.append(job.key)
        begun.release()
        goes_on.wait(60)
        return Succeeded()

    process.engine.work(starts=_starts(_each(3), "e1"))
    runner = CallRunner(process.engine, RUNNER, {"noop": slow}, threads=2, look_s=0.01)
    runner.start()
    for _ in range(2):
        assert begun.acquire(timeout=60)
    runner.drain()
    goes_on.set()
    runner.stop(within_s=60)

    runs = [run for run in process.get("e1").runs.values() if run.step == "one"]
    assert sorted(run.state for run in runs) == ["SUBMITTED", "SUCCESS", "SUCCESS"]
    assert len(keys) == len(set(keys)) == 2
