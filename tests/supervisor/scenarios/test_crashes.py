"""A story of two handoffs that ends the same way wherever the overlord's process is cut off.

Slow: the control plane dies before and after each transaction of two handoffs.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from supervisor.core.model.rows import GenerationState
from supervisor.ports.store import Store
from tasks.contract.messages import PublishOutcome
from tasks.contract.offsets import Offsets
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.core.snapshots import HOUR, MINUTE, TOPIC, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.world import Crash, World

HANDOFFS = 2
"""Of each group: the first begins with nothing, the second follows a published range."""
RECORDS = 7
ROUNDS = 12
"""Of one handoff: far more than it needs, with crashes."""


class Story:
    """Two handoffs of each group in a world; a loop over it sees each death of the overlord."""

    def __init__(self, *, take_over: bool = False) -> None:
        """Let two groups of two replicas each read; another leads after a death, or the same."""
        self.world = World(SqliteInMemory(), spec(task_count=2, replicas=2))
        self.begun: set[int] = set()
        """The first transaction of each step."""
        self._take_over = take_over

    def __iter__(self) -> Iterator[None]:
        for _ in range(HANDOFFS):
            self.world.write(RECORDS)
            yield from self._rests()
            self.world.clock.advance(HOUR)
            yield from self._rests()
            self.world.clock.advance(MINUTE)

    def _rests(self) -> Iterator[None]:
        """Take turns until one changes nothing: neither would the next, for the clock stands."""
        for _ in range(ROUNDS):
            before = self._state()
            for step in self._turn():
                self.begun.add(self.world.store.calls)
                if self._survives(step):
                    continue
                yield
                if self._take_over:
                    self.world.take_over()
            assert_promises(self.world.store.sound)
            if self._state() == before:
                return
        raise AssertionError("it does not come to rest")

    def _turn(self) -> Iterator[Callable[[], object]]:
        world = self.world
        yield world.settle
        world.sync()
        yield world.settle
        world.read(RECORDS)
        world.sync()
        for hand, replica in world.ready_to_publish():
            yield partial(world.publish, hand, replica)

    def _survives(self, step: Callable[[], object]) -> bool:
        try:
            step()
        except Crash:
            assert_promises(self.world.store.sound)
            return False
        return True

    def _state(self) -> object:
        """Count what was written to the rows; list what each task is told, and has told."""
        tasks = [(hand.id, vars(replica).copy()) for hand, replica in self.world.replicas()]
        heard = [(hand.id, dict(hand.heard)) for hand in self.world.hands.all.values()]
        return self.world.store.calls, tasks, heard


def committed(store: Store) -> Offsets:
    with store.reading() as tx:
        return {p: row.next_offset for p, row in tx.offsets.of(TOPIC).items()}


def assert_finished(world: World) -> None:
    """All ranges but the last of each group are published, that one is read, nothing hangs."""
    with world.store.reading() as tx:
        states = [g.state for g in tx.generations.live(TOPIC)]
        publications = tx.segments.publications(TOPIC)
        active = tx.tasks.active(TOPIC)
    assert states == [GenerationState.READING] * 2
    assert len(active) == 4
    assert len(publications) == 2 * HANDOFFS
    assert set(committed(world.store).values()) == {HANDOFFS * RECORDS}


def without_crashes() -> Story:
    story = Story()
    assert list(story) == []
    assert_finished(story.world)
    return story


@pytest.mark.parametrize("take_over", [False, True], ids=["same-leader", "next-leader"])
def test_a_crash_at_any_transaction_is_healed_by_the_next_pass(*, take_over: bool) -> None:
    """Goal: pass and publish are safe to crash at any line (P13, P22).

    Inside a step a crash before a transaction is one after the transaction before it: only the
    rows outlive the process, and they are the same.
    """
    sound = without_crashes()
    calls = sound.world.store.calls
    assert calls > 16 * HANDOFFS  # plans, actions, publishes: else the story has lost its body
    crashes = [("after", call) for call in range(calls)]
    crashes += [("before", call) for call in sorted(sound.begun) if call < calls]
    for when, call in crashes:
        story = Story(take_over=take_over)
        getattr(story.world.store, when).add(call)

        assert len(list(story)) == 1, f"{when} {call}"

        assert_finished(story.world)


def test_crashes_one_after_the_other_are_healed() -> None:
    """Goal: also what heals may crash."""
    for call in range(without_crashes().world.store.calls):
        story = Story()
        crashing = story.world.store
        crashing.after.add(call)
        crashing.before.update({call + 1, call + 3})
        crashing.after.add(call + 5)

        assert len(list(story)) >= 1, f"{call}"

        assert_finished(story.world)


def test_a_lost_acknowledgement_is_answered_committed() -> None:
    """Goal: a task that asks again hears that its files are the segments (P22)."""
    world = Story().world
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
