"""What a task does, told on a bench: same input, same steps, no thread and no clock."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tasks.contract import FailureCode, PublishOutcome, TaskPhase, Tuning
from tasks.machine import refuse
from tasks.pacing import Limits
from tasks.ports import JournalEntry
from tasks.signals import (
    Broke,
    Discard,
    DropTail,
    Look,
    LookFailed,
    Merge,
    Ordered,
    Publish,
    ReadBatch,
    StopAsked,
    Ticked,
    TurnTold,
)
from tasks.task_state import Failure, report
from tests.tasks.bench import Bench
from tests.tasks.memory import LIVELY, MemoryLog, at, desired, order, pause

SMALL = Limits(rows_first=10, catch_up_batches=1_000)


def bench(stable: int = 0, *, tuning: Tuning = LIVELY, limits: Limits = SMALL) -> Bench:
    return Bench(desired(tuning=tuning), MemoryLog(at(0), at(stable)), limits)


def until(b: Bench, kind: type) -> None:
    """Carry out effects until one of this kind is next."""
    for _ in range(50):
        if b.todo and isinstance(b.todo[0], kind):
            return
        if not b.todo:
            assert b.state.wake_at is not None
            b.now = max(b.now, b.state.wake_at)
            b.deliver(Ticked(b.now))
        else:
            b.carry_out()
    raise AssertionError(f"no {kind.__name__} in 50 steps")


def ranges(entries: list[JournalEntry]) -> list[tuple[int, int]]:
    return [(e.start[p], e.end[p]) for e in entries for p in sorted(e.start)[:1]]


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
    told = report(b.state, b.now)
    assert (told.phase, told.failure) == (TaskPhase.FAILED, FailureCode.TOPIC_CHANGED)
    assert "id-1" in told.detail
    assert "id-2" in told.detail


def test_records_that_retention_took_fail_the_task_with_their_number() -> None:
    """Source: faults E4."""
    b = bench(0)
    b.run()
    b.log.earliest, b.log.stable = at(7), at(9)

    b.run(1.0)

    told = report(b.state, b.now)
    assert (told.phase, told.failure) == (TaskPhase.FAILED, FailureCode.OFFSETS_UNREADABLE)
    assert "clicks:0" in told.detail
    assert "7 records are lost" in told.detail


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

    told = report(b.state, b.now)
    assert (told.phase, told.position) == (TaskPhase.READING, at(5))
    assert "last stable offset is 2" in told.detail


def test_kafka_away_is_waited_for_without_end_and_then_read_on() -> None:
    """Source: faults E2."""
    b = bench(0)
    b.log.down = "all brokers down"

    b.run(3_600)
    told = report(b.state, b.now)
    assert (told.phase, told.failure) == (TaskPhase.STARTING, None)
    assert "all brokers down" in told.detail

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

    told = report(b.state, b.now)
    assert (told.phase, told.position) == (TaskPhase.READING, at(5))
    assert "1/2" in told.detail
    assert "30 s" in told.detail


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


# ---------------------------------------------------------------- the end


def test_an_end_implies_resume_and_what_is_left_is_read_at_once() -> None:
    """Source: faults A6; DESIGN §3 step 4."""
    b = bench(5, tuning=Tuning(linger=timedelta(hours=1), batch_rows_min=1_000_000))
    b.run()
    b.deliver(Ordered(b.now, pause(2)))
    b.run()
    b.log.stable = at(20)

    b.deliver(Ordered(b.now, order(3, end=at(12))))
    b.run()

    assert (b.state.phase, ranges(b.journal)) == (TaskPhase.SUCCESS, [(0, 5), (5, 12)])
    assert b.journal_end == at(12)
    [published] = b.published
    assert (published.request.start, published.request.end) == (at(0), at(12))


def test_an_end_that_asks_for_a_pause_as_well_is_still_an_end() -> None:
    b = bench(5)
    b.run()

    b.deliver(Ordered(b.now, pause(3).model_copy(update={"end": at(5)})))
    b.run()

    assert b.state.phase is TaskPhase.SUCCESS


def test_an_end_that_is_not_readable_yet_is_waited_for() -> None:
    """Source: faults E9, E11: an open transaction holds the last stable offset back."""
    b = bench(5)
    b.deliver(Ordered(b.now, order(2, end=at(9))))
    b.run(120)
    told = report(b.state, b.now)
    assert told.phase is TaskPhase.FINISHING
    assert "range ends at 9" in told.detail

    b.log.stable = at(30)
    b.run(1)

    assert (b.state.phase, b.state.position) == (TaskPhase.SUCCESS, at(9))


def test_a_task_beyond_the_end_drops_batches_from_the_tail_and_reads_up_to_it() -> None:
    """Source: protocol rule P14."""
    b = Bench(desired(start=at(0, 0)), MemoryLog(at(0, 0), at(4, 4)), SMALL)
    b.run()
    b.log.stable = at(6, 9)
    b.run(1)
    b.log.stable = at(10, 20)
    b.run(1)
    assert [e.end for e in b.journal] == [at(4, 4), at(6, 9), at(10, 15), at(10, 20)]

    b.deliver(Ordered(b.now, order(2, end=at(10, 5))))
    b.run()

    assert [e.end for e in b.journal] == [at(4, 4), at(10, 5)]
    assert [e.number for e in b.dropped] == [2, 3, 4]
    assert [e.number for e in b.journal] == [1, 5], "a number is never given twice"
    assert b.state.phase is TaskPhase.SUCCESS
    assert b.published[0].request.counters.processed == 15


def test_a_batch_that_runs_beyond_a_new_end_is_cancelled() -> None:
    b = bench(9)
    until(b, ReadBatch)

    b.deliver(Ordered(b.now, order(2, end=at(4))))

    assert b.cancels == 1


def test_a_batch_that_ended_beyond_a_new_end_is_not_journaled() -> None:
    b = bench(9)
    until(b, ReadBatch)
    b.deliver(Ordered(b.now, order(2, end=at(4))))

    b.run()

    assert ranges(b.journal) == [(0, 4)]
    assert [e.end for e in b.dropped] == [at(9)]


def test_an_end_at_the_start_is_published_without_reading() -> None:
    b = bench(9)
    b.deliver(Ordered(b.now, order(2, end=at(0))))
    until(b, Publish)

    assert b.journal == []
    assert b.state.merged is not None
    assert b.state.merged.segments == ()


def test_a_fixed_end_stays_whatever_later_orders_leave_out() -> None:
    b = bench(5)
    b.deliver(Ordered(b.now, order(2, end=at(9))))
    b.deliver(Ordered(b.now, pause(3)))
    b.run(1)

    assert (b.state.end, b.state.phase) == (at(9), TaskPhase.FINISHING)


@pytest.mark.parametrize("second", [at(4), at(6), at(5, 5)])
def test_a_task_told_two_ends_fails(second: dict[object, int]) -> None:
    """Goal: a broken promise (P13) is a fact; a fresh task gets the one true end."""
    b = bench(3)
    b.deliver(Ordered(b.now, order(2, end=at(5))))

    b.deliver(Ordered(b.now, order(3, end=second)))  # type: ignore[arg-type] # also a wrong one

    assert b.state.failure is not None
    assert b.state.failure.code is FailureCode.INTERNAL


def test_a_task_that_fails_cancels_what_it_runs() -> None:
    b = bench(3)
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    until(b, ReadBatch)

    b.deliver(Ordered(b.now, order(3, end=at(4))))

    assert (b.state.phase, b.cancels) == (TaskPhase.FAILED, 1)


@pytest.mark.parametrize("odd", [at(5, 5), {}, at(-1)])
def test_an_end_that_does_not_fit_the_start_fails_the_task(odd: dict[object, int]) -> None:
    b = bench(3)

    b.deliver(Ordered(b.now, order(2, end=odd)))  # type: ignore[arg-type] # a wrong one

    assert b.state.phase is TaskPhase.FAILED


# ---------------------------------------------------------------- publishing


def finished(outcome: PublishOutcome) -> Bench:
    b = bench(5)
    b.outcome = outcome
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    b.run()
    return b


@pytest.mark.parametrize(
    "outcome", [PublishOutcome.COMMITTED, PublishOutcome.ALREADY_PUBLISHED]
)
def test_a_published_range_is_success_whoever_published_it(outcome: PublishOutcome) -> None:
    """Source: protocol rule P22; faults A12, R7."""
    assert finished(outcome).state.phase is TaskPhase.SUCCESS


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (PublishOutcome.SUPERSEDED, FailureCode.REFUSED),
        (PublishOutcome.STALE, FailureCode.INTERNAL),
    ],
)
def test_a_range_that_may_not_be_published_fails_with_the_reason(
    outcome: PublishOutcome, code: FailureCode
) -> None:
    """Source: protocol rule P22."""
    b = finished(outcome)

    told = report(b.state, b.now)
    assert (told.phase, told.failure) == (TaskPhase.FAILED, code)
    assert f"because {outcome}" in told.detail
    assert b.dropped == [], "the files stay"


def test_a_task_ahead_of_its_predecessor_asks_again_without_limit() -> None:
    """Source: protocol rule P22, faults R6."""
    b = finished(PublishOutcome.WAIT_FOR_PREDECESSOR)
    b.run(3_600)
    assert (b.state.phase, len(b.published)) == (TaskPhase.WAITING, 361)

    b.outcome = PublishOutcome.COMMITTED
    b.run(10)

    assert b.state.phase is TaskPhase.SUCCESS


def test_a_waiting_task_asks_at_once_when_its_turn_comes() -> None:
    b = finished(PublishOutcome.WAIT_FOR_PREDECESSOR)
    b.outcome = PublishOutcome.COMMITTED

    b.deliver(TurnTold(b.now, turn=True))
    b.run()

    assert b.state.phase is TaskPhase.SUCCESS


def test_a_turn_that_is_repeated_is_no_reason_to_ask_in_a_circle() -> None:
    b = finished(PublishOutcome.WAIT_FOR_PREDECESSOR)
    for _ in range(100):
        b.deliver(TurnTold(b.now, turn=True))
        b.run()

    assert len(b.published) == 2


# ---------------------------------------------------------------- beginning and ending


def test_a_task_taken_up_without_a_journal_is_lost() -> None:
    b = Bench(desired(taken_up=True), MemoryLog(at(0), at(5)))

    assert report(b.state, b.now).failure is FailureCode.JOURNAL_LOST
    assert b.todo == []


def test_a_task_taken_up_goes_on_from_its_journal() -> None:
    b = bench(5)
    b.run()
    b.deliver(Ordered(b.now, order(2, end=at(8))))
    b.run()
    b.log.stable = at(20)
    b.incarnation = 8

    b.restart(b.held())
    b.run()

    assert (b.state.phase, ranges(b.journal)) == (TaskPhase.SUCCESS, [(0, 5), (5, 8)])
    assert [(e.incarnation, e.number) for e in b.journal] == [(7, 1), (8, 2)]
    assert b.published[-1].request.counters.processed == 8


def test_a_task_asked_to_stop_ends_at_the_batch_boundary_and_keeps_its_journal() -> None:
    b = bench(5)
    b.run()
    b.log.stable = at(9)
    until(b, ReadBatch)

    b.deliver(StopAsked(b.now, cancel_at=b.now + 4))
    at_once = b.state.stopped
    b.run()

    assert (at_once, b.state.stopped) == (False, True)
    assert ranges(b.journal) == [(0, 5)]
    assert [e.end for e in b.dropped] == [at(9)], "what is not journaled leaves nothing behind"


def test_a_job_that_outlasts_the_grace_of_a_stop_is_cancelled() -> None:
    b = bench(5)
    until(b, ReadBatch)
    b.deliver(StopAsked(b.now, cancel_at=b.now + 4))
    b.now += 4
    b.deliver(Ticked(b.now))
    assert b.cancels == 1

    b.cancelled()

    assert b.state.stopped


def test_a_merge_is_cancelled_by_a_stop_as_well() -> None:
    b = bench(5)
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    until(b, Merge)
    b.deliver(StopAsked(b.now, cancel_at=b.now))
    b.deliver(Ticked(b.now))
    assert b.cancels >= 1

    b.cancelled()

    assert b.state.stopped
    assert b.published == []


def test_what_breaks_an_effect_fails_the_task_with_its_code() -> None:
    b = bench(5)
    until(b, ReadBatch)

    b.deliver(Broke(b.now, FailureCode.WRITE_FAILED, "disk full"))

    told = report(b.state, b.now)
    assert (told.failure, told.detail) == (FailureCode.WRITE_FAILED, "disk full")


def test_nothing_moves_a_task_that_is_over() -> None:
    b = finished(PublishOutcome.COMMITTED)
    before = b.state

    b.deliver(Ordered(b.now, pause(99)))
    b.deliver(StopAsked(b.now, cancel_at=b.now))
    b.deliver(Broke(b.now, FailureCode.INTERNAL, "late"))

    assert (b.state, b.todo) == (before, [])


def test_a_refused_task_reports_why_and_does_nothing() -> None:
    why = Failure(FailureCode.REFUSED, "that broker is not on the list")
    state = refuse(desired(taken_up=True), 7, SMALL, 0.0, failure=why)

    assert (state.phase, state.failure, state.busy) == (TaskPhase.FAILED, why, None)


def test_a_tail_is_dropped_before_anything_else_is_read() -> None:
    b = bench(9)
    b.run()
    b.deliver(Ordered(b.now, order(2, end=at(4))))

    assert isinstance(b.todo[-1], DropTail)
    assert not any(isinstance(effect, ReadBatch | Discard) for effect in b.todo)
