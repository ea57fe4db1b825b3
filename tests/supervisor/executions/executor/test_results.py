"""Results that wait: kept while nobody takes them, offered by the next life, bounded."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import (
    Begin,
    Claim,
    ExecutionInput,
    Outcome,
    Report,
    Succeeded,
)
from supervisor.core.executions.plan import CallWork, FlowPlan, Step
from supervisor.core.executions.reduce import reduce_execution
from supervisor.executions.engine import CallReport, RunnerOrders
from supervisor.executions.executor.results import SETTLED_S, WaitingResults
from supervisor.executions.runner import CallRunner
from supervisor.ports.flows.executions import CallPlace
from supervisor.ports.flows.results import ResultsFull, WaitingResult
from supervisor.ports.store_problems import StoreAway
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE

BEFORE, NOW = Runner("one", "before"), Runner("one", "now")


@dataclass
class Disk:
    """A store of results in memory."""

    left: list[WaitingResult] = field(default_factory=list)
    kept: list[WaitingResult] = field(default_factory=list)
    full: bool = False
    closed: bool = False

    def open(self) -> Sequence[WaitingResult]:
        """Return what former lives have left."""
        self.kept = list(self.left)
        return self.left

    def put(self, results: Sequence[WaitingResult]) -> None:
        """Keep them, if there is room."""
        if self.full:
            raise ResultsFull("it is full")
        self.kept += results

    def forget(self, results: Sequence[WaitingResult]) -> None:
        """Keep these no longer."""
        self.kept = [one for one in self.kept if one not in results]

    def close(self) -> None:
        """Note it."""
        self.closed = True


@dataclass
class Owner:
    """Whoever grants calls; it takes reports while it is there."""

    there: bool = False
    free: list[int] = field(default_factory=list)
    taken: list[CallReport] = field(default_factory=list)

    def serve(
        self,
        _: Runner,
        __: Sequence[CallPlace],
        reports: Sequence[CallReport] = (),
        free: int = 0,
    ) -> RunnerOrders:
        """Take them, or hand them back."""
        self.free.append(free)
        if not self.there:
            return RunnerOrders([], [], list(reports))
        self.taken += reports
        return RunnerOrders([], [])


@dataclass
class World:
    """An executor of which only the results matter."""

    disk: Disk = field(default_factory=Disk)
    owner: Owner = field(default_factory=Owner)
    shown: Execution | None = None
    """What the tables say of an execution; None: they do not know it yet."""
    away: bool = False
    """Whether the tables are away."""
    now: float = 0.0

    def __post_init__(self) -> None:
        """Make the parts."""
        self.runner = CallRunner(self.owner, NOW, {})
        self.results = WaitingResults(self.runner, self.disk, self._shown, lambda: self.now)

    def _shown(self, _: str) -> Execution | None:
        if self.away:
            raise StoreAway("the tables are away")
        return self.shown

    def ends(self, name: str, *, look: int = 0) -> WaitingResult:
        """Let a call end."""
        outcome: Outcome = Succeeded({"of": name})
        given = Report(f"r-{name}", 1, outcome, None if look else NOW, look)
        with self.runner._news:
            self.runner._reports.append(CallReport(name, given))
        return WaitingResult(name, given)


@pytest.fixture
def world() -> World:
    return World()


def _execution(*inputs: ExecutionInput) -> Execution:
    """Return an execution of one call after some inputs."""
    execution = Execution("e1", FlowPlan("f", 1, (Step("a", CallWork("noop")),)), {}, BEGAN)
    for given in (Begin(), *inputs):
        execution = reduce_execution(execution, given, BEGAN, LANGUAGE).entity
    return execution


def _former(name: str) -> WaitingResult:
    return WaitingResult(name, Report(f"r-{name}", 1, Succeeded(), BEFORE))


def test_what_is_taken_within_a_moment_is_never_kept(world: World) -> None:
    world.owner.there = True
    world.ends("e1")
    world.results.run_once()
    world.runner.round_trip()
    world.results.run_once()

    assert (world.disk.kept, len(world.owner.taken)) == ([], 1)


def test_what_nobody_takes_is_kept_until_somebody_does(world: World) -> None:
    one = world.ends("e1")
    world.ends("e2", look=3)
    for _ in range(3):
        world.runner.round_trip()
        world.results.run_once()
    assert world.disk.kept == [one], "a look is made again"
    assert world.results.kept == 1
    assert world.results.offers() == [], "this life has made it"

    world.owner.there = True
    world.runner.round_trip()
    world.results.run_once()

    assert (world.disk.kept, world.results.kept) == ([], 0)


def test_without_room_no_more_calls_are_taken_and_nothing_is_lost(world: World) -> None:
    world.disk.full = True
    world.ends("e1")
    for _ in range(2):
        world.runner.round_trip()
        world.results.run_once()
    world.runner.round_trip()

    assert world.owner.free == [8, 8, 0]
    assert "it is full" in world.results.trouble
    world.owner.there = True
    world.runner.round_trip()
    world.results.run_once()
    world.runner.round_trip()
    assert [one.execution for one in world.owner.taken] == ["e1"]
    assert (world.results.trouble, world.owner.free[-1]) == ("", 8)


def test_room_that_comes_is_used(world: World) -> None:
    world.disk.full = True
    one = world.ends("e1")
    for _ in range(2):
        world.results.run_once()
    assert world.results.trouble

    world.disk.full = False
    world.results.run_once()

    assert (world.disk.kept, world.results.trouble) == ([one], "")


def test_results_of_a_former_life_are_reported_as_its_own_and_offered_until_worked_in(
    world: World,
) -> None:
    run = next(iter(_execution().runs))
    given = Report(run, 1, Succeeded(), BEFORE)
    world.disk.left = [WaitingResult("e1", given)]
    world.results.open()
    world.runner.round_trip()
    world.results.run_once()
    assert world.results.offers() == ["before"], "nobody has taken it"

    world.owner.there = True
    world.runner.round_trip()
    world.results.run_once()
    assert world.owner.taken == [CallReport("e1", given)]
    assert world.results.offers() == ["before"], "the tables do not know the execution yet"
    for behind in (_execution(), _execution(Claim(run, 1, BEFORE))):
        world.shown = behind
        world.results.run_once()
        assert world.results.offers() == ["before"], "it is on its way by the history"
    world.away = True
    world.results.run_once()
    assert world.results.offers() == ["before"], "nothing is known"

    world.away, world.shown = False, _execution(Claim(run, 1, BEFORE), given)
    world.results.run_once()

    assert (world.results.offers(), world.disk.kept) == ([], [])


def test_a_former_life_is_not_offered_for_ever(world: World) -> None:
    world.disk.left, world.away = [_former("e1")], True
    world.owner.there = True
    world.results.open()
    world.runner.round_trip()
    world.results.run_once()
    world.now += SETTLED_S + 1

    world.results.run_once()

    assert world.results.offers() == []


def test_whoever_ends_leaves_what_was_not_taken_to_the_next_life(world: World) -> None:
    one = world.ends("e1")

    world.results.close()

    assert (world.disk.kept, world.disk.closed) == ([one], True)
