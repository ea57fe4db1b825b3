"""What becomes of answers, when an event is due, and who may handle it: on every backing."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from supervisor.core.model.rows import AuditEntry
from supervisor.core.queue.events import QueueConfig, QueuedEvent
from supervisor.core.values.errors import LeaseLost, ProcessorClosed
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled, Later, Retry
from supervisor.eventqueue.processor import EventProcessor
from supervisor.ports.store import Transaction
from tests.conformance.stories import NOON, take_lease
from tests.supervisor.eventqueue.desk import (
    QUEUE,
    SECOND,
    Desk,
    Faults,
    FaultyStore,
    Noting,
    down,
    event,
    fill_at_once,
    numbers,
    runs_on_through,
)

# -------------------------------------------------------------- answers


def test_what_is_tried_too_often_is_set_aside_and_holds_nobody_up(desk: Desk) -> None:
    """Source: Q15."""
    handler = Noting(answer=lambda each: Retry("disk full") if each.key == "1" else EventDone())
    queue = desk.opens(handler, QueueConfig(max_attempts=3))
    fill_at_once(desk, queue, 3)

    desk.runs(queue)

    assert handler.keys == ["0", "1", "2", "1", "1"]
    with desk.store.reading() as tx:
        [failed] = tx.events.failed(QUEUE, 10)
    assert (failed.key, failed.attempts, failed.reason) == ("1", 3, "disk full (tried 3 times)")


def test_what_waits_for_something_is_asked_again_and_never_given_up(desk: Desk) -> None:
    looks: list[object] = []

    def handler(events: Sequence[QueuedEvent], _: Context) -> Handled:
        looks.extend(each.body.get("look", 1) for each in events)
        look = len(looks)
        return Handled([EventDone() if look == 30 else Later({"look": look + 1}, "not yet")])

    queue = desk.opens(handler, QueueConfig(max_attempts=3, delay=60 * SECOND))
    queue.add(event(0))
    desk.runs(queue)
    assert looks == list(range(1, 31))
    assert desk.clock.now() == NOON + 30 * 60 * SECOND
    assert desk.row().outstanding_events == 0


def test_what_can_never_work_is_set_aside_at_once(desk: Desk) -> None:
    handler = Noting(answer=lambda _: Fail("outside of the warehouse"))
    queue = desk.opens(handler)
    queue.add(event(0))
    desk.runs(queue)
    assert handler.keys == ["0"]
    with desk.store.reading() as tx:
        assert tx.events.failed_counts() == {QUEUE: 1}


def test_what_a_handler_writes_with_the_position_happens_once(desk: Desk) -> None:
    """Goal: an effect that is only in the database is exactly once."""
    moved = Faults({"advance": {1}}, down)
    kit = desk.kit_on(FaultyStore(desk.store, moved))

    def handler(events: Sequence[QueuedEvent], _: Context) -> Handled:
        def write(tx: Transaction) -> None:
            for each in events:
                tx.audit.write(AuditEntry(NOON, "handler", "handled", each.key))

        return Handled([EventDone()] * len(events), write)

    queue = EventProcessor(QUEUE, QueueConfig(max_items_at_once=2), handler, kit)
    fill_at_once(desk, queue, 6)
    runs_on_through(desk, queue)
    with desk.store.reading() as tx:
        assert [entry.subject for entry in tx.audit.recent(100)] == numbers(0, 6)[::-1]


def test_a_write_that_fails_moves_nothing(desk: Desk) -> None:
    def broken(_: Transaction) -> None:
        raise KeyError("a bug")

    queue = desk.opens(lambda events, _: Handled([EventDone()] * len(events), broken))
    queue.add(event(0))
    desk.runs(queue, looks=3)
    assert (desk.row().processed_seq, desk.row().failed_iterations) == (0, 3)


# -------------------------------------------------------------- time


def test_an_event_is_due_after_the_delay_of_its_queue(desk: Desk) -> None:
    handler = Noting()
    queue = desk.opens(handler, QueueConfig(delay=60 * SECOND))
    queue.add(event(0))
    assert queue.run_once() == 60 * SECOND
    desk.clock.advance(59 * SECOND)
    assert queue.run_once() == SECOND
    assert handler.keys == []
    desk.clock.advance(SECOND)
    desk.runs_now(queue)
    assert handler.keys == ["0"]


def test_an_event_may_ask_for_a_later_time_and_those_behind_it_wait(desk: Desk) -> None:
    handler = Noting()
    queue = desk.opens(handler)
    queue.add(event(0), not_before=NOON + 60 * SECOND)
    queue.add(event(1))
    desk.runs_now(queue)
    assert handler.keys == []
    desk.clock.advance(60 * SECOND)
    desk.runs_now(queue)
    assert handler.keys == ["0", "1"]


def test_a_queue_that_cannot_work_backs_off_to_the_cap(desk: Desk) -> None:
    """Goal: no hot loop while a store is down.  Source: Q16."""
    config = QueueConfig(iteration_delay=SECOND, backoff_cap=8 * SECOND)
    queue = desk.opens(Noting(fails=lambda _: "the store is down"), config)
    queue.add(event(0))
    waits = [queue.run_once() for _ in range(6)]
    assert waits == [timedelta(seconds=s) for s in (1, 2, 4, 8, 8, 8)]
    assert desk.row().outstanding_events == 1


# -------------------------------------------------------------- who may


def test_a_deposed_leader_neither_handles_nor_advances(desk: Desk) -> None:
    """Goal: exactly one consumer across overlords (P24).  Source: Q2."""
    handler = Noting()
    queue = desk.opens(handler)
    fill_at_once(desk, queue, 20)

    class TakenOver(Noting):
        def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
            take_lease(desk.store, "the next leader")  # while our handler runs
            return super().__call__(events, context)

    slow = TakenOver()
    with pytest.raises(LeaseLost):
        desk.opens(slow).run_once()
    assert slow.keys == numbers(0, 10)  # it may still have run ...
    assert desk.row().processed_seq == 0  # ... and moved nothing
    with pytest.raises(LeaseLost):
        queue.add(event(99))


def test_a_closed_processor_takes_and_handles_nothing(desk: Desk) -> None:
    handler = Noting()
    queue = desk.opens(handler)
    queue.add(event(0))
    assert queue.close()
    assert queue.close()
    with pytest.raises(ProcessorClosed):
        queue.add(event(1))
    assert queue.run_once() is None
    assert handler.keys == []


def test_latency_and_batch_times_are_told(desk: Desk) -> None:
    """Source: Q17."""
    queue = desk.opens(Noting(), QueueConfig(delay=30 * SECOND))
    fill_at_once(desk, queue, 25)
    desk.runs(queue)
    meter = desk.meters.of(QUEUE)
    assert (meter.handled, meter.batches.count) == (25, 3)
    assert meter.latency is not None
    assert (meter.latency.average_s, meter.latency.p99_s) == (30.0, 30.0)
