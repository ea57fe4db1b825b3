"""Rows that are not what was written: that queue stops for good, and no other one does."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from sqlalchemy import Connection, text

from supervisor.adapters.clock import SystemClock
from supervisor.core.queue.events import QueueConfig, QueueHealth, QueueName
from supervisor.core.values.errors import QueueDead
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.eventqueue.queues import EventQueues
from supervisor.metadata.migrate import migrating
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import LEASE_TTL, take_lease
from tests.supervisor.eventqueue.desk import Noting, event, numbers
from tests.waiting import wait_until

DAMAGED, OTHER = QueueName("supervisor:a", "work"), QueueName("supervisor:b", "work")
CONFIG = QueueConfig(max_items_at_once=4)

Harm = Callable[[Connection], object]


def sql(statement: str, **values: object) -> Harm:
    return lambda connection: connection.execute(text(statement), values)


HARMS: dict[str, tuple[Harm, int]] = {
    "other bytes": (
        sql("UPDATE events SET payload = :payload WHERE queue_id = 1 AND seq = 6", payload=b"{}"),
        6,
    ),
    "a length": (sql("UPDATE events SET size_bytes = 3 WHERE queue_id = 1 AND seq = 6"), 6),
    "a checksum": (sql("UPDATE events SET checksum = 3 WHERE queue_id = 1 AND seq = 6"), 6),
    "a lost row": (sql("DELETE FROM events WHERE queue_id = 1 AND seq = 6"), 6),
    "a lost tail": (sql("DELETE FROM events WHERE queue_id = 1 AND seq >= 5"), 5),
    "rows that changed places": (
        sql(
            "UPDATE events SET payload = (SELECT payload FROM events e WHERE e.queue_id = 1 AND "
            "e.seq = 7) WHERE queue_id = 1 AND seq = 6"
        ),
        6,
    ),
    "a counter that went back": (
        sql("UPDATE event_queues SET next_seq = 3 WHERE id = 1"),
        5,
    ),
}


class Sick:
    """Two queues of eight events each, four of which are handled, then one is harmed."""

    def __init__(self, url: str, store: SqlStore) -> None:
        self.url, self.store = url, store
        self.term = take_lease(store)
        self.handlers = {DAMAGED: Noting(), OTHER: Noting()}
        self.kit = ProcessorParts(store, SystemClock(), lambda: self.term, Meters())
        self.queues = {
            queue: EventProcessor(queue, CONFIG, handler, self.kit)
            for queue, handler in self.handlers.items()
        }
        for processor in self.queues.values():
            with store.leading(self.term) as tx:
                for number in range(1, 9):
                    processor.add(event(number), tx=tx)
            processor.run_once()

    def harm(self, harm: Harm) -> None:
        with migrating(self.url) as connection:
            harm(connection)


@pytest.fixture
def sick(database_url: str) -> Iterator[Sick]:
    store = SqlStore(database_url, lease_ttl=LEASE_TTL)
    yield Sick(database_url, store)
    store.close()


@pytest.mark.parametrize("name", HARMS)
def test_damage_kills_the_queue_and_nothing_behind_it_is_handled(sick: Sick, name: str) -> None:
    harm, seq = HARMS[name]
    sick.harm(harm)

    for _ in range(3):
        assert sick.queues[DAMAGED].run_once() is None

    with sick.store.reading() as tx:
        [dead] = tx.events.dead()
    assert (dead.queue, dead.state, dead.dead_seq) == (DAMAGED, QueueHealth.DEAD, seq)
    assert dead.dead_why
    assert sick.handlers[DAMAGED].keys == numbers(1, 5)  # from before the harm


def test_a_dead_queue_refuses_what_is_added_exempt_or_not(sick: Sick) -> None:
    """Goal: what depends on it learns of it: the transaction that adds fails, and says why."""
    sick.harm(HARMS["a lost row"][0])
    sick.queues[DAMAGED].run_once()
    for exempt in (False, True):
        with pytest.raises(QueueDead, match="tidegate queue repair supervisor:a work"):
            sick.queues[DAMAGED].add(event(9), exempt=exempt)


def test_the_queues_of_other_containers_run_on(sick: Sick) -> None:
    sick.harm(HARMS["a checksum"][0])
    queues = EventQueues(sick.store, SystemClock(), lambda: sick.term, Meters())
    handlers = {queue: Noting() for queue in (DAMAGED, OTHER)}
    for queue, handler in handlers.items():
        queues.for_consumer(queue.container, queue.name, handler, CONFIG)
    queues.start()
    queues.poll()
    wait_until(lambda: handlers[OTHER].keys == numbers(5, 9))
    wait_until(lambda: bool(_dead(sick.store)))
    queues.stop(timedelta(seconds=5))
    assert handlers[DAMAGED].keys == []


def test_death_is_for_good_also_for_the_next_leader(sick: Sick) -> None:
    """Goal: also if the damage is undone behind our back, a person looks first."""
    sick.harm(HARMS["a checksum"][0])
    sick.queues[DAMAGED].run_once()
    first = _dead(sick.store)
    sick.term = take_lease(sick.store, "the next leader")
    assert sick.queues[DAMAGED].run_once() is None
    assert _dead(sick.store) == first == {DAMAGED}


def _dead(store: SqlStore) -> set[QueueName]:
    with store.reading() as tx:
        return {row.queue for row in tx.events.dead()}
