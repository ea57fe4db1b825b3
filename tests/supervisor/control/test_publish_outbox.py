"""Publishes are queued for triggers in their own transaction, once somebody watches them."""

import pytest

from supervisor.control.publishing.publish_outbox import (
    PUBLISHES,
    announce_watch,
    publish_of,
    watch_of,
)
from supervisor.core.queue.events import QueuedEvent, QueueHealth
from supervisor.core.values.errors import StateMoved
from tests.supervisor.core.snapshots import NOON, TOPIC
from tests.supervisor.scenarios.publishers import committed, first, fixed_end
from tests.supervisor.world import World


def _watch(world: World) -> None:
    with world.store.leading(world.leadership.term()) as tx:
        announce_watch(tx, "day", "seen", 1, NOON)


def _last(world: World) -> int:
    with world.store.reading() as tx:
        row = tx.events.find(PUBLISHES)
    return 0 if row is None else row.next_seq - 1


def test_nobody_who_watches_costs_no_event(world: World) -> None:
    world.publish(*first(world))
    assert _last(world) == 0


def test_a_publish_is_one_event_and_its_repeat_and_its_sibling_none(world: World) -> None:
    (hand, winner), (other, sibling) = world.ready_to_publish()
    _watch(world)
    world.publish(hand, winner)
    world.publish(hand, winner)
    world.publish(other, sibling)

    assert _last(world) == 2
    with world.store.reading() as tx:
        row = tx.events.find(PUBLISHES)
        assert row is not None
        watch, publish = tx.events.read(row.id, 0, 10)
        [publication] = tx.segments.publications(TOPIC)
    assert (watch.key, publish.key) == ("day", publication.generation_id)


def test_a_publish_that_is_rolled_back_is_no_event(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand, replica = first(world)
    _watch(world)

    def moved(*_: object) -> None:
        raise StateMoved("the range has ended")

    with monkeypatch.context() as broken:
        broken.setattr("supervisor.control.publish.end_siblings", moved)
        with pytest.raises(AssertionError, match="lost races"):
            world.publish(hand, replica)
    assert (_last(world), committed(world)) == (1, {0})
    world.publish(hand, replica)
    assert (_last(world), committed(world)) == (2, {fixed_end(replica)})


def test_a_damaged_queue_keeps_nothing_from_being_published(world: World) -> None:
    hand, replica = first(world)
    _watch(world)
    with world.store.leading(world.leadership.term()) as tx:
        row = tx.events.find(PUBLISHES)
        assert row is not None
        tx.events.declare_dead(row, 1, "a story")
    world.publish(hand, replica)
    assert committed(world) == {fixed_end(replica)}
    with world.store.reading() as tx:
        row = tx.events.find(PUBLISHES)
    assert row is not None
    assert (row.state, row.next_seq) == (QueueHealth.DEAD, 2)


def test_events_of_other_kinds_are_none() -> None:
    other = QueuedEvent("other", "x", {"table": "t", "rows": "many"})
    assert (publish_of(other), watch_of(other)) == (None, None)
