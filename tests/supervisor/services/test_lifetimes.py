"""What ends after its time is wired to queues that wait as long as they should."""

from datetime import timedelta

from supervisor.adapters.manual_clock import ManualClock
from supervisor.chores.forget import FORGOTTEN
from supervisor.chores.segments import SEGMENT_FILES, SEGMENTS
from supervisor.core.queue.events import CLUSTER, QueueMode, QueueName, container_of
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.queues import EventQueues
from supervisor.ports.store import Store
from tests.conformance.stories import CLICKS
from tests.supervisor.chores.tables import DELAY, GRACE, Tables
from tests.supervisor.core.snapshots import NOON


def test_every_queue_has_its_consumer_and_its_delay(store: Store) -> None:
    """Goal: a queue that nobody consumes would be durable, and its work never done."""
    tables = Tables(store)
    queues = EventQueues(store, ManualClock(NOON), lambda: tables.term, Meters())

    tables.lifetimes.consume(queues, tables.warehouse)

    expected: dict[QueueName, timedelta] = {
        QueueName(container_of(CLICKS), SEGMENTS): GRACE,
        QueueName(container_of("others"), SEGMENTS): GRACE,
        QueueName(container_of(CLICKS), SEGMENT_FILES): DELAY,
        QueueName(CLUSTER, FORGOTTEN.name): DELAY,
    }
    for queue, delay in expected.items():
        config = queues.config_of(queue)
        assert (config.mode, config.delay) == (QueueMode.CONSUMER, delay)
