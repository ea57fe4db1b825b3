"""Adding events: with the caller's transaction, in order, without a gap, and what is refused."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

import pytest

from supervisor.core.queue.events import (
    QueuedEvent,
    QueueMode,
    QueueName,
    checksum,
    damage_of,
    decode,
)
from supervisor.core.values.errors import (
    EmptyEvent,
    EventTooLarge,
    QueueDead,
    TooManyOutstandingBytes,
)
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
from tests.conformance.stories import CLICKS, HOUR, MINUTE, NOON, Leader

FULL = replace(CONFIG, max_outstanding_bytes=2 * SIZE)


class _CrashError(Exception):
    """What ends a block in the middle."""


def test_events_come_back_whole_in_the_order_of_adding(leader: Leader) -> None:
    whole = QueuedEvent(
        "kind", "\N{SNOWMAN}", {"n": 2**40, "x": None, "t": "\0", "b": True}, attempts=2
    )
    with leader.writes() as tx:
        tx.events.add(QUEUE, event("b"), CONFIG, NOON)
        tx.events.add(QUEUE, whole, CONFIG, NOON + MINUTE)
        tx.events.add(QUEUE, event("a"), CONFIG, NOON)

    queued = stored(leader)
    assert [decode(each.payload) for each in queued] == [event("b"), whole, event("a")]
    assert [each.key for each in queued] == ["b", "\N{SNOWMAN}", "a"]
    assert [each.enqueued_at for each in queued] == [NOON, NOON + MINUTE, NOON]


def test_numbers_go_on_without_a_gap_in_each_queue_apart(leader: Leader) -> None:
    add(leader, "a", "b")
    add(leader, "x", queue=OTHER)
    add(leader, "c")
    assert (numbers(stored(leader)), keys(stored(leader))) == ([1, 2, 3], ["a", "b", "c"])
    assert numbers(stored(leader, OTHER)) == [1]


def test_what_was_rolled_back_leaves_no_event_and_no_gap(leader: Leader) -> None:
    """Goal: an event exists if and only if the work exists that made it."""

    def add_and_crash(queue: QueueName) -> None:
        with leader.writes() as tx:
            tx.events.add(queue, event("lost"), CONFIG, NOON)
            raise _CrashError

    add(leader, "a")
    for queue in (QUEUE, OTHER):
        with pytest.raises(_CrashError):
            add_and_crash(queue)
    add(leader, "b")
    assert (numbers(stored(leader)), keys(stored(leader))) == ([1, 2], ["a", "b"])
    with leader.reads() as tx:
        assert tx.events.find(OTHER) is None


def test_an_open_transactions_events_are_seen_by_nobody(leader: Leader) -> None:
    add(leader, "a")
    with leader.writes() as tx:
        tx.events.add(QUEUE, event("b"), CONFIG, NOON)
        assert keys(stored(leader)) == ["a"]
    assert keys(stored(leader)) == ["a", "b"]


def test_what_is_stored_is_sound(leader: Leader) -> None:
    """Goal: counters, lengths and checksums fit from the first row on."""
    add(leader, "a", "b")
    at, queued = add(leader, "c"), stored(leader)
    assert damage_of(at, queued) is None
    assert [each.checksum for each in queued] == [checksum(e.seq, e.payload) for e in queued]
    assert (at.next_seq, at.enqueued_bytes) == (4, sum(len(each.payload) for each in queued))
    assert (at.outstanding_events, at.outstanding_bytes) == (3, 3 * SIZE)


def test_an_event_is_due_after_the_delay_and_not_before_its_own_time(leader: Leader) -> None:
    delayed = replace(CONFIG, delay=MINUTE)
    with leader.writes() as tx:
        tx.events.add(QUEUE, event("a"), delayed, NOON)
        tx.events.add(QUEUE, event("b"), delayed, NOON, not_before=NOON + HOUR)
        tx.events.add(QUEUE, event("c"), delayed, NOON, not_before=NOON - HOUR)
    due = [each.due_at for each in stored(leader)]
    assert due == [NOON + MINUTE, NOON + HOUR, NOON + MINUTE]


def test_adding_tells_what_waits_with_what_this_transaction_added_before(leader: Leader) -> None:
    add(leader, "a")
    with leader.writes() as tx:
        assert tx.events.add(QUEUE, event("b"), CONFIG, NOON) == 2 * SIZE
        assert tx.events.add(OTHER, event("x"), CONFIG, NOON) == SIZE
        assert tx.events.add(QUEUE, event("c"), CONFIG, NOON) == 3 * SIZE
    assert row(leader).outstanding_bytes == 3 * SIZE
    process(leader, 2)
    with leader.writes() as tx:
        assert tx.events.add(QUEUE, event("d"), CONFIG, NOON) == 2 * SIZE


def test_a_queue_above_its_limit_takes_settling_events_only(leader: Leader) -> None:
    """Goal: rule P24; one event may overshoot, and what is refused leaves the block usable."""
    with leader.writes() as tx:
        for key in ("a", "b", "c"):
            tx.events.add(QUEUE, event(key), FULL, NOON)
        with pytest.raises(TooManyOutstandingBytes) as refused:
            tx.events.add(QUEUE, event("refused"), FULL, NOON)
        tx.events.add(QUEUE, event("d"), FULL, NOON, exempt=True)
        tx.events.add(OTHER, event("x"), FULL, NOON)
        tx.specs.append(CLICKS, None, NOON, "")
    assert (refused.value.outstanding_bytes, refused.value.limit_bytes) == (3 * SIZE, 2 * SIZE)

    with leader.writes() as tx, pytest.raises(TooManyOutstandingBytes):
        tx.events.add(QUEUE, event("refused"), FULL, NOON)
    assert keys(stored(leader)) == ["a", "b", "c", "d"]
    assert keys(stored(leader, OTHER)) == ["x"]
    with leader.reads() as tx:
        assert tx.specs.newest(CLICKS) is not None


def test_a_queue_that_was_drained_takes_events_again(leader: Leader) -> None:
    add(leader, "a", "b", "c", config=FULL)
    process(leader, 1)
    with leader.writes() as tx:
        tx.events.add(QUEUE, event("d"), FULL, NOON)
    assert keys(stored(leader)) == ["a", "b", "c", "d"]


def test_a_durable_queue_has_no_limit_and_may_get_a_consumer_later(leader: Leader) -> None:
    """Source: Pravega's PDP-51, what `add` refuses."""
    durable = replace(FULL, mode=QueueMode.DURABLE)
    with leader.writes() as tx:
        for key in range(9):
            tx.events.add(QUEUE, event(key), durable, NOON)
    assert row(leader).mode is QueueMode.DURABLE
    assert len(stored(leader)) == 9

    add(leader, "x")
    assert row(leader).mode is QueueMode.CONSUMER
    assert numbers(stored(leader)) == list(range(1, 11))


def test_an_event_as_large_as_the_limit_is_refused(leader: Leader) -> None:
    tight = replace(CONFIG, max_event_bytes=SIZE + 1)
    with leader.writes() as tx:
        tx.events.add(QUEUE, event("a"), tight, NOON)
        with pytest.raises(EventTooLarge) as refused:
            tx.events.add(QUEUE, event("bb"), tight, NOON, exempt=True)
    assert (refused.value.size_bytes, refused.value.limit_bytes) == (SIZE + 1, SIZE + 1)
    assert keys(stored(leader)) == ["a"]


@pytest.mark.parametrize("empty", [QueuedEvent("", "key"), QueuedEvent("kind", "")])
def test_an_event_that_says_nothing_is_refused(leader: Leader, empty: QueuedEvent) -> None:
    with leader.writes() as tx:
        with pytest.raises(EmptyEvent):
            tx.events.add(QUEUE, empty, CONFIG, NOON, exempt=True)
        tx.events.add(QUEUE, event("a"), CONFIG, NOON)
    assert keys(stored(leader)) == ["a"]


def test_a_dead_queue_takes_nothing_and_others_go_on(leader: Leader) -> None:
    at = add(leader, "a")
    with leader.writes() as tx:
        tx.events.declare_dead(at, 1, "a reason")
    with leader.writes() as tx:
        with pytest.raises(QueueDead, match="a reason") as dead:
            tx.events.add(QUEUE, event("refused"), CONFIG, NOON, exempt=True)
        tx.events.add(OTHER, event("x"), CONFIG, NOON)
    assert (dead.value.container, dead.value.position) == (QUEUE.container, 1)
    assert (keys(stored(leader)), keys(stored(leader, OTHER))) == (["a"], ["x"])


def test_a_reading_transaction_adds_nothing(leader: Leader) -> None:
    with pytest.raises(AssertionError), leader.reads() as tx:
        tx.events.add(QUEUE, event("a"), CONFIG, NOON)
    assert stored(leader) == []


def test_added_events_are_told_of_after_their_commit(leader: Leader) -> None:
    """Goal: who hears of an event finds it, and may write at once."""
    heard: list[tuple[Mapping[QueueName, datetime], list[str]]] = []

    def hear(due: Mapping[QueueName, datetime]) -> None:
        heard.append((due, keys(stored(leader))))
        with leader.writes() as tx:
            tx.specs.append(CLICKS, None, NOON, "")

    leader.store.on_added(hear)
    with leader.writes() as tx:
        tx.events.add(QUEUE, event("a"), CONFIG, NOON + MINUTE)
        tx.events.add(QUEUE, event("b"), CONFIG, NOON)
        tx.events.add(OTHER, event("x"), replace(CONFIG, delay=HOUR), NOON)
        assert heard == []
    assert heard == [({QUEUE: NOON, OTHER: NOON + HOUR}, ["a", "b"])]


def test_nothing_is_told_of_a_rollback_or_a_block_that_added_nothing(leader: Leader) -> None:
    heard: list[Mapping[QueueName, datetime]] = []
    leader.store.on_added(heard.append)

    def add_and_crash() -> None:
        with leader.writes() as tx:
            tx.events.add(QUEUE, event("a"), CONFIG, NOON)
            raise _CrashError

    with pytest.raises(_CrashError):
        add_and_crash()
    with leader.writes() as tx:
        tx.specs.append(CLICKS, None, NOON, "")
    assert heard == []


def test_a_segment_that_is_full_is_followed_by_the_next(leader: Leader) -> None:
    """Goal: what is stored is counted in segments; each takes events up to the rollover."""
    rolling = replace(CONFIG, segment_rollover_bytes=2 * SIZE)
    at = [add(leader, key, config=rolling) for key in "abcdef"]
    assert [each.segment_no for each in stored(leader)] == [1, 1, 2, 2, 3, 3]
    assert [(one.segment_no, one.segment_bytes // SIZE) for one in at][1:4] == [
        (1, 2),
        (2, 1),
        (2, 2),
    ]
    with leader.reads() as tx:
        assert tx.events.segments_left() == {QUEUE: 3}


def test_keys_are_outstanding_while_they_wait_or_are_set_aside(leader: Leader) -> None:
    add(leader, "1", "2", "3")
    add(leader, "x", queue=OTHER)
    process(leader, 2)
    with leader.writes() as tx:
        tx.events.set_aside(aside(2))
        tx.events.add(QUEUE, event("4"), CONFIG, NOON)
        assert tx.events.outstanding_keys(QUEUE) == {"2", "3", "4"}
    with leader.writes() as tx:
        tx.events.drop_failed(QUEUE, 2)
    with leader.reads() as tx:
        assert tx.events.outstanding_keys(QUEUE) == {"3", "4"}
        assert tx.events.outstanding_keys(QueueName("never", "never")) == frozenset()
