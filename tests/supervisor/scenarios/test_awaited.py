"""What an operation waits for: the ranges that the planner ends for it, and no others."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from supervisor.control.loop import Loop
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.history.operations import OperationState
from supervisor.core.planning.dry_run import Probed
from supervisor.core.planning.impact import SpecImpact
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SourceUnreadable
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from supervisor.services.history.history import History
from supervisor.services.supervisors.admission import Applied, OperatorPolicy
from supervisor.services.supervisors.dry_run import DryRun
from supervisor.services.supervisors.specs import Service
from supervisor.views.operations import OperationView
from tests.supervisor.core.snapshots import HOUR, TOPIC, spec
from tests.supervisor.scenarios.test_changes import turn
from tests.supervisor.world import World

DONE, RUNNING, SUPERSEDED = (OperationState[s] for s in ("DONE", "RUNNING", "SUPERSEDED"))
ME = "ada"
SECOND = timedelta(seconds=1)


@dataclass
class Verbs:
    """The verbs over one supervisor's world; passes are made by hand."""

    world: World

    @property
    def service(self) -> Service:
        world = self.world
        store, led_since = world.store.sound, world.leadership.led_since
        assert isinstance(store, SqlStore)
        return Service(
            store=store,
            clock=world.clock,
            leadership=world.leadership,
            registry=WorkerRegistry(world.clock, worker_timeout=HOUR, led_since=led_since),
            loop=Loop(lambda _: None, world.clock, threads=1),
            changed=Wakeups(),
            rules=OperatorPolicy(timedelta(seconds=60)),
        )

    def applies(self, wanted: SupervisorSpec) -> Applied:
        return self.service.apply_spec(wanted.normalised(), ME)

    def judged(self, wanted: SupervisorSpec) -> SpecImpact:
        world, service = self.world, self.service
        dry_run = DryRun(
            world.store.sound, world.leadership, service, self.looks, service._registry
        )
        impact = dry_run.judge(wanted.normalised(), connect=False).impact
        assert impact is not None
        return impact

    def looks(self, _: SupervisorSpec) -> Probed:
        raise SourceUnreadable("nobody looks")

    def operation(self, operation_id: str | None) -> OperationView:
        assert operation_id is not None
        return History(self.world.store.sound, self.world.clock).operation(operation_id)

    def state(self, operation_id: str | None) -> OperationState:
        return self.operation(operation_id).state


def at_work(store: Store, wanted: SupervisorSpec, partitions: int = 2) -> Verbs:
    """Every group reads, and has read."""
    world = World(store, wanted, partitions)
    for _ in range(3):
        turn(world)
    world.write(5)
    world.read(5)
    world.sync()
    return Verbs(world)


def counted(wanted: SupervisorSpec, count: int) -> SupervisorSpec:
    io_config = wanted.io_config.model_copy(update={"task_count": count})
    return wanted.model_copy(update={"io_config": io_config})


def longer(wanted: SupervisorSpec) -> SupervisorSpec:
    tuning = wanted.tuning_config.model_copy(update={"max_rows_per_segment": 1_000})
    return wanted.model_copy(update={"tuning_config": tuning})


def test_more_groups_than_partitions_change_nothing_and_are_waited_for_by_nobody(
    store: Store,
) -> None:
    """Goal: taskCount 8 -> 16 over 4 partitions is done at once, and told as what it is."""
    verbs = at_work(store, spec(8), partitions=4)

    impact = verbs.judged(spec(16))
    applied = verbs.applies(spec(16))
    verbs.world.settle()

    assert (impact.summary, impact.restarts) == (
        "nothing that runs is stopped: the new values hold at once",
        "none",
    )
    assert applied.impact.restarts == "none"
    now = verbs.operation(applied.operation)
    assert (now.state, now.ranges, now.finished_at) == (DONE, [], now.at)
    assert len(list(verbs.world.replicas())) == 4


def test_other_groups_are_waited_for_until_they_have_published(store: Store) -> None:
    verbs = at_work(store, spec(2), partitions=4)

    impact = verbs.judged(spec(4))
    applied = verbs.applies(spec(4))

    assert impact.summary.startswith("2 task groups hand off and publish what was read; ")
    now = verbs.operation(applied.operation)
    assert (now.state, len(now.ranges)) == (RUNNING, 2)
    assert now.waits_for.count("reads until its handoff begins") == 2
    for _ in range(4):
        turn(verbs.world)
    assert verbs.state(applied.operation) is DONE


@pytest.mark.parametrize("passes", [0, 1], ids=["before-a-pass", "after-a-pass"])
def test_a_suspend_that_is_taken_back_leaves_the_resume_nothing_that_it_waits_for_in_vain(
    store: Store, passes: int
) -> None:
    """Goal: without a pass between, all is read on, and the resume is done at once."""
    verbs = at_work(store, spec(1))

    suspend = verbs.service.suspend(TOPIC, ME).operation
    for _ in range(passes):
        turn(verbs.world)
    resume = verbs.service.resume(TOPIC, ME).operation
    at_once = verbs.state(resume)
    verbs.world.clock.advance(SECOND)
    for _ in range(4):
        turn(verbs.world)

    assert at_once is (RUNNING if passes else DONE)
    assert (verbs.state(suspend), verbs.state(resume)) == (SUPERSEDED, DONE)
    assert len(list(verbs.world.replicas())) == 1


def test_a_resume_waits_for_what_a_suspend_has_begun_to_end(store: Store) -> None:
    """Goal: a pause that has to end is not taken back: the resume runs with the successor."""
    verbs = at_work(store, spec(1))
    verbs.service.suspend(TOPIC, ME)
    verbs.world.settle()
    resume = verbs.service.resume(TOPIC, ME).operation

    assert "stops reading at a common offset" in verbs.operation(resume).waits_for
    for _ in range(4):
        turn(verbs.world)
    assert verbs.state(resume) is DONE


def test_a_change_that_is_taken_back_before_a_pass_disturbs_nothing(store: Store) -> None:
    verbs = at_work(store, spec(1))

    there = verbs.applies(longer(spec(1)))
    impact = verbs.judged(spec(1))
    back = verbs.applies(spec(1))
    verbs.world.settle()

    assert (there.impact.restarts, back.impact.restarts) == ("tasks", "none")
    assert impact.restarts == "none"
    assert (verbs.state(there.operation), verbs.state(back.operation)) == (SUPERSEDED, DONE)
    assert len(list(verbs.world.replicas())) == 1


def test_a_hot_change_behind_one_that_is_not_waits_for_what_that_one_ends(store: Store) -> None:
    """Goal: the newest version holds once no range of another kind is left."""
    verbs = at_work(store, spec(1))

    verbs.applies(longer(spec(1)))
    wanted = longer(spec(1, duration=2 * HOUR))
    summary = verbs.judged(wanted).summary
    hot = verbs.applies(wanted)

    assert summary == (
        "the new values hold at once; for earlier changes 1 task group hands off and publishes "
        "what was read"
    )
    assert verbs.state(hot.operation) is RUNNING
    for _ in range(4):
        turn(verbs.world)
    assert verbs.state(hot.operation) is DONE


def test_a_new_supervisor_waits_for_its_first_range(store: Store) -> None:
    verbs = Verbs(World(store, None))
    other = spec(1).model_copy(update={"id": "other"})

    applied = verbs.applies(other)

    assert "its first range" in verbs.operation(applied.operation).waits_for


def test_a_suspended_supervisor_waits_for_what_still_publishes(store: Store) -> None:
    verbs = at_work(store, spec(2))

    suspend = verbs.service.suspend(TOPIC, ME).operation
    verbs.world.settle()
    now = verbs.operation(suspend)
    for _ in range(4):
        turn(verbs.world)

    assert (now.state, len(now.ranges)) == (RUNNING, 2)
    assert verbs.state(suspend) is DONE
