"""What is promised of a queue, on every backing.

Source: the Q scenarios of the page of faults; each docstring cites its own.
"""

from datetime import timedelta

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.model.rows import AuditEntry
from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueMode
from supervisor.core.values.errors import EmptyEvent, EventTooLarge, TooManyOutstandingBytes
from supervisor.eventqueue.processor import EventProcessor
from tests.conformance.stories import NOON
from tests.supervisor.eventqueue.desk import (
    QUEUE,
    SECOND,
    Desk,
    Faults,
    FaultyStore,
    Noting,
    down,
    event,
    fill,
    fill_at_once,
    numbers,
    runs_on_through,
)

KIB = 1024


def test_events_are_handled_in_order_and_few_at_a_time(desk: Desk) -> None:
    """Source: Q1."""
    handler = Noting()
    queue = desk.opens(handler)
    fill_at_once(desk, queue, 1_000)

    desk.runs(queue)

    assert handler.keys == numbers(0, 1_000)
    assert max(len(batch) for batch in handler.batches) == 10
    assert desk.row().outstanding_bytes == desk.row().outstanding_events == 0


def test_a_raising_handler_sees_the_same_batch_until_it_is_repaired(desk: Desk) -> None:
    """Goal: nothing is dropped and nothing overtakes.  Source: Q4."""
    handler = Noting(fails=lambda _: "a bug")
    queue = desk.opens(handler)
    fill_at_once(desk, queue, 15)

    desk.runs(queue, looks=12)

    assert handler.batches == [numbers(0, 10)] * 12
    assert desk.row().failed_iterations == 12
    assert "a bug" in desk.row().last_error
    assert desk.meters.of(QUEUE).failed_iterations == 12

    handler.fails = lambda _: None
    desk.runs(queue)
    assert handler.keys[120:] == numbers(0, 15)
    assert desk.row().failed_iterations == 0


@pytest.mark.parametrize("behind", [timedelta(hours=1), timedelta(days=1)], ids=str)
def test_after_a_takeover_by_a_clock_behind_a_wait_lasts_as_long_as_was_meant(
    desk: Desk, behind: timedelta
) -> None:
    """Goal: neither at once, for the files of somebody who still reads, nor late.  Source: H1."""
    handler, config = Noting(), QueueConfig(delay=60 * SECOND)
    fill(desk.opens(handler, config), 3)
    desk.clock = ManualClock(NOON - behind)
    after = desk.opens(handler, config)

    desk.runs_now(after)
    desk.clock.advance(59 * SECOND)
    desk.runs_now(after)
    assert handler.keys == []
    desk.clock.advance(SECOND)
    desk.runs_now(after)

    assert handler.keys == numbers(0, 3)


def test_a_full_queue_refuses_until_it_is_drained(desk: Desk) -> None:
    """Source: Q5."""
    queue = desk.opens(Noting(), QueueConfig(max_outstanding_bytes=4 * KIB))
    with pytest.raises(TooManyOutstandingBytes) as refused:
        fill(queue, 100, padding=KIB)
    before = desk.row()
    assert before.outstanding_bytes > 4 * KIB
    assert refused.value.outstanding_bytes == before.outstanding_bytes
    assert desk.meters.of(QUEUE).refused == {"TooManyOutstandingBytes": 1}

    settles_work = queue.add(event(1), exempt=True)
    assert settles_work == desk.row().outstanding_bytes

    desk.runs(queue)
    assert queue.add(event(7)) == desk.row().outstanding_bytes


def test_an_empty_event_is_refused(desk: Desk) -> None:
    queue = desk.opens(Noting())
    for empty in (QueuedEvent("", "key"), QueuedEvent("kind", "")):
        with pytest.raises(EmptyEvent):
            queue.add(empty)


def test_an_event_that_is_too_large_is_refused(desk: Desk) -> None:
    """Goal: the limit is exclusive.  Source: Q5."""
    queue = desk.opens(Noting(), QueueConfig(max_event_bytes=KIB))
    with pytest.raises(EventTooLarge) as refused:
        queue.add(event(1, padding=2 * KIB))
    fits = KIB - 1 - (refused.value.size_bytes - 2 * KIB)
    queue.add(event(1, padding=fits))
    with pytest.raises(EventTooLarge):
        queue.add(event(1, padding=fits + 1))


def test_a_refusal_leaves_the_callers_transaction_usable(desk: Desk) -> None:
    queue = desk.opens(Noting(), QueueConfig(max_event_bytes=KIB))
    with desk.writes() as tx:
        with pytest.raises(EventTooLarge):
            queue.add(event(1, padding=KIB), tx=tx)
        tx.audit.write(AuditEntry(NOON, "somebody", "goes on", "with this"))
    with desk.store.reading() as tx:
        assert [entry.action for entry in tx.audit.recent(1)] == ["goes on"]


def test_truncations_follow_bytes_not_events(desk: Desk) -> None:
    """Source: Q6."""
    queue = desk.opens(Noting(), QueueConfig(truncate_every_bytes=64 * KIB))
    fill_at_once(desk, queue, 1_000, padding=KIB)

    desk.runs(queue)

    row = desk.row()
    expected = row.processed_bytes // (64 * KIB)
    assert expected - 2 <= desk.meters.of(QUEUE).truncations <= expected
    with desk.store.reading() as tx:
        left = tx.events.read(row.id, 0, 1_000)
    assert sum(each.size_bytes for each in left) < 64 * KIB + 11 * KIB


def test_errors_of_reading_lose_and_repeat_nothing(desk: Desk) -> None:
    """Source: Q8."""
    handler = Noting()
    faults = Faults({"read": set(range(0, 40, 2)), "find": {5, 9}}, down)
    queue = EventProcessor(
        QUEUE, QueueConfig(), handler, desk.kit_on(FaultyStore(desk.store, faults))
    )
    fill_at_once(desk, queue, 100)

    runs_on_through(desk, queue)

    assert handler.keys == numbers(0, 100)
    assert faults.calls["read"] > 20


def test_errors_of_truncation_lose_and_repeat_nothing(desk: Desk) -> None:
    """Source: Q9."""
    handler = Noting()
    faults = Faults({"truncate": {0, 1, 2, 5}}, down)
    kit = desk.kit_on(FaultyStore(desk.store, faults))
    queue = EventProcessor(QUEUE, QueueConfig(truncate_every_bytes=KIB), handler, kit)
    fill_at_once(desk, queue, 200, padding=100)

    desk.runs(queue)

    assert handler.keys == numbers(0, 200)
    assert faults.calls["truncate"] > 6
    assert desk.row().truncated_seq > 190  # what failed was made up for


@pytest.mark.parametrize("method", ["advance", "find", "truncate"])
def test_an_error_at_any_step_repeats_at_most_a_batch(desk: Desk, method: str) -> None:
    handler = Noting()
    faults = Faults({method: set(range(1, 60, 3))}, down)
    kit = desk.kit_on(FaultyStore(desk.store, faults))
    queue = EventProcessor(QUEUE, QueueConfig(truncate_every_bytes=KIB), handler, kit)
    fill_at_once(desk, queue, 150)

    runs_on_through(desk, queue)

    firsts = [key for at, key in enumerate(handler.keys) if key not in handler.keys[:at]]
    assert firsts == numbers(0, 150)
    repeated = len(handler.keys) - len(firsts)
    assert repeated <= 10 * 20


def test_an_event_of_an_open_transaction_is_not_seen_and_a_rollback_leaves_no_gap(
    desk: Desk,
) -> None:
    """Source: Q10."""
    handler = Noting()
    queue = desk.opens(handler)

    def rolled_back() -> None:
        with desk.writes() as tx:
            queue.add(event(0), tx=tx)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rolled_back()
    with desk.writes() as tx:
        queue.add(event(1), tx=tx)
        desk.runs(queue)
        assert handler.keys == []
    queue.add(event(2))

    desk.runs(queue)

    assert handler.keys == ["1", "2"]


def test_an_undecodable_event_is_set_aside_after_some_looks_and_the_rest_goes_on(
    desk: Desk,
) -> None:
    """Source: Q10."""
    handler = Noting()
    queue = desk.opens(handler, QueueConfig(decode_attempts=3))
    fill_at_once(desk, queue, 2)
    with desk.writes() as tx:
        tx.events.add(QUEUE, Unreadable("count", "2"), queue.config, desk.clock.now())
    with desk.writes() as tx:
        queue.add(event(3), tx=tx)

    assert desk.runs(queue, looks=3) == 3
    assert desk.row().failed_iterations == 2  # two looks in vain, it still stands there

    desk.runs(queue)

    assert handler.keys == ["0", "1", "3"]
    with desk.store.reading() as tx:
        [failed] = tx.events.failed(QUEUE, 10)
    assert (failed.seq, failed.key) == (3, "2")
    assert "cannot be decoded" in failed.reason
    assert desk.meters.of(QUEUE).failed_events == 1


class Unreadable(QueuedEvent):
    """An event of a later version, whose attempts are no number."""

    def __init__(self, kind: str, key: str) -> None:
        super().__init__(kind, key, {}, "many")  # type: ignore[arg-type]  # as a newer one may


def test_segments_are_removed_as_they_are_processed(desk: Desk) -> None:
    """Goal: what is stored stays bounded, whatever has gone through.  Source: Q11."""
    queue = desk.opens(Noting(), QueueConfig(segment_rollover_bytes=400 * KIB))
    most = 0
    for _ in range(10):
        fill_at_once(desk, queue, 100, padding=KIB)
        with desk.store.reading() as tx:
            most = max(most, tx.events.segments_left()[QUEUE])
        desk.runs(queue)

    assert desk.row().segment_no >= 3
    assert most <= 2
    with desk.store.reading() as tx:
        assert tx.events.segments_left().get(QUEUE, 0) <= 1


def test_a_durable_queue_without_a_consumer_keeps_everything(desk: Desk) -> None:
    """Goal: no limit, no truncation, all of it for whoever comes.  Source: Q3."""
    config = QueueConfig(mode=QueueMode.DURABLE, max_outstanding_bytes=10, truncate_every_bytes=1)
    durable = EventProcessor(QUEUE, config, None, desk.kit)
    fill(durable, 100)
    assert durable.run_once() is None

    handler = Noting()
    desk.runs(desk.opens(handler))
    assert handler.keys == numbers(0, 100)


def test_a_queue_that_nobody_consumes_has_to_be_durable(desk: Desk) -> None:
    with pytest.raises(ValueError, match="durable"):
        EventProcessor(QUEUE, QueueConfig(), None, desk.kit)
