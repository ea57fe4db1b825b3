"""What the consumer of a queue writes: its position, failures, what is set aside or deleted."""

from dataclasses import replace

import pytest

from supervisor.core.attention.queues import FailedEvents
from supervisor.core.queue.events import QueueHealth, QueueName, QueueRow, damage_of
from supervisor.core.values.errors import StateMoved
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
from tests.conformance.stories import HOUR, MINUTE, NOON, Leader

ONE_A_SEGMENT = replace(CONFIG, segment_rollover_bytes=1)
NEVER = QueueName("never", "never")


def _kill(leader: Leader, seq: int = 1, why: str = "why") -> QueueRow:
    at = row(leader)
    with leader.writes() as tx:
        tx.events.declare_dead(at, seq, why)
    return row(leader)


def _truncate(leader: Leader, up_to_seq: int) -> QueueRow:
    at = row(leader)
    with leader.writes() as tx:
        tx.events.truncate(at, up_to_seq)
    return row(leader)


def test_queues_are_listed_by_name(leader: Leader) -> None:
    for queue in (QUEUE, OTHER, QueueName("A", "z"), QueueName("A", "b")):
        add(leader, "a", queue=queue)
    dead = _kill(leader)
    with leader.reads() as tx:
        names = [str(one.queue) for one in tx.events.all()]
        assert names == ["A/b", "A/z", str(OTHER), str(QUEUE)]
        assert tx.events.dead() == [dead]
        assert tx.events.find(NEVER) is None


def test_a_queue_waits_for_its_first_event_however_early_others_are_due(leader: Leader) -> None:
    with leader.writes() as tx:
        tx.events.add(QUEUE, event("a"), CONFIG, NOON, not_before=NOON + HOUR)
        tx.events.add(QUEUE, event("b"), CONFIG, NOON + MINUTE)
        tx.events.add(OTHER, event("x"), CONFIG, NOON)

    def waiting() -> list[tuple[object, ...]]:
        with leader.reads() as tx:
            return [(each.row, each.due_at, each.enqueued_at) for each in tx.events.waiting()]

    clicks, cluster = row(leader), (row(leader, OTHER), NOON, NOON)
    assert waiting() == [cluster, (clicks, NOON + HOUR, NOON)]
    clicks = process(leader, 1)
    assert waiting() == [cluster, (clicks, NOON + MINUTE, NOON + MINUTE)]
    process(leader, 1)
    assert waiting() == [cluster]


def test_a_dead_queue_waits_for_nothing(leader: Leader) -> None:
    add(leader, "a")
    _kill(leader)
    with leader.reads() as tx:
        assert tx.events.waiting() == []


def test_rows_are_read_from_a_number_on_and_bounded(leader: Leader) -> None:
    at = add(leader, *"abcd")
    add(leader, "x", queue=OTHER)
    with leader.reads() as tx:
        assert keys(tx.events.read(at.id, 0, 2)) == ["a", "b"]
        assert keys(tx.events.read(at.id, 2, 9)) == ["c", "d"]
        assert tx.events.read(at.id, 4, 9) == []


def test_a_position_moves_from_where_it_was_read(leader: Leader) -> None:
    add(leader, "a", "b", "c")
    after = process(leader, 2)
    assert (after.processed_seq, after.processed_bytes) == (2, 2 * SIZE)
    assert (after.outstanding_events, after.outstanding_bytes) == (1, SIZE)
    assert damage_of(after, stored(leader)[2:]) is None


def test_of_two_that_advance_from_one_position_one_does(leader: Leader) -> None:
    """Goal: what a batch writes is written once, whoever else handled the batch as well."""
    at = add(leader, "a", "b")
    process(leader, 1)
    with leader.writes() as tx:
        with pytest.raises(StateMoved):
            tx.events.advance(at, 2, 2 * SIZE)
        with pytest.raises(StateMoved):
            tx.events.record_failure(at, "too late")
    assert row(leader).processed_seq == 1
    assert row(leader).failed_iterations == 0


def test_a_position_and_its_retries_are_written_together(leader: Leader) -> None:
    at = add(leader, "a")
    with leader.writes() as tx:
        tx.events.advance(at, 1, SIZE)
        tx.events.add(QUEUE, event("b"), CONFIG, NOON, exempt=True)
    after = row(leader)
    assert (after.processed_seq, after.next_seq, after.outstanding_bytes) == (1, 3, SIZE)


def test_failures_count_up_at_one_position_and_anew_behind_it(leader: Leader) -> None:
    add(leader, "a", "b")
    for number in (1, 2):
        at = row(leader)
        with leader.writes() as tx:
            tx.events.record_failure(at, f"failure \0 {number}")
    failed = row(leader)
    assert failed.failed_iterations == 2
    assert failed.last_error.endswith("2")
    after = process(leader, 1)
    assert (after.failed_iterations, after.last_error) == (0, "")


def test_a_dead_queue_stays_where_it_died_with_the_first_reason(leader: Leader) -> None:
    at = add(leader, "a", "b")
    _kill(leader, 2, "first")
    dead = _kill(leader, 1, "second")
    assert (dead.state, dead.dead_seq, dead.dead_why) == (QueueHealth.DEAD, 2, "first")
    with leader.writes() as tx:
        with pytest.raises(StateMoved):
            tx.events.advance(at, 1, SIZE)
        with pytest.raises(StateMoved):
            tx.events.record_failure(at, "late")
    assert row(leader) == dead


def test_only_what_was_processed_is_truncated(leader: Leader) -> None:
    add(leader, *"abcd", config=ONE_A_SEGMENT)
    add(leader, "x", queue=OTHER)
    process(leader, 3)
    after = _truncate(leader, 2)
    assert (after.truncated_seq, after.truncated_bytes) == (2, 2 * SIZE)
    assert keys(stored(leader)) == ["c", "d"]

    after = _truncate(leader, 99)
    assert (after.truncated_seq, after.truncated_bytes) == (3, 3 * SIZE)
    assert keys(stored(leader)) == ["d"]
    assert keys(stored(leader, OTHER)) == ["x"]


def test_truncating_again_changes_nothing(leader: Leader) -> None:
    """Goal: two that truncate from one look count what is deleted once."""
    add(leader, *"abc")
    at = process(leader, 2)
    for _ in range(2):
        with leader.writes() as tx:
            tx.events.truncate(at, 2)
    after = row(leader)
    assert (after.truncated_seq, after.truncated_bytes) == (2, 2 * SIZE)
    assert _truncate(leader, 1) == after


def test_numbers_are_not_given_again_when_all_rows_are_gone(leader: Leader) -> None:
    """Source: Pravega's PDP-51, the last processed position is durable."""
    add(leader, *"ab")
    process(leader, 2)
    _truncate(leader, 2)
    assert stored(leader) == []
    add(leader, "c")
    assert numbers(stored(leader)) == [3]


def test_segments_go_with_their_last_event(leader: Leader) -> None:
    for key in "abc":
        add(leader, key, config=ONE_A_SEGMENT)
    process(leader, 2)
    left = []
    for up_to in range(3):
        _truncate(leader, up_to)
        with leader.reads() as tx:
            left.append(tx.events.segments_left())
    assert left == [{QUEUE: 3}, {QUEUE: 2}, {QUEUE: 1}]


def test_only_a_dead_queue_is_rebuilt(leader: Leader) -> None:
    add(leader, "a")
    for queue in (QUEUE, NEVER):
        with leader.writes() as tx, pytest.raises(StateMoved):
            tx.events.rebuild(queue)
    assert keys(stored(leader)) == ["a"]


def test_a_rebuilt_queue_is_live_and_empty_and_hands_over_what_waited(leader: Leader) -> None:
    add(leader, *"abcd")
    process(leader, 2)
    _truncate(leader, 1)
    _kill(leader, 3)
    with leader.writes() as tx:
        waited = tx.events.rebuild(QUEUE)
        assert keys(waited) == ["c", "d"]
        for each in waited:
            tx.events.add(QUEUE, event(each.key), CONFIG, NOON, exempt=True)

    after = row(leader)
    assert (after.state, after.dead_seq, after.dead_why) == (QueueHealth.LIVE, None, "")
    assert (after.processed_seq, after.outstanding_events) == (4, 2)
    assert (numbers(stored(leader)), keys(stored(leader)[-2:])) == ([2, 3, 4, 5, 6], ["c", "d"])
    assert damage_of(after, stored(leader)[3:]) is None
    process(leader, 2)
    after = _truncate(leader, 6)
    assert (after.truncated_bytes, stored(leader)) == (after.processed_bytes, [])


def test_what_is_set_aside_is_listed_by_queue_and_number_until_dropped(
    leader: Leader,
) -> None:
    for queue in (QUEUE, OTHER):
        add(leader, *"abc", queue=queue)
    first = replace(aside(3), failed_at=NOON - HOUR)
    with leader.writes() as tx:
        for failed in (aside(2), aside(1), first, aside(9, OTHER)):
            tx.events.set_aside(failed)

    with leader.reads() as tx:
        assert tx.events.failed(None, 9) == [aside(1), aside(2), first, aside(9, OTHER)]
        assert tx.events.failed(QUEUE, 2) == [aside(1), aside(2)]
        found = {q: tx.events.find(q) for q in (QUEUE, OTHER)}
        at = {q: row.id for q, row in found.items() if row is not None}
        assert tx.events.failed(None, 2, (at[QUEUE], 1)) == [aside(2), first]
        assert tx.events.failed(None, 9, (at[QUEUE], 3)) == [aside(9, OTHER)]
        assert tx.events.failed(QUEUE, 9, (at[QUEUE], 3)) == []
        assert tx.events.failed(None, 9, (at[OTHER], 9)) == []
        assert tx.events.failed_event(QUEUE, 2) == aside(2)
        assert tx.events.failed_event(QUEUE, 9) is None
        counts, since = tx.events.failed_counts(), tx.events.failed_since()
    assert counts == {QUEUE: 3, OTHER: 1}
    assert since == {
        QUEUE: FailedEvents(3, first.failed_at),
        OTHER: FailedEvents(1, aside(9, OTHER).failed_at),
    }
    with leader.writes() as tx:
        dropped = [tx.events.drop_failed(*one) for one in ((QUEUE, 2), (QUEUE, 2), (NEVER, 1))]
    assert dropped == [True, False, False]
    with leader.reads() as tx:
        assert tx.events.failed(QUEUE, 9) == [aside(1), first]


def test_an_event_that_is_set_aside_again_keeps_its_first_reason(leader: Leader) -> None:
    """Goal: a repair that meets it twice goes through."""
    add(leader, "a")
    for reason in ("first", "second"):
        with leader.writes() as tx:
            tx.events.set_aside(aside(1, reason=reason))
    with leader.reads() as tx:
        assert [failed.reason for failed in tx.events.failed(QUEUE, 9)] == ["first"]
