"""How a task ends: its range's end, publishing, being taken up, stopped or refused."""

from datetime import timedelta

import pytest

from tasks.contract.ingest_spec import Tuning
from tasks.contract.messages import FailureCode, PublishOutcome, TaskPhase
from tasks.machine.events import (
    Broke,
    Discard,
    DropTail,
    Merge,
    Ordered,
    Publish,
    ReadBatch,
    StopRequested,
    Ticked,
    TurnKnown,
)
from tasks.machine.machine import refuse
from tasks.machine.state import Failure, report
from tests.tasks.machine.bench import Bench
from tests.tasks.machine.machines import SMALL, bench, ranges, until
from tests.tasks.memory import MemoryLog, at, desired, order, pause

# ---------------------------------------------------------------- the end


def test_an_end_implies_resume_and_what_is_left_is_read_at_once() -> None:
    """Source: faults A6."""
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
    reported = report(b.state, b.now)
    assert reported.phase is TaskPhase.FINISHING
    assert "range ends at 9" in reported.detail

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

    assert report(b.state, b.now).fullest_chunk_rows == 20
    b.deliver(Ordered(b.now, order(2, end=at(10, 5))))
    b.run()

    assert report(b.state, b.now).fullest_chunk_rows == 10, "what was dropped counts no more"
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


@pytest.mark.parametrize("outcome", [PublishOutcome.COMMITTED, PublishOutcome.ALREADY_PUBLISHED])
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

    reported = report(b.state, b.now)
    assert (reported.phase, reported.failure) == (TaskPhase.FAILED, code)
    assert f"because {outcome}" in reported.detail
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

    b.deliver(TurnKnown(b.now, turn=True))
    b.run()

    assert b.state.phase is TaskPhase.SUCCESS


def test_a_turn_that_is_repeated_is_no_reason_to_ask_in_a_circle() -> None:
    b = finished(PublishOutcome.WAIT_FOR_PREDECESSOR)
    for _ in range(100):
        b.deliver(TurnKnown(b.now, turn=True))
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
    assert report(b.state, b.now).fullest_chunk_rows == 8, "the journal tells it"


def test_a_task_asked_to_stop_ends_at_the_batch_boundary_and_keeps_its_journal() -> None:
    b = bench(5)
    b.run()
    b.log.stable = at(9)
    until(b, ReadBatch)

    b.deliver(StopRequested(b.now, cancel_at=b.now + 4))
    at_once = b.state.stopped
    b.run()

    assert (at_once, b.state.stopped) == (False, True)
    assert ranges(b.journal) == [(0, 5)]
    assert [e.end for e in b.dropped] == [at(9)], "what is not journaled leaves nothing behind"


def test_a_job_that_outlasts_the_grace_of_a_stop_is_cancelled() -> None:
    b = bench(5)
    until(b, ReadBatch)
    b.deliver(StopRequested(b.now, cancel_at=b.now + 4))
    b.now += 4
    b.deliver(Ticked(b.now))
    assert b.cancels == 1

    b.cancelled()

    assert b.state.stopped


@pytest.mark.parametrize("ends", [False, True], ids=["it is cut off", "it ends in time"])
def test_a_batch_that_a_stop_gives_up_is_not_counted_as_read_twice(*, ends: bool) -> None:
    """Found by CI: a replica that was behind gave its batch up, for its sibling had published."""
    b = bench(5)
    until(b, ReadBatch)
    b.deliver(StopRequested(b.now, cancel_at=b.now))
    if not ends:
        b.cancelled()
    b.run()

    assert (b.state.stopped, b.state.counters.cancelled_rows, b.journal) == (True, 0, [])


def test_a_merge_is_cancelled_by_a_stop_as_well() -> None:
    b = bench(5)
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    until(b, Merge)
    b.deliver(StopRequested(b.now, cancel_at=b.now))
    b.deliver(Ticked(b.now))
    assert b.cancels >= 1

    b.cancelled()

    assert b.state.stopped
    assert b.published == []


def test_what_breaks_an_effect_fails_the_task_with_its_code() -> None:
    b = bench(5)
    until(b, ReadBatch)

    b.deliver(Broke(b.now, FailureCode.WRITE_FAILED, "disk full"))

    reported = report(b.state, b.now)
    assert (reported.failure, reported.detail) == (FailureCode.WRITE_FAILED, "disk full")


def test_nothing_moves_a_task_that_is_over() -> None:
    b = finished(PublishOutcome.COMMITTED)
    before = b.state

    b.deliver(Ordered(b.now, pause(99)))
    b.deliver(StopRequested(b.now, cancel_at=b.now))
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
