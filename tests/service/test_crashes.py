"""A story of two handoffs that ends the same way wherever the overlord's process is cut off."""

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from supervisor.adapters.memory import MemoryStore
from supervisor.core.model import GenerationState
from supervisor.ports import Store
from tasks.contract import PublishOutcome
from tasks.offsets import Offsets
from tests.core.snapshots import HOUR, MINUTE, TOPIC, spec
from tests.service.promises import assert_promises
from tests.service.world import Crash, World

RECORDS = 7
ROUNDS = 12
"""Of one handoff: far more than it needs without a crash."""


def tell(world: World, *, take_over: bool = False) -> Iterator[None]:
    """Tell the story of three ranges; yields whenever the process of the overlord has died."""
    for _ in range(3):
        world.write(RECORDS)
        for turn in range(ROUNDS):
            for step in _turn(world):
                if _survives(world, step):
                    continue
                yield
                if take_over:
                    world.take_over()
            if turn == ROUNDS // 2:
                world.clock.advance(HOUR)
            assert_promises(world.store.sound)
        world.clock.advance(MINUTE)


def _turn(world: World) -> Iterator[Callable[[], object]]:
    yield world.settle
    world.sync()
    yield world.settle
    world.read(RECORDS)
    world.sync()
    for hand, replica in world.ready_to_publish():
        yield lambda hand=hand, replica=replica: world.publish(hand, replica)  # type: ignore[misc]


def _survives(world: World, step: Callable[[], object]) -> bool:
    try:
        step()
    except Crash:
        assert_promises(world.store.sound)
        return False
    return True


def small_world() -> World:
    """Two groups of two replicas each."""
    return World(MemoryStore(), spec(task_count=2, replicas=2))


def committed(store: Store) -> Offsets:
    with store.reading() as tx:
        return {p: row.next_offset for p, row in tx.offsets.of(TOPIC).items()}


def assert_told_to_its_end(world: World) -> None:
    """Two ranges of each group are published, the third is read, nothing hangs."""
    with world.store.reading() as tx:
        states = [g.state for g in tx.generations.live(TOPIC)]
        publications = tx.segments.publications(TOPIC)
        active = tx.tasks.active(TOPIC)
    assert states == [GenerationState.READING] * 2
    assert len(active) == 4
    assert len(publications) == 6
    assert set(committed(world.store).values()) == {3 * RECORDS}


def calls_of_the_story() -> int:
    world = small_world()
    assert list(tell(world)) == []
    assert_told_to_its_end(world)
    return world.store.calls


@pytest.mark.parametrize("take_over", [False, True], ids=["same-leader", "next-leader"])
def test_a_crash_at_any_transaction_is_healed_by_the_next_pass(*, take_over: bool) -> None:
    """Goal: pass and publish are safe to crash at any line (P13, P22)."""
    calls = calls_of_the_story()
    assert calls > 50  # plans, actions and publishes: else the story has lost its body
    for call in range(calls):
        for when in ("before", "after"):
            world = small_world()
            getattr(world.store, when).add(call)

            assert len(list(tell(world, take_over=take_over))) == 1, f"{when} {call}"

            assert_told_to_its_end(world)


def test_crashes_one_after_the_other_are_healed() -> None:
    """Goal: also what heals may crash."""
    calls = calls_of_the_story()
    for call in range(calls):
        world = small_world()
        world.store.after.add(call)
        world.store.before.update({call + 1, call + 3})
        world.store.after.add(call + 5)

        assert len(list(tell(world))) >= 1, f"{call}"

        assert_told_to_its_end(world)


def test_a_lost_acknowledgement_is_answered_committed() -> None:
    """Goal: a task that asks again hears that its files are the segments (P22)."""
    world = small_world()
    world.write(RECORDS)
    answers = []
    for turn in range(ROUNDS):
        world.settle()
        world.sync()
        world.read(RECORDS)
        if turn == ROUNDS // 2:
            world.clock.advance(HOUR)
        for hand, replica in world.ready_to_publish():
            world.store.after.add(world.store.calls)
            with pytest.raises(Crash):
                world.publish(hand, replica)
            answers.append(world.publish(hand, replica).outcome)
            assert_promises(world.store.sound)
    assert Counter(answers) == {
        PublishOutcome.COMMITTED: 2,
        PublishOutcome.ALREADY_PUBLISHED: 2,
    }
