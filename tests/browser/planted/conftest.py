"""An overlord without worker and broker, and rows of queues and compactions put into its database.

No call of the API damages a queue: the rows are written as the leader writes them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from pydantic import JsonValue

from supervisor.core.queue.events import FailedEvent, QueueConfig, QueuedEvent, QueueName
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.intervals import Interval
from supervisor.dev.ports import LOOPBACK
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords
from tests.waiting import HANGS_AFTER_S

# A machine that is all used up answers late: only what hangs fails.
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

NOBODY = f"{LOOPBACK}:1"
"""The address of a broker that is not there: specs are stored, and nothing is read."""
HANDLED_BY_NOBODY = "planted"
"""The name of queues that have no handler, so that their events wait for ever."""


@dataclass(frozen=True)
class Planted:
    """An overlord, and the database behind it."""

    overlord: Overlord
    url: str

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Write as the leader does."""
        store = SqlStore(self.url, lease_ttl=timedelta(seconds=10), pool_size=1)
        try:
            with store.reading() as tx:
                lease = tx.lease.read()
            assert lease is not None
            with store.leading(lease.term) as tx:
                yield tx
        finally:
            store.close()

    def apply(self, name: str, reason: str = "", **io_config: JsonValue) -> None:
        """Store a spec whose id, topic and table have one name."""
        document = spec(NOBODY, name)
        inner = document["spec"]
        assert isinstance(inner, dict)
        source = inner["ioConfig"]
        assert isinstance(source, dict)
        source |= io_config
        params = {"reason": reason} if reason else {}
        self.overlord.http.post(SUPERVISORS, json=document, params=params).raise_for_status()

    def queue(self, container: str, events: int = 1) -> QueueName:
        """Return a queue in which events wait."""
        queue = QueueName(container, HANDLED_BY_NOBODY)
        with self.writing() as tx:
            for n in range(events):
                event = QueuedEvent("planted", f"key-{n}", {"n": n})
                tx.events.add(queue, event, QueueConfig(), datetime.now(UTC), exempt=True)
        return queue

    def set_aside(self, queue: QueueName, seq: int, payload: bytes, reason: str) -> None:
        """Have an event of the queue set aside."""
        now = datetime.now(UTC)
        failed = FailedEvent(queue, seq, f"key-{seq}", payload, reason, now, now, attempts=3)
        with self.writing() as tx:
            tx.events.set_aside(failed)

    def kill(self, queue: QueueName, why: str) -> None:
        """Have the queue found damaged at its first event."""
        with self.writing() as tx:
            row = tx.events.find(queue)
            assert row is not None
            tx.events.declare_dead(row, 1, why)

    def compaction(self, name: str, reason: str) -> str:
        """Return the id of a compaction that waits for a worker."""
        now = datetime.now(UTC)
        day = Interval(now - timedelta(days=2), now - timedelta(days=1))
        compaction = Compaction(
            f"compact_{name}", name, name, day, (), (), (), reason, now - timedelta(hours=1)
        )
        with self.writing() as tx:
            tx.compactions.add(compaction)
        return compaction.id


@pytest.fixture(scope="package")
def planted(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    """The overlord of these tests; each has supervisors and queues of its own."""
    folder = tmp_path_factory.mktemp("planted")
    url = f"sqlite:///{folder / 'metadata.db'}"
    with Overlords(folder, url, more={"TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}) as overlords:
        leader = overlords.start_leader()
        yield Planted(leader, url)


@pytest.fixture(scope="package")
def overlord(planted: Planted) -> Overlord:
    """The overlord whose pages the browser opens."""
    return planted.overlord
