"""What heals, and what it may cost: stuck tasks, broken specs, lost workers, races with a reset."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from supervisor.core.model.rows import AuditEntry, Generation, GenerationState, Task, TaskStatus
from supervisor.core.planning.actions import StartTask
from supervisor.core.planning.observed import Liveness, PlanLimits
from supervisor.core.planning.states import State, roll_up
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import UnusableFiles
from supervisor.ports.store import Store
from tasks.contract.messages import TaskPhase
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.core.snapshots import HOUR, MINUTE, TOPIC, other_spec, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.scenarios.publishers import committed
from tests.supervisor.world import AT_REST_AFTER, World, publish_request

SECOND = timedelta(seconds=1)
RECORDS = 5


def live(world: World) -> list[Generation]:
    with world.store.reading() as tx:
        return tx.generations.live(TOPIC)


def audited(world: World, action: str) -> list[AuditEntry]:
    with world.store.reading() as tx:
        return [e for e in reversed(tx.audit.recent(1_000)) if e.action == action]


def failed(world: World) -> list[Task]:
    with world.store.reading() as tx:
        return tx.tasks.find(status=TaskStatus.FAILED, supervisor_id=TOPIC)


def kill(world: World, *names: str) -> None:
    """End workers without a word; their leases are over."""
    for name in names or tuple(world.hands.all):
        hand = world.hands.all[name]
        hand.held, hand.heard, hand.liveness = {}, {}, Liveness.LOST


def turn(world: World, *names: str) -> None:
    """One round: orders out, records read, what is ready published."""
    world.settle()
    world.sync(*names)
    world.read(1_000)
    world.sync(*names)
    for hand, replica in world.ready_to_publish():
        world.publish(hand, replica)
    assert_promises(world.store)


def goes_on_until(world: World, done: Callable[[], bool], *names: str) -> int:
    """Let time pass, ten minutes at once; return how often it took."""
    for rounds in range(40):
        for _ in range(3):
            turn(world, *names)
        if done():
            return rounds
        world.clock.advance(10 * MINUTE)
    raise AssertionError(f"it does not come to rest: {live(world)}")


def publishing_and_reading(store: Store, wanted: SupervisorSpec, slots: int) -> World:
    """Each group has a range that publishes and one that reads; slots are as many as needed."""
    world = World(store, wanted)
    for hand in world.hands.all.values():
        hand.slots = slots
    world.settle()
    world.sync()
    world.write(RECORDS)
    world.read(RECORDS)
    world.clock.advance(HOUR)
    for _ in range(3):
        world.sync()
        world.settle()
    world.write(RECORDS)
    world.read(RECORDS)
    states = [g.state for g in live(world)]
    groups = wanted.io_config.task_count
    assert states == [GenerationState.PUBLISHING] * groups + [GenerationState.READING] * groups
    return world


# ------------------------------------------------------------------------------ slots


@pytest.mark.parametrize("replicas", [1, 2])
def test_all_workers_killed_with_no_slot_to_spare_lose_nothing(*, replicas: int) -> None:
    """Goal: what publishes needs no slot, so what waits for it cannot block it.  Source: P18."""
    world = publishing_and_reading(SqliteInMemory(), spec(2, replicas), slots=replicas)
    kill(world)
    world.settle()
    assert [t for t in failed(world) if not t.lost] == []

    took = goes_on_until(world, lambda: committed(world) == {2 * RECORDS})

    assert took <= 8  # one more taskDuration and a little
    assert audited(world, "discard") == []


def test_with_half_the_slots_groups_take_turns_and_all_is_published() -> None:
    """Goal: the oldest range gets the slot; nobody starves and nobody is stopped twice (P18)."""
    world = publishing_and_reading(SqliteInMemory(), spec(2, 1), slots=1)
    kill(world)
    world.settle()

    goes_on_until(world, lambda: committed(world) == {2 * RECORDS}, "w1")

    displaced = [t for t in failed(world) if "its slot goes to" in t.reason]
    assert len(displaced) <= 1
    last = world.one_pass()
    assert roll_up(last.seen, last.decided.waiting_for_slots).detailed == "NO_CAPACITY"


def test_the_older_group_gets_the_slot_of_the_younger_once() -> None:
    """Goal: no ping-pong between two groups and one slot (P18)."""
    world = World(SqliteInMemory(), spec(2, 1))
    for hand in world.hands.all.values():
        hand.slots = 1
    world.settle()
    world.sync()
    [older, younger] = live(world)
    with world.store.reading() as tx:
        [task] = [t for t in tx.tasks.active(TOPIC) if t.generation_id == older.id]
    other = next(name for name in world.hands.all if name != task.worker_id)
    kill(world, task.worker_id)

    for _ in range(10):
        world.settle()
        world.sync(other)
        world.clock.advance(SECOND)

    assert sorted(t.generation_id for t in failed(world)) == [older.id, younger.id]
    with world.store.reading() as tx:
        assert [t.generation_id for t in tx.tasks.active(TOPIC)] == [older.id]


# ------------------------------------------------------------------------------ failing tasks


def test_a_broken_spec_starts_few_tasks_in_ten_minutes() -> None:
    """Goal: no storm of tasks; the wait doubles up to its bound.  Source: B14."""
    world = World(SqliteInMemory(), spec(task_count=1))
    for _ in range(600):
        world.settle()
        world.sync()
        for _, replica in world.replicas():
            replica.phase = TaskPhase.FAILED
        world.sync()
        world.clock.advance(SECOND)

    starts = [a for each in world.passes for a in each.decided.actions if isinstance(a, StartTask)]
    assert 8 <= len(starts) <= 15
    last = world.one_pass()
    assert roll_up(last.seen, None).state is State.UNHEALTHY_TASKS


def test_a_range_that_a_spec_fails_is_read_again_with_the_next_one(store: Store) -> None:
    """Goal: neither lost nor twice, and audited with its offsets.  Source: P15, P17."""
    world = publishing_and_reading(store, spec(task_count=1), slots=8)
    [broken, _] = live(world)
    for _ in range(10):
        world.settle()
        world.sync()
        for _, replica in world.ready_to_publish():
            replica.phase = TaskPhase.FAILED
        world.sync()
        world.clock.advance(3 * MINUTE)
    assert live(world)[0] == broken  # without another spec it is tried on and on

    world.set_spec(other_spec())
    goes_on_until(world, lambda: committed(world) == {2 * RECORDS})

    discards = audited(world, "discard")
    assert discards[0].subject == broken.id
    assert "spec version 1" in discards[0].detail["why"]
    assert f"{TOPIC}:0 from 0 to {RECORDS}" in discards[0].detail["unpublished"]
    with world.store.reading() as tx:
        found = [tx.generations.get(p.generation_id) for p in tx.segments.publications(TOPIC)]
    assert {g.spec_version for g in found if g is not None} == {2}


def test_a_task_that_stands_still_is_replaced_and_somebody_is_told(store: Store) -> None:
    """Goal: a stuck job costs its own range a second reading and nothing else.  Source: P15."""
    world = publishing_and_reading(store, spec(task_count=1), slots=8)
    [publishing, _] = live(world)
    for hand in world.hands.all.values():
        hand.heard = {
            task_id: report.model_copy(update={"stalled_for": HOUR})
            for task_id, report in hand.heard.items()
        }
    with world.store.reading() as tx:
        stuck = {t.id for t in tx.tasks.active(TOPIC)}

    world.settle()

    assert {t.id for t in failed(world)} == stuck
    assert {e.subject for e in audited(world, "alert")} == stuck
    assert any("completionTimeout is 1,800 s" in e.detail["why"] for e in audited(world, "alert"))
    assert live(world)[0] == publishing
    goes_on_until(world, lambda: committed(world) == {2 * RECORDS})


def test_a_task_whose_publish_nobody_answers_is_replaced_and_the_alert_says_so(
    store: Store,
) -> None:
    """Goal: who reads the alert learns what was answered in place of an answer.  Source: P15."""
    world = publishing_and_reading(store, spec(task_count=1), slots=8)
    error_text = "no overlord answers the publish request: http://o: 500 a bug"
    for hand in world.hands.all.values():
        hand.heard = {
            task_id: report.model_copy(update={"stalled_for": HOUR, "detail": error_text})
            for task_id, report in hand.heard.items()
        }

    world.settle()

    whys = [entry.detail["why"] for entry in audited(world, "alert")]
    assert whys
    assert all(error_text in why for why in whys)


def test_a_range_whose_files_did_not_fit_is_read_again(store: Store) -> None:
    """Goal: it costs the range a second reading, and nothing is discarded (P15)."""
    world = publishing_and_reading(store, spec(task_count=1), slots=8)
    [(_, replica)] = world.ready_to_publish()
    request = publish_request(replica.wanted)
    twice = request.model_copy(update={"segments": request.segments * 2})
    with pytest.raises(UnusableFiles):
        world.publishing.publish(twice.task_id, replica.wanted.token, twice)

    goes_on_until(world, lambda: committed(world) == {2 * RECORDS})

    assert [task.id for task in failed(world)] == [replica.wanted.task_id]
    assert audited(world, "discard") == []


# ------------------------------------------------------------------------------ reset, tombstone


def test_a_reset_that_raced_with_opening_heals_itself(store: Store) -> None:
    """Goal: no range is left that could only hear SUPERSEDED."""
    world = World(store, spec(task_count=1))
    world.settle()
    [overtaken] = live(world)
    with store.leading(world.leadership.term()) as tx:
        rows = tx.offsets.of(TOPIC)
        expected = {p: row.next_offset for p, row in rows.items()}
        tx.offsets.reset(TOPIC, expected, {TOPIC: "id-1"}, expected)

    world.settle()

    [fresh] = live(world)
    assert (fresh.start, fresh.reset_epochs) == (overtaken.start, dict.fromkeys(rows, 1))
    assert [e.subject for e in audited(world, "discard")] == [overtaken.id]
    world.write(RECORDS)
    world.sync()
    world.read(RECORDS)
    world.clock.advance(HOUR)
    goes_on_until(world, lambda: committed(world) == {RECORDS})


def test_a_spec_posted_again_before_a_termination_is_done_joins_the_chain() -> None:
    """Goal: nothing that was read is lost or read twice for a change of mind.  Source: P19."""
    world = publishing_and_reading(SqliteInMemory(), spec(task_count=1), slots=8)
    world.set_spec(None)
    world.settle()
    world.sync()

    world.set_spec(spec(task_count=1))
    goes_on_until(world, lambda: committed(world) == {2 * RECORDS})

    assert audited(world, "discard") == []


def test_what_is_lost_after_a_tombstone_is_listed(store: Store) -> None:
    """Goal: who terminated hears which offsets are not in the table.  Source: P19."""
    world = publishing_and_reading(store, spec(task_count=1), slots=8)
    world.set_spec(None)
    kill(world)

    world.settle()

    assert live(world) == []
    unpublished = [e.detail["unpublished"] for e in audited(world, "discard")]
    assert unpublished == [
        f"{TOPIC}:0 from 0 to {RECORDS}, {TOPIC}:1 from 0 to {RECORDS}",
        f"{TOPIC}:0 from {RECORDS}, {TOPIC}:1 from {RECORDS}",
    ]
    assert committed(world) == {0}


# ------------------------------------------------------------------------------ verbs


class Ticking:
    """A world by the second: workers sync, and passes come when due or when told of news."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.due = world.clock.now()

    def tick(self) -> None:
        """Let a second pass."""
        world = self.world
        world.clock.advance(SECOND)
        before = self._phases()
        world.sync()
        if self._phases() != before:
            self.due = world.clock.now()
        for _ in range(AT_REST_AFTER):
            if self.due > world.clock.now():
                return
            self.due = world.one_pass().decided.wake_at
        raise AssertionError("the planner goes round in a circle")

    def _phases(self) -> dict[str, TaskPhase]:
        hands = self.world.hands.all.values()
        return {task_id: report.phase for hand in hands for task_id, report in hand.heard.items()}


def rests(world: World, _: set[str]) -> bool:
    with world.store.reading() as tx:
        return not (tx.generations.live(TOPIC) or tx.tasks.active(TOPIC))


def reads_anew(world: World, before: set[str]) -> bool:
    now = live(world)
    reported = {task_id for hand in world.hands.all.values() for task_id in hand.heard}
    with world.store.reading() as tx:
        ready = all(t.id in reported for t in tx.tasks.active(TOPIC))
    return bool(now) and before.isdisjoint(g.id for g in now) and ready


@pytest.mark.parametrize(
    ("wanted", "done"),
    [
        (spec(task_count=2, suspended=True), rests),
        (None, rests),
        (spec(task_count=1), reads_anew),
        (other_spec(), reads_anew),
    ],
    ids=["suspend", "terminate", "rescale", "spec-change"],
)
def test_verbs_of_an_idle_supervisor_are_done_within_a_period_and_the_pause(
    wanted: SupervisorSpec | None, done: Callable[[World, set[str]], bool]
) -> None:
    """Goal: nobody waits for a taskDuration; here even the wake-up of the verb is lost."""
    world = World(SqliteInMemory(), spec(task_count=2))
    ticking = Ticking(world)
    for _ in range(45):
        ticking.tick()
    before = {g.id for g in live(world)}
    assert len(before) == 2
    world.set_spec(wanted)
    limits = PlanLimits()

    seconds = 0
    while not done(world, before):
        ticking.tick()
        seconds += 1
        assert seconds <= (limits.period + limits.pause_timeout).total_seconds()

    assert audited(world, "discard") == []
