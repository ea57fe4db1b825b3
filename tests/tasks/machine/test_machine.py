"""How a task reads and obeys, told on a bench: same input, same steps, no thread, no clock."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tasks.contract.ingest_spec import Tuning
from tasks.contract.messages import FailureCode, TaskPhase
from tasks.contract.offsets import count
from tasks.machine.events import (
    BatchRead,
    Look,
    LookFailed,
    Ordered,
    ReadBatch,
    Ticked,
)
from tasks.machine.pacing import Limits
from tasks.machine.state import report
from tests.tasks.machine.machines import bench, ranges, until
from tests.tasks.memory import LIVELY, at, entry_of, order, pause

# ---------------------------------------------------------------- reading


def test_what_waits_at_the_start_is_read_at_once() -> None:
    b = bench(5, tuning=Tuning(linger=timedelta(seconds=30), batch_rows_min=500))

    b.run()

    assert (b.state.phase, b.state.position) == (TaskPhase.READING, at(5))


def test_a_few_new_records_linger_before_a_batch_is_worth_its_cost() -> None:
    b = bench(0, tuning=Tuning(linger=timedelta(seconds=1), batch_rows_min=500))
    b.run()
    b.log.stable = at(3)

    b.run(0.9)
    assert b.state.position == at(0)

    b.run(1.0)
    assert b.state.position == at(3)


def test_enough_new_records_do_not_linger() -> None:
    b = bench(0, tuning=Tuning(linger=timedelta(seconds=60), batch_rows_min=500))
    b.run()
    b.log.stable = at(500)

    b.run(3.0)

    assert b.state.position == at(500)


def test_a_batch_counts_only_after_the_topic_was_looked_at_again() -> None:
    """Source: protocol rule P11."""
    b = bench(5)
    until(b, ReadBatch)
    b.carry_out()

    assert isinstance(b.todo[0], Look)
    assert (b.journal, b.state.position) == ([], at(0))


def test_a_topic_recreated_during_a_batch_fails_the_task_before_the_journal_entry() -> None:
    """Source: protocol rule P11, faults E7."""
    b = bench(5)
    until(b, ReadBatch)
    b.log.topic_ids = {"clicks": "id-2"}

    b.run()

    assert b.journal == []
    reported = report(b.state, b.now)
    assert (reported.phase, reported.failure) == (TaskPhase.FAILED, FailureCode.TOPIC_CHANGED)
    assert "id-1" in reported.detail
    assert "id-2" in reported.detail


def test_records_that_retention_took_fail_the_task_with_their_number() -> None:
    """Source: faults E4."""
    b = bench(0)
    b.run()
    b.log.earliest, b.log.stable = at(7), at(9)

    b.run(1.0)

    reported = report(b.state, b.now)
    assert (reported.phase, reported.failure) == (TaskPhase.FAILED, FailureCode.OFFSETS_UNREADABLE)
    assert "clicks:0" in reported.detail
    assert "7 records are lost" in reported.detail


def test_what_retention_took_beyond_the_end_is_not_missed() -> None:
    b = bench(5)
    b.run()
    b.log.earliest = at(9)

    b.deliver(Ordered(b.now, order(2, end=at(5))))
    b.run()

    assert b.state.phase is TaskPhase.SUCCESS


def test_a_position_above_the_stable_offset_only_waits() -> None:
    b = bench(5)
    b.run()
    b.log.stable = at(2)

    b.run(60)

    reported = report(b.state, b.now)
    assert (reported.phase, reported.position) == (TaskPhase.READING, at(5))
    assert "last stable offset is 2" in reported.detail


def test_kafka_away_is_waited_for_without_end_and_then_read_on() -> None:
    """Source: faults E2."""
    b = bench(0)
    b.log.down = "all brokers down"

    b.run(3_600)
    reported = report(b.state, b.now)
    assert (reported.phase, reported.failure) == (TaskPhase.STARTING, None)
    assert "all brokers down" in reported.detail

    b.log.down, b.log.stable = "", at(4)
    b.run(11)
    assert b.state.position == at(4)


# ---------------------------------------------------------------- orders


def test_a_lower_order_has_no_effect() -> None:
    """Source: faults C4, C5."""
    b = bench(5)
    b.deliver(Ordered(b.now, order(9, term=2)))
    b.run()
    before = b.state

    for late in (pause(8, term=2), pause(100, term=1), order(8, term=2, end=at(5))):
        b.deliver(Ordered(b.now, late))

    assert (b.state, b.todo) == (before, [])


def test_a_repeated_order_changes_nothing() -> None:
    """Source: faults C3, Druid PR 6990: a duplicate left a task paused for ever."""
    b = bench(5)
    b.deliver(Ordered(b.now, pause(2)))
    b.deliver(Ordered(b.now, order(3)))
    b.run()
    before = b.state

    b.deliver(Ordered(b.now, order(3)))
    b.deliver(Ordered(b.now, pause(2)))

    assert (b.state, b.todo) == (before, [])
    assert b.state.phase is TaskPhase.READING


def test_a_pause_stops_at_the_batch_boundary() -> None:
    b = bench(5)
    until(b, ReadBatch)
    b.deliver(Ordered(b.now, pause(2)))
    assert b.state.phase is TaskPhase.READING

    b.run()
    b.log.stable = at(50)
    b.run(30)

    assert (b.state.phase, b.state.position, b.cancels) == (TaskPhase.PAUSED, at(5), 0)
    assert report(b.state, b.now).order_sequence == 2


def test_a_batch_that_outlasts_the_pause_target_is_cancelled_and_leaves_no_trace() -> None:
    b = bench(5)
    until(b, ReadBatch)
    b.deliver(Ordered(b.now, pause(2)))
    assert b.cancels == 0
    b.now += 2.4
    b.deliver(Ticked(b.now))
    assert b.cancels == 0, "the target is 2 s and a half"
    b.now += 0.1
    b.deliver(Ticked(b.now))
    assert b.cancels == 1

    b.cancelled()

    assert (b.state.phase, b.state.position) == (TaskPhase.PAUSED, at(0))
    assert (b.journal, b.state.counters.cancelled_rows) == ([], 5)


def test_the_least_batch_of_a_range_that_holds_nothing_is_waited_for() -> None:
    """Goal: a range whose every batch outlasts taskDuration gets on all the same."""
    b = bench(5, tuning=LIVELY.model_copy(update={"batch_rows_min": 5}))
    until(b, ReadBatch)
    b.deliver(Ordered(b.now, pause(2)))
    b.now += 15
    b.deliver(Ticked(b.now))
    b.run()
    assert (b.state.phase, b.state.position, b.cancels) == (TaskPhase.PAUSED, at(5), 0)

    b.deliver(Ordered(b.now, order(3)))
    b.log.stable = at(10)
    until(b, ReadBatch)
    b.deliver(Ordered(b.now, pause(4)))

    assert b.cancels == 1, "the range holds something by now, and batches last too long"


def test_far_behind_a_pause_cancels_the_only_batch_of_a_range_once() -> None:
    """Case: each batch took 6 s, as a cold worker's do, and a pause came every 5 s, for minutes."""
    b = bench(1_000_000, limits=Limits(rows_first=20_000))
    until(b, ReadBatch)
    b.deliver(Ordered(b.now, pause(2)))
    assert b.cancels == 1
    b.cancelled()

    b.deliver(Ordered(b.now, order(3)))
    until(b, ReadBatch)
    b.deliver(Ordered(b.now, pause(4)))
    b.now += 15
    b.deliver(Ticked(b.now))
    b.run()

    assert (b.state.phase, b.cancels) == (TaskPhase.PAUSED, 1)
    assert count(at(0), b.state.position) > LIVELY.batch_rows_min, "it was not the least"


def test_a_job_that_does_not_hear_its_cancellation_is_cancelled_again() -> None:
    b = bench(5)
    until(b, ReadBatch)
    b.deliver(Ordered(b.now, pause(2)))

    for _ in range(3):
        assert b.state.wake_at is not None
        b.now = b.state.wake_at
        b.deliver(Ticked(b.now))

    assert b.cancels == 3


def test_a_batch_known_to_last_too_long_is_cancelled_at_once() -> None:
    limits = Limits(rows_first=10, catch_up_batches=1, catch_up_target_s=100)
    b = bench(1_000_000, limits=limits)
    until(b, ReadBatch)
    b.carry_out()
    until(b, ReadBatch)
    b.state = replace(b.state, pace=replace(b.state.pace, rows_per_s=1.0))

    b.deliver(Ordered(b.now, pause(2)))

    assert b.cancels == 1


def test_a_pause_gives_way_after_its_lease_and_says_so() -> None:
    """Source: protocol rule P5, faults R12."""
    b = bench(5)
    b.deliver(Ordered(b.now, pause(2, lease_s=30)))
    b.run(29)
    assert b.state.phase is TaskPhase.PAUSED

    b.run(3)

    reported = report(b.state, b.now)
    assert (reported.phase, reported.position) == (TaskPhase.READING, at(5))
    assert "1/2" in reported.detail
    assert "30 s" in reported.detail


def test_a_repeat_of_the_pause_does_not_lengthen_its_lease() -> None:
    b = bench(5)
    b.deliver(Ordered(b.now, pause(2, lease_s=30)))
    b.run(20)
    b.deliver(Ordered(b.now, pause(2, lease_s=30)))

    b.run(15)
    b.deliver(Ordered(b.now, pause(2, lease_s=30)))
    b.run(1)

    assert b.state.phase is TaskPhase.READING


def test_a_newer_pause_begins_a_new_lease() -> None:
    """Source: protocol rule P13, pause again before fixing."""
    b = bench(5)
    b.deliver(Ordered(b.now, pause(2, lease_s=30)))
    b.run(20)
    b.deliver(Ordered(b.now, pause(3, lease_s=30)))

    b.run(20)

    assert b.state.phase is TaskPhase.PAUSED


def test_a_pause_while_kafka_is_away_gives_the_unchecked_batch_up() -> None:
    b = bench(5)
    until(b, ReadBatch)
    b.carry_out()
    b.todo.pop(0)
    b.deliver(LookFailed(b.now, "away"))

    b.deliver(Ordered(b.now, pause(2)))
    b.log.down = "away"
    b.run(8)

    assert (b.state.phase, b.journal) == (TaskPhase.PAUSED, [])
    assert [e.number for e in b.dropped] == [1]


def test_a_resumed_task_goes_on_where_it_stood() -> None:
    b = bench(5)
    b.deliver(Ordered(b.now, pause(2)))
    b.run()
    b.deliver(Ordered(b.now, order(3)))

    b.run()

    assert ranges(b.journal) == [(0, 5)]


@pytest.mark.parametrize("change", [{"end": at(3)}, {"start": at(1)}, {"number": 7}])
def test_a_batch_that_comes_back_with_another_range_fails_the_task(
    change: dict[str, object],
) -> None:
    """Goal: nothing is journaled but what was ordered; the range is read again by a new task."""
    b = bench(5)
    while not isinstance(b.todo[0], ReadBatch):
        b.carry_out()
    ordered = b.todo.pop(0)
    assert isinstance(ordered, ReadBatch)

    b.deliver(BatchRead(b.now, entry_of(b.job(ordered)).model_copy(update=change)))
    b.run()

    assert (b.state.phase, b.journal) == (TaskPhase.FAILED, [])
    assert b.state.failure is not None
    assert b.state.failure.code is FailureCode.INTERNAL
    assert "came back with another range" in b.state.failure.detail
