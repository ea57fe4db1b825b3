"""The handler of replays: one outcome for each, whatever fails and how often it runs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.chores.replays import (
    CONFIG,
    GIVEN_UP_AFTER,
    KIND,
    NUMBER,
    Replaying,
    announce_replay,
    queue_of,
    trouble_of,
)
from supervisor.control.warehouse_owner import take_possession
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.values.errors import LeaseLost, SourceUnreadable, StreamUnavailable
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from tasks.contract.kafka_client import KafkaClient
from tests.conformance.stories import CLICKS, LEASE_TTL, NOON, take_lease
from tests.supervisor.core.snapshots import spec

REQUEST = ReplayRequest("clicks-again", "m1", "not-json")
OUTCOME = ReplayOutcome(5, 2, more=True, ends={0: 9})


@dataclass
class Sender:
    """Sends nothing, and answers as a test says."""

    answer: ReplayOutcome | Exception = OUTCOME
    sent: list[ReplayRequest] = field(default_factory=list)

    def there(self, client: KafkaClient, wanted: ReplayRequest, paths: Sequence[str]) -> int | None:
        """Know nothing of the topic."""
        del client, wanted, paths
        return None

    def send(
        self,
        client: KafkaClient,
        wanted: ReplayRequest,
        paths: Sequence[str],
        stopping: Callable[[], bool],
    ) -> ReplayOutcome:
        """Note what is wanted, and answer."""
        del client, paths
        self.sent.append(wanted)
        assert not stopping()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class Leading:
    """A leader with one replay that was asked for."""

    store: SqlStore
    term: int
    clock: ManualClock
    handler: Replaying
    sender: Sender
    operation: Operation

    def handles(self, event: QueuedEvent | None = None) -> Handled:
        """Hand out the event, and write what comes with the answer."""
        wanted = event or QueuedEvent(KIND, "op-1", {NUMBER: self.operation.number})
        context = Context(self.store, self.term, self.clock.now(), lambda: False)
        handled = self.handler([wanted], context)
        with self.store.leading(self.term) as tx:
            handled.write(tx)
        return handled

    def outcome(self) -> ReplayOutcome | None:
        """Return what is stored."""
        with self.store.reading() as tx:
            stored = tx.operations.get(self.operation.number)
        assert stored is not None
        return stored.outcome


@pytest.fixture
def leading(tmp_path: Path) -> Iterator[Leading]:
    url = f"sqlite:///{tmp_path}/metadata.db"
    migrate(url)
    store = SqlStore(url, lease_ttl=LEASE_TTL)
    term, clock, warehouse, sender = (
        take_lease(store),
        ManualClock(NOON),
        MemoryWarehouse(),
        Sender(),
    )
    take_possession(store, warehouse)
    wish = Operation(CLICKS, OperationKind.REPLAY, "ada", NOON, disturbs=False, replay=REQUEST)
    with store.leading(term) as tx:
        tx.specs.append(CLICKS, spec(), NOON, "ada")
        operation = tx.operations.add(wish)
        announce_replay(tx, operation, NOON)
    yield Leading(store, term, clock, Replaying(sender, warehouse, clock), sender, operation)
    store.close()


def test_a_replay_is_carried_out_once_and_its_outcome_is_kept(leading: Leading) -> None:
    """Goal: after a crash behind the outcome nothing is sent again."""
    assert leading.handles().answers == [EventDone()]
    assert leading.handles().answers == [EventDone()]

    assert (leading.sender.sent, leading.outcome()) == ([REQUEST], OUTCOME)


def test_what_can_never_be_sent_is_over_at_once(leading: Leading) -> None:
    leading.sender.answer = SourceUnreadable("there is no topic clicks-again")

    leading.handles()

    outcome = leading.outcome()
    assert outcome is not None
    assert "there is no topic" in outcome.problem


def test_what_does_not_answer_is_tried_again_for_an_hour(leading: Leading) -> None:
    """Goal: later replays wait behind it, but not for ever."""
    leading.sender.answer = StreamUnavailable("no answer")
    with pytest.raises(StreamUnavailable):
        leading.handles()
    assert leading.outcome() is None

    leading.clock.advance(GIVEN_UP_AFTER + timedelta(seconds=1))
    leading.handles()

    outcome = leading.outcome()
    assert outcome is not None
    assert outcome.problem.startswith("it was tried for an hour; at last: ")


def test_a_deposed_leader_sends_nothing(leading: Leading) -> None:
    take_lease(leading.store, "second")

    with pytest.raises(LeaseLost):
        leading.handles()

    assert leading.sender.sent == []


def test_what_was_forgotten_or_is_no_replay_is_done_or_set_aside(leading: Leading) -> None:
    with leading.store.leading(leading.term) as tx:
        tx.operations.forget(CLICKS)
    other = QueuedEvent("another", "op-1", {NUMBER: leading.operation.number})

    assert leading.handles().answers == [EventDone()]
    [answer] = leading.handles(other).answers
    assert isinstance(answer, Fail)
    assert leading.sender.sent == []


def test_why_the_first_in_the_queue_does_not_succeed_is_known(leading: Leading) -> None:
    """Goal: whoever waits for a replay reads it in the operation."""
    queue = queue_of(CLICKS)
    with leading.store.leading(leading.term) as tx:
        assert trouble_of(tx, CLICKS) == ""
        assert trouble_of(tx, "another") == ""
        row = tx.events.find(queue)
        assert row is not None
        tx.events.record_failure(row, "no answer of Kafka")
    with leading.store.reading() as tx:
        assert trouble_of(tx, CLICKS) == "no answer of Kafka"
    assert CONFIG.max_items_at_once == 1
