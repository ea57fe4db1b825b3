"""A stuck job and a full disk, as the machine sees them; what the overlord hears of stalls."""

from datetime import timedelta

from tasks.contract.messages import Lack, PublishOutcome, TaskPhase
from tasks.machine.events import (
    Append,
    DropTail,
    Effect,
    GiveUp,
    JobDropped,
    JobMoved,
    Look,
    LookFailed,
    Merge,
    Ordered,
    Publish,
    ReadBatch,
    Ticked,
    Unanswered,
    Unwritten,
)
from tasks.machine.pacing import Limits
from tasks.machine.state import report
from tests.tasks.machine.bench import Bench
from tests.tasks.machine.machines import bench, until
from tests.tasks.memory import at, order, pause

PATIENCE_S = 60.0
GIVE_UP_S = 20.0
LIMITS = Limits(rows_first=10, catch_up_batches=1_000, progress_s=PATIENCE_S, give_up_s=GIVE_UP_S)
FULL = "no space below /data/journal"


def stalled(b: Bench) -> float:
    return report(b.state, b.now).stalled_for / timedelta(seconds=1)


def reading(stable: int = 5) -> Bench:
    """A task whose first batch runs."""
    b = bench(stable, limits=LIMITS)
    until(b, ReadBatch)
    return b


def wait(b: Bench, seconds: float) -> None:
    """Let time pass while whatever runs goes on."""
    end = b.now + seconds
    while b.state.wake_at is not None and b.state.wake_at <= end:
        b.now = max(b.now, b.state.wake_at)
        b.deliver(Ticked(b.now))
    b.now = end


# ---------------------------------------------------------------- a stuck job


def test_a_job_without_progress_is_cancelled_and_read_again() -> None:
    """Source: protocol rule P15; a stuck job is no failure of the task."""
    b = reading()
    wait(b, PATIENCE_S - 1)
    assert b.cancels == 0
    wait(b, 2)
    assert b.cancels > 0
    assert "batch 1 showed no progress for 60 s" in report(b.state, b.now).detail

    b.cancelled()
    b.run(30)

    assert b.state.position == at(5)
    assert [entry.number for entry in b.journal] == [2]
    assert report(b.state, b.now).detail == ""


def test_a_job_that_moves_is_never_cancelled_however_long_it_takes() -> None:
    b = reading()
    for _ in range(10):
        wait(b, PATIENCE_S - 1)
        b.deliver(JobMoved(b.now))

    assert (b.cancels, stalled(b)) == (0, 0.0)


def test_a_merge_without_progress_is_cancelled_and_made_again() -> None:
    b = bench(5, limits=LIMITS)
    b.run()
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    until(b, Merge)
    wait(b, PATIENCE_S + 1)
    assert b.cancels > 0

    b.cancelled()
    b.run(30)

    assert b.state.phase is TaskPhase.SUCCESS


def test_a_cancelled_job_that_does_not_end_ends_the_worker() -> None:
    """Goal: also if somebody else had it cancelled, here a pause."""
    for paused in (False, True):
        b = reading()
        if paused:
            b.deliver(Ordered(b.now, pause(2)))
        wait(b, PATIENCE_S + GIVE_UP_S + 1)
        given_up = _given_up(b)
        assert given_up
        assert all("batch 1 was cancelled and still runs" in why for why in given_up)


def test_an_order_to_go_on_does_not_save_a_stuck_job() -> None:
    b = reading()
    wait(b, PATIENCE_S - 1)
    b.deliver(Ordered(b.now, pause(2)))
    wait(b, 1.5)
    b.deliver(Ordered(b.now, order(3)))
    wait(b, GIVE_UP_S + 1)

    assert _given_up(b)


def test_no_job_is_given_up_before_its_time() -> None:
    b = reading()
    wait(b, PATIENCE_S + GIVE_UP_S - 1)

    assert _given_up(b) == []


def _given_up(b: Bench) -> list[str]:
    return [effect.why for effect in b.todo if isinstance(effect, GiveUp)]


# ---------------------------------------------------------------- stalls


def test_a_running_batch_counts_as_a_stall_until_it_is_journaled() -> None:
    b = reading()
    wait(b, 30)
    assert stalled(b) == 30

    until(b, Append)
    b.carry_out()

    assert stalled(b) == 0


def test_a_job_that_is_stuck_again_and_again_is_one_long_stall() -> None:
    """Goal: the overlord, whose deadline is longer, gets to know and replaces the task."""
    b = reading()
    for _ in range(3):
        wait(b, PATIENCE_S + 1)
        b.cancelled()
        while not (b.todo and isinstance(b.todo[0], ReadBatch)):
            wait(b, 1) if not b.todo else b.carry_out()

    assert stalled(b) > 3 * PATIENCE_S


def test_a_task_that_waits_for_others_does_not_stall() -> None:
    """Source: `TaskReport.stalled_for`; P15: the deadline stands still meanwhile."""
    idle = bench(0, limits=LIMITS)
    idle.run(500)
    assert stalled(idle) == 0

    without_kafka = bench(5, limits=LIMITS)
    without_kafka.log.down = "no broker"
    without_kafka.run(500)
    assert stalled(without_kafka) == 0

    waiting = bench(5, limits=LIMITS)
    waiting.outcome = PublishOutcome.WAIT_FOR_PREDECESSOR
    waiting.run()
    waiting.deliver(Ordered(waiting.now, order(2, end=at(5))))
    waiting.run(500)
    assert (waiting.state.phase, stalled(waiting)) == (TaskPhase.WAITING, 0)

    paused = reading()
    paused.run()
    paused.deliver(Ordered(paused.now, pause(2, lease_s=400)))
    paused.run(390)
    assert (paused.state.phase, stalled(paused)) == (TaskPhase.PAUSED, 0)


def test_a_task_whose_overlord_does_not_answer_does_not_stall() -> None:
    b = bench(5, limits=LIMITS)
    b.run()
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    until(b, Publish)
    wait(b, 100)
    assert stalled(b) == 0

    b.todo.pop(0)
    b.deliver(Unanswered(b.now, "nobody leads"))
    wait(b, 0.1)
    assert stalled(b) == 0


def publishing() -> Bench:
    """A task that asks to publish."""
    b = bench(5, limits=LIMITS)
    b.run()
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    until(b, Publish)
    return b


def unanswered(b: Bench, waited_s: float | None) -> None:
    """Let a request to publish fail after a time, and the next one begin."""
    until(b, Publish)
    b.todo.pop(0)
    b.now += waited_s or 0.0
    b.deliver(Unanswered(b.now, "500 a bug", waited_s=waited_s))


def test_a_publish_without_an_answer_is_a_stall_while_the_overlord_answers_otherwise() -> None:
    """Goal: the overlord, whose deadline is `completionTimeout`, replaces the task (P15)."""
    b = publishing()
    for _ in range(10):
        unanswered(b, 30.0)

    assert 300 < stalled(b) <= 10 * (30 + LIMITS.retry_max_s)
    assert "500 a bug" in report(b.state, b.now).detail


def test_the_time_in_which_the_overlord_is_away_as_a_whole_does_not_count() -> None:
    """Goal: the deadline stands still meanwhile, and goes on where it stood (P15)."""
    b = publishing()
    unanswered(b, 30.0)
    before = stalled(b)
    for _ in range(100):
        unanswered(b, None)

    assert stalled(b) == before > 0

    unanswered(b, 30.0)

    assert stalled(b) >= before + 30


def test_time_in_the_queue_of_finishing_tasks_is_no_stall_of_a_publish() -> None:
    """Goal: one long merge does not have all tasks behind it replaced."""
    b = publishing()
    unanswered(b, 1.0)
    until(b, Publish)
    before = stalled(b)
    wait(b, 1_000)

    assert stalled(b) == before


def test_a_task_that_hears_that_it_has_to_wait_does_not_stall_any_more() -> None:
    b = publishing()
    for _ in range(10):
        unanswered(b, 30.0)
    b.outcome = PublishOutcome.WAIT_FOR_PREDECESSOR
    b.run(500)

    assert (b.state.phase, stalled(b)) == (TaskPhase.WAITING, 0)


def test_a_stall_begins_anew_after_kafka_was_away() -> None:
    b = reading()
    wait(b, 50)
    b.todo.pop(0)
    b.deliver(JobDropped(b.now, "no broker"))
    assert stalled(b) == 0
    until(b, Look)
    b.todo.pop(0)
    b.deliver(LookFailed(b.now, "no broker"))
    until(b, ReadBatch)

    assert stalled(b) < 5


def test_a_task_tells_that_it_waits_for_schemas_until_a_batch_is_read() -> None:
    b = reading()
    message = "the schema registry does not answer"
    b.todo.pop(0)
    b.deliver(JobDropped(b.now, message, lacks=Lack.SCHEMA_REGISTRY))
    assert (report(b.state, b.now).lacks, report(b.state, b.now).detail) == (
        Lack.SCHEMA_REGISTRY,
        message,
    )

    until(b, ReadBatch)
    assert report(b.state, b.now).lacks is Lack.SCHEMA_REGISTRY
    until(b, Append)

    assert report(b.state, b.now).lacks is None
    assert report(b.state, b.now).detail == ""


# ---------------------------------------------------------------- a full disk


def test_a_batch_that_cannot_be_journaled_waits_for_space_and_counts_then() -> None:
    b = reading()
    until(b, Append)
    for _ in range(6):
        refuse(b)
        assert report(b.state, b.now).detail == FULL
        assert b.state.position == at(0)
        until(b, Append)

    assert stalled(b) > 10, "elsewhere it might go on: the overlord shall see it"
    b.run(1)
    assert [(e.number, e.end) for e in b.journal] == [(1, at(5))], "it is not read again"
    assert (report(b.state, b.now).detail, stalled(b)) == ("", 0)


def test_a_batch_that_cannot_be_journaled_is_given_up_for_a_pause() -> None:
    """Goal: a full disk does not hold up a handoff; the end is what the journal holds."""
    b = reading()
    until(b, Append)
    refuse(b)
    b.deliver(Ordered(b.now, pause(2)))
    for _ in range(20):
        if b.todo and isinstance(b.todo[0], Append):
            refuse(b)
        elif b.todo:
            b.carry_out()
        elif b.state.batch_to_confirm:
            wait(b, 1)

    assert (b.state.phase, b.state.position) == (TaskPhase.PAUSED, at(0))
    assert [entry.end for entry in b.dropped] == [at(5)]


def test_a_job_without_space_is_run_again_later_and_not_at_once() -> None:
    for end, kind in ((None, ReadBatch), (at(5), Merge)):
        b = bench(5, limits=LIMITS)
        if end is not None:
            b.run()
            b.deliver(Ordered(b.now, order(2, end=end)))
        until(b, kind)
        for _ in range(4):
            b.todo.pop(0)
            b.deliver(JobDropped(b.now, FULL, own=True))
            assert not [effect for effect in b.todo if isinstance(effect, kind)]
            assert report(b.state, b.now).detail == FULL
            until(b, kind)
        b.run(1)
        assert b.state.position == at(5)
        assert stalled(b) == 0


def test_a_tail_that_cannot_be_dropped_is_dropped_later() -> None:
    """Source: protocol rule P14: all of it or none."""
    b = bench(20, limits=LIMITS)
    b.run()
    before = list(b.journal)
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    until(b, DropTail)
    for _ in range(3):
        refuse(b)
        assert (b.journal, b.dropped) == (before, [])
        assert _next(b) is None, "not at once"
        until(b, DropTail)
    b.run(30)

    assert (b.state.phase, b.state.position) == (TaskPhase.SUCCESS, at(5))


def refuse(b: Bench) -> None:
    """The journal could not write what is next."""
    effect = b.todo.pop(0)
    assert isinstance(effect, Append | DropTail)
    b.deliver(Unwritten(b.now, FULL))


def _next(b: Bench) -> Effect | None:
    return b.todo[0] if b.todo else None
