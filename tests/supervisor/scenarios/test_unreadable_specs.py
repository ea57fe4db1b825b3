"""What follows a spec that only another release can read: nothing is lost, and nothing doubled."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.core.model.rows import Generation, GenerationState, Task, TaskStatus
from supervisor.core.planning.observed import Liveness
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SpecUnreadable
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from tests.conformance.metadata.databases import execute
from tests.sqlite_memory import empty_file
from tests.supervisor.core.snapshots import HOUR, MINUTE, TOPIC, other_spec, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.scenarios.publishers import committed
from tests.supervisor.world import World

RECORDS = 5


class Yard:
    """One group of two replicas that have read, and a database whose rows can be changed."""

    def __init__(self, store: Store, url: str) -> None:
        self.url = url
        self.world = World(store, spec(task_count=1, replicas=2))
        self.world.settle()
        self.world.sync()
        self.reads()

    def reads(self) -> None:
        """Let records come, and be read and reported."""
        self.world.write(RECORDS)
        self.world.read(RECORDS)
        self.world.sync()

    def forgets_to_read(self) -> None:
        """Make of the first version one of another release."""
        execute(
            self.url,
            "UPDATE supervisor_specs SET spec = json_set(spec, '$.ofTheFuture', 1) "
            "WHERE version = 1",
        )

    def goes_on(self, rounds: int = 6) -> None:
        """Let some rounds pass in which nothing new comes: orders, reports, publishes."""
        for number in range(3 * rounds):
            self.world.settle()
            self.world.read(1_000)
            self.world.sync()
            for hand, replica in self.world.ready_to_publish():
                self.world.publish(hand, replica)
            assert_promises(self.world.store)
            if number % 3 == 2:
                self.world.clock.advance(timedelta(seconds=30))

    def fixes_the_first_range(self) -> None:
        """Let the end of the first range be told, and a second one be read."""
        self.world.clock.advance(HOUR)
        for _ in range(3):
            self.world.sync()
            self.world.settle()
        self.world.sync()
        self.reads()
        states = [g.state for g in self.live()]
        assert states == [GenerationState.PUBLISHING, GenerationState.READING]

    def live(self) -> list[Generation]:
        with self.world.store.reading() as tx:
            return tx.generations.live(TOPIC)

    def ended(self, generation_id: str) -> GenerationState:
        with self.world.store.reading() as tx:
            found = tx.generations.get(generation_id)
        assert found is not None
        return found.state

    def failed(self) -> list[Task]:
        with self.world.store.reading() as tx:
            return tx.tasks.find(status=TaskStatus.FAILED, supervisor_id=TOPIC)


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    file = empty_file(tmp_path / "metadata.db")
    store = SqlStore(f"sqlite:///{file}", lease_ttl=timedelta(seconds=6))
    yield Yard(store, f"sqlite:///{file}")
    store.close()


@pytest.mark.parametrize("newer", [other_spec(), spec(1, 2), None], ids=["other", "same", "ended"])
def test_ranges_of_an_unread_version_hand_off_and_publish_what_they_read(
    yard: Yard, newer: SupervisorSpec | None
) -> None:
    """Goal: a newer spec or a tombstone ends them as any other version's.  Source: P8, P19."""
    [first] = yard.live()
    yard.forgets_to_read()
    yard.world.set_spec(newer)

    yard.goes_on()

    assert yard.ended(first.id) is GenerationState.PUBLISHED
    assert committed(yard.world) == {RECORDS}
    assert yard.failed() == []
    assert {g.spec_version for g in yard.live()} == (set() if newer is None else {2})


def test_what_was_fixed_before_is_published_and_what_follows_reads_on(yard: Yard) -> None:
    """Goal: a publish asks the newest spec who decides, not the one it was read with."""
    yard.fixes_the_first_range()
    yard.forgets_to_read()
    [(hand, replica), *_] = yard.world.ready_to_publish()
    with pytest.raises(SpecUnreadable):
        yard.world.publish(hand, replica)

    yard.world.set_spec(other_spec())
    yard.goes_on(rounds=10)

    assert committed(yard.world) == {2 * RECORDS}
    assert {g.spec_version for g in yard.live()} == {2}
    assert yard.failed() == []


@pytest.mark.parametrize("fixed", [True, False], ids=["publishing", "reading"])
def test_a_range_whose_replicas_are_lost_is_read_again_with_the_newer_spec(
    yard: Yard, *, fixed: bool
) -> None:
    """Goal: no task can be started with a spec that cannot be read; no record is lost for it."""
    if fixed:
        yard.fixes_the_first_range()
    read = RECORDS * (1 + fixed)
    yard.forgets_to_read()
    yard.world.set_spec(other_spec())
    for hand in yard.world.hands.all.values():
        hand.held, hand.heard, hand.liveness = {}, {}, Liveness.LOST
    yard.goes_on()

    assert {g.spec_version for g in yard.live()} == {2}
    assert committed(yard.world) == {0}
    yard.world.clock.advance(HOUR)
    yard.goes_on(rounds=10)
    assert committed(yard.world) == {read}


def test_a_task_that_no_worker_runs_is_not_waited_for(yard: Yard) -> None:
    """Goal: who was started again has its journal, and nobody here can send it the spec."""
    yard.fixes_the_first_range()
    yard.forgets_to_read()
    for hand in yard.world.hands.all.values():
        hand.held, hand.heard = {}, {}
    yard.world.set_spec(other_spec())

    yard.goes_on()

    assert all(task.lost for task in yard.failed())
    assert {g.spec_version for g in yard.live()} == {2}
    yard.world.clock.advance(HOUR)
    yard.goes_on(rounds=10)
    assert committed(yard.world) == {2 * RECORDS}


def test_a_task_that_finishes_and_stands_still_is_replaced_by_the_newer_spec(yard: Yard) -> None:
    """Goal: a deadline holds without the spec that names it.  Source: P15."""
    yard.fixes_the_first_range()
    yard.forgets_to_read()
    yard.world.set_spec(None)
    for hand in yard.world.hands.all.values():
        hand.heard = {
            k: r.model_copy(update={"stalled_for": 31 * MINUTE}) for k, r in hand.heard.items()
        }

    for _ in range(3):
        yard.world.settle()

    assert len(yard.failed()) == 4
    assert all("completionTimeout is 1,800 s" in t.reason for t in yard.failed()[2:])


def test_orders_of_a_kept_task_come_once_somebody_decides(yard: Yard) -> None:
    """Goal: while nothing is decided it goes on with its last orders, even over a lease."""
    yard.forgets_to_read()
    hand = yard.world.hands.all["w1"]
    before = sorted(hand.held)
    yard.world.clock.advance(2 * HOUR)
    yard.world.sync()
    assert sorted(hand.held) == before
    [replica] = hand.held.values()
    assert replica.wanted.order.sequence == 0

    yard.world.set_spec(None)
    yard.world.settle()
    yard.world.sync()

    assert replica.wanted.order.sequence == 1
