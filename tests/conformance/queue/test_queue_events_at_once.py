"""Event queues of a real database: writers at the same time, and rows that were damaged."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier

import pytest

from supervisor.core.queue.events import QueueHealth, QueueName, damage_of, unsound
from supervisor.metadata.store import SqlStore
from tests.conformance.metadata.databases import execute
from tests.conformance.queue.queue_stories import (
    CONFIG,
    OTHER,
    QUEUE,
    SIZE,
    add,
    aside,
    event,
    keys,
    numbers,
    process,
    row,
    stored,
)
from tests.conformance.stories import NOON, Leader, take_lease

WRITERS = 4
ROUNDS = 12


@pytest.fixture
def leader(database: SqlStore) -> Leader:
    """A leader on a real database."""
    return Leader(database, take_lease(database))


def _add_each_time(
    leader: Leader, writer: int, start: Barrier, queues: Sequence[QueueName]
) -> None:
    start.wait(30)
    for number in range(ROUNDS):
        with leader.writes() as tx:
            for queue in queues:
                tx.events.add(queue, event(f"{writer}:{number}"), CONFIG, NOON)


def _at_once(leader: Leader, *orders: Sequence[QueueName]) -> list[list[str]]:
    """Let one writer per order add to its queues; return what a reader saw meanwhile, and last."""
    start = Barrier(len(orders))
    seen: list[list[str]] = []
    with ThreadPoolExecutor(len(orders)) as pool:
        writers: list[Future[None]] = [
            pool.submit(_add_each_time, leader, writer, start, queues)
            for writer, queues in enumerate(orders)
        ]
        while not all(writer.done() for writer in writers):
            seen.append(keys(stored(leader)))
        for writer in writers:
            writer.result()
    return [*seen, keys(stored(leader))]


def test_events_become_visible_in_the_order_of_their_numbers(leader: Leader) -> None:
    """Goal: a consumer that has read on never misses one that comes to light later."""
    seen = _at_once(leader, *([QUEUE],) * WRITERS)
    for earlier, later in pairwise(seen):
        assert later[: len(earlier)] == earlier
    assert numbers(stored(leader)) == list(range(1, WRITERS * ROUNDS + 1))
    assert damage_of(row(leader), stored(leader)) is None
    for writer in range(WRITERS):
        mine = [key for key in seen[-1] if key.startswith(f"{writer}:")]
        assert mine == [f"{writer}:{number}" for number in range(ROUNDS)]


def test_writers_that_add_to_two_queues_in_opposite_order_do_not_meet(leader: Leader) -> None:
    """Goal: locks on queues never cross: nobody is refused as busy, whatever the caller's order."""
    _at_once(leader, [QUEUE, OTHER], [OTHER, QUEUE], [QUEUE, OTHER], [OTHER, QUEUE])
    for queue in (QUEUE, OTHER):
        assert numbers(stored(leader, queue)) == list(range(1, 4 * ROUNDS + 1))


@pytest.mark.pg
def test_a_transaction_that_added_keeps_nobody_from_adding(postgresql_leader: Leader) -> None:
    """Goal: a queue is locked at the end of a transaction only; numbers follow the commits."""
    with postgresql_leader.writes() as first:
        first.events.add(QUEUE, event("began first"), CONFIG, NOON)
        add(postgresql_leader, "committed first")
    assert keys(stored(postgresql_leader)) == ["committed first", "began first"]


@pytest.mark.pg
def test_a_consumer_and_who_adds_do_not_wait_for_each_other(postgresql_leader: Leader) -> None:
    at = add(postgresql_leader, "a")
    with postgresql_leader.writes() as consumer:
        consumer.events.advance(at, 1, SIZE)
        add(postgresql_leader, "b")
        consumer.events.add(QUEUE, event("a again"), CONFIG, NOON, exempt=True)
    assert keys(stored(postgresql_leader)) == ["a", "b", "a again"]
    assert row(postgresql_leader).outstanding_events == 2


DAMAGES = {
    "a payload changed": "UPDATE events SET payload = 'x' WHERE seq = 4",
    "a row is gone": "DELETE FROM events WHERE seq = 3",
    "the queue was counted back": "UPDATE event_queues SET next_seq = 2, enqueued_bytes = 1",
    "too much was processed": "UPDATE event_positions SET processed_seq = 9",
    "too many bytes were processed": "UPDATE event_positions SET processed_bytes = 99999",
    "too much was truncated": "UPDATE event_positions SET truncated_seq = 4",
    "numbers of rows moved": "UPDATE events SET seq = seq + 10 WHERE seq > 3",
}


@pytest.mark.parametrize("statement", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_looked_at_found_and_repaired(
    leader: Leader, database_url: str, statement: str
) -> None:
    """Goal: after a repair the queue runs on, every sound event that waited is in it, in order."""
    add(leader, *"abcde")
    process(leader, 2)
    with leader.writes() as tx:
        tx.events.set_aside(aside(2))
    execute(database_url, statement)
    at = row(leader)
    with leader.reads() as tx:
        assert [each.row for each in tx.events.waiting()] == [at]
        read = tx.events.read(at.id, at.processed_seq, 10)
    damage = damage_of(at, read)
    assert damage is not None

    with leader.writes() as tx:
        tx.events.declare_dead(at, damage.seq, damage.why)
    with leader.writes() as tx:
        sound = [each for each in tx.events.rebuild(QUEUE) if unsound(each) is None]
        for each in sound:
            tx.events.add(QUEUE, event(each.key), CONFIG, NOON, exempt=True)

    assert_runs_on(leader, [each.key for each in sound])


def assert_runs_on(leader: Leader, waits: list[str]) -> None:
    """Check that exactly `waits` are handled, then new ones, and that all can be deleted."""
    add(leader, "new")
    at = row(leader)
    assert at.state is QueueHealth.LIVE
    with leader.reads() as tx:
        read = tx.events.read(at.id, at.processed_seq, 10)
    assert damage_of(at, read) is None
    assert keys(read) == [*waits, "new"]
    after = process(leader, len(read))
    assert after.outstanding_bytes == 0
    with leader.writes() as tx:
        tx.events.truncate(after, after.processed_seq)
    assert stored(leader) == []
    assert row(leader).truncated_bytes == after.processed_bytes


def test_a_first_event_that_is_missing_makes_its_queue_wait_for_a_look(
    leader: Leader, database_url: str
) -> None:
    add(leader, *"ab")
    execute(database_url, "DELETE FROM events WHERE seq = 1")
    with leader.reads() as tx:
        (waiting,) = tx.events.waiting()
        first = tx.events.heads([waiting.row.id, waiting.row.id + 1])
    assert (waiting.row, waiting.due_at, waiting.enqueued_at) == (row(leader), None, None)
    assert {queue_id: event.seq for queue_id, event in first.items()} == {waiting.row.id: 2}
