"""Carrying out: each action changes the rows once, and never when they have moved on."""

from collections.abc import Iterator

import pytest

from supervisor.control.observe import observe
from supervisor.control.reconcile import apply, make_pass
from supervisor.core.model.rows import GenerationState, TaskStatus
from supervisor.core.planning.actions import (
    Action,
    BeginHandoff,
    CloseEmpty,
    CommitInitialOffsets,
    DiscardGeneration,
    EndTask,
    FixEnd,
    OpenGeneration,
    ResumeReading,
    StartTask,
)
from supervisor.core.planning.observed import Liveness, Observed
from supervisor.core.planning.plan import plan
from supervisor.core.values.errors import LeaseLost, StateMoved
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.core.snapshots import HOUR, MINUTE, TOPIC, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.world import World

Step = tuple[Action, Observed]


class ActionStory:
    """A story with every kind of action; whoever listens carries the actions out."""

    def __init__(self) -> None:
        self.store = SqliteInMemory()
        self.world = World(self.store, spec(task_count=2, replicas=2), partitions=3)

    def rows(self) -> list[str]:
        """Everything that is stored, as SQL."""
        return list(self.store.raw.iterdump())

    def apply(self, step: Step) -> bool:
        """Carry an action out as a pass does; False: the state has moved on."""
        action, seen = step
        try:
            with self.store.leading(self.world.leadership.term()) as tx:
                apply(action, seen, tx, self.world.shell)
        except StateMoved:
            return False
        return True

    def steps(self) -> Iterator[Step]:
        """Yield each action of the story when it is due."""
        world = self.world
        yield from self._turns(2)
        world.clock.advance(HOUR)  # nothing was read: the groups read on
        yield from self._turns(3)
        world.write(5)
        world.read(5)
        world.clock.advance(HOUR)  # a whole handoff
        yield from self._turns(4)
        world.hands.all["w1"].liveness = Liveness.LOST
        yield from self._settled()
        world.clock.advance(5 * MINUTE)
        world.set_spec(spec(task_count=2, replicas=2, suspended=True))  # nothing read: empty
        yield from self._turns(3)
        world.set_spec(spec(task_count=1, replicas=2))
        yield from self._turns(2)
        world.write(5)
        world.read(5)
        world.set_spec(None)  # what it read is not published before every worker is lost
        yield from self._turns(2, publish=False)
        for hand in world.hands.all.values():
            hand.liveness = Liveness.LOST
        yield from self._settled()

    def _turns(self, number: int, *, publish: bool = True) -> Iterator[Step]:
        for _ in range(number):
            yield from self._settled()
            self.world.sync()
            if publish:
                for hand, replica in self.world.ready_to_publish():
                    self.world.publish(hand, replica)

    def _settled(self) -> Iterator[Step]:
        while True:
            seen = observe(TOPIC, self.world.shell.sources, self.world.clock.now())
            assert seen is not None
            decided = plan(seen).actions
            if not decided:
                return
            yield from ((action, seen) for action in decided)


def test_each_action_applied_again_changes_nothing() -> None:
    """Goal: a pass that crashed after an action is made again."""
    story = ActionStory()
    kinds = set()
    for step in story.steps():
        kinds.add(type(step[0]))
        before = story.rows()
        assert story.apply(step)
        once = story.rows()
        assert once != before, f"{step[0]} does nothing"

        story.apply(step)

        assert story.rows() == once, f"{step[0]} twice"
        assert_promises(story.store)
    assert kinds == {
        BeginHandoff,
        CloseEmpty,
        CommitInitialOffsets,
        DiscardGeneration,
        EndTask,
        FixEnd,
        OpenGeneration,
        ResumeReading,
        StartTask,
    }


def test_each_action_applied_late_changes_nothing() -> None:
    """Goal: what was decided before the state moved on is void, at any later time."""
    story = ActionStory()
    done: list[Step] = []
    for step in story.steps():
        story.apply(step)
        done.append(step)
        now = story.rows()
        for late in done:
            story.apply(late)
            assert story.rows() == now, f"{late[0]} after {step[0]}"
    assert len(done) > 30


def paused_and_empty() -> tuple[ActionStory, Step]:
    """A group that must end and has read nothing is about to be closed."""
    story = ActionStory()
    for step in story.steps():
        if isinstance(step[0], CloseEmpty):
            return story, step
        story.apply(step)
    raise AssertionError("no group is closed in this story")


def test_a_group_that_has_resumed_is_not_closed_by_an_older_decision() -> None:
    """Goal: an action names the order it was decided on; a newer one voids it."""
    story, (close, seen) = paused_and_empty()
    assert isinstance(close, CloseEmpty)
    with story.store.leading(story.world.leadership.term()) as tx:
        assert tx.generations.resume(
            close.generation_id, close.expected_sequence, restart_timer=True, now=seen.now
        )

    assert not story.apply((close, seen))

    with story.store.reading() as tx:
        found = tx.generations.get(close.generation_id)
    assert found is not None
    assert found.state is GenerationState.READING


def test_the_end_and_the_successor_are_one_transaction() -> None:
    """Goal: at no time is a partition without a range that will read on (P13)."""
    story = ActionStory()
    fixed = 0
    for step in story.steps():
        story.apply(step)
        if not isinstance(step[0], FixEnd) or step[0].successor is None:
            continue
        fixed += 1
        with story.store.reading() as tx:
            follows = tx.generations.get(step[0].successor.generation_id)
        assert follows is not None
        assert follows.state is GenerationState.READING
        assert follows.start == step[0].end
    assert fixed >= 2


def test_a_group_that_is_closed_ends_its_tasks_with_it() -> None:
    story, (close, seen) = paused_and_empty()
    assert isinstance(close, CloseEmpty)

    assert story.apply((close, seen))

    with story.store.reading() as tx:
        tasks = tx.tasks.of_generations([close.generation_id])
    assert tasks
    assert not [t for t in tasks if t.active]
    assert [t.status for t in tasks if t.ended_at == seen.now] == [TaskStatus.SUCCESS] * 2


def test_a_replica_does_not_start_where_the_last_slot_has_gone() -> None:
    """Goal: two supervisors that saw the same free slot do not both get it (P18)."""
    story = ActionStory()
    for hand in story.world.hands.all.values():
        hand.slots = 1
    starts = []
    for step in story.steps():
        if isinstance(step[0], StartTask):
            starts.append(step)
        elif starts:
            break
        else:
            story.apply(step)
        if len(starts) == 2:
            break
    assert {action.worker_id for action, _ in starts if isinstance(action, StartTask)} == {
        "w1",
        "w2",
    }
    first = starts[0]
    assert story.apply(first)
    assert isinstance(first[0], StartTask)
    other, seen = starts[1]
    assert isinstance(other, StartTask)
    stolen = StartTask(
        "another",
        other.generation_id,
        other.replica,
        other.attempt,
        first[0].worker_id,
        1,
        "it saw the same slot",
    )

    assert not story.apply((stolen, seen))


def test_a_plan_is_stored_with_its_reasons_before_it_is_carried_out() -> None:
    """Goal: a crash leaves behind what was about to happen."""
    world = World(SqliteInMemory(), spec())
    world.store.before = {1}

    with pytest.raises(Exception, match="before transaction 1"):
        world.one_pass()

    with world.store.reading() as tx:
        [stored] = tx.plans.recent(TOPIC, 10)
        assert tx.offsets.of(TOPIC) == {}
    assert [a["action"] for a in stored.actions] == ["CommitInitialOffsets"]
    assert stored.actions[0]["why"]
    assert stored.term == world.leadership.term()


def test_a_pass_without_actions_stores_nothing() -> None:
    world = World(SqliteInMemory(), spec())
    world.settle()
    calls = world.store.calls

    world.one_pass()

    assert world.store.calls == calls


def test_a_deposed_leader_carries_nothing_out() -> None:
    """Goal: one leader writes (P1)."""
    world = World(SqliteInMemory(), spec())
    old = world.leadership.term()
    world.take_over()

    with pytest.raises(LeaseLost):
        make_pass(TOPIC, world.shell, old)

    with world.store.reading() as tx:
        assert tx.offsets.of(TOPIC) == {}


def test_an_id_that_was_never_used_has_no_pass() -> None:
    world = World(SqliteInMemory(), spec())

    assert make_pass("never", world.shell, world.leadership.term()) is None


def test_a_later_range_is_discarded_with_the_one_it_follows() -> None:
    """Goal: no range waits for ever for a predecessor that was given up (P16)."""
    world = World(SqliteInMemory(), spec(task_count=1), partitions=1)
    for _ in range(2):
        world.write(5)
        _turns_without_publishing(world, 3)
        world.clock.advance(HOUR)
    world.set_spec(None)
    _turns_without_publishing(world, 3)
    with world.store.reading() as tx:
        first, second = tx.generations.live(TOPIC)
        [task] = [t for t in tx.tasks.of_generations([first.id]) if t.active]
    assert (first.state, second.state) == (GenerationState.PUBLISHING, GenerationState.PUBLISHING)
    with world.store.leading(world.leadership.term()) as tx:
        tx.tasks.end(task.id, TaskStatus.FAILED, "killed", world.clock.now())

    world.settle()
    world.sync()

    assert_promises(world.store)
    with world.store.reading() as tx:
        assert tx.generations.live(TOPIC) == []
        assert tx.tasks.active(TOPIC) == []
        assert {row.next_offset for row in tx.offsets.of(TOPIC).values()} == {0}
        assert {e.subject for e in tx.audit.recent(9) if e.action == "discard"} >= {first.id}


def _turns_without_publishing(world: World, number: int) -> None:
    for _ in range(number):
        world.settle()
        world.sync()
        world.read(5)
