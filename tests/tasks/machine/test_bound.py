"""A task whose supervisor reads fixed ranges: never a record at or beyond the bound."""

from tasks.contract.messages import FailureCode, TaskPhase
from tasks.machine.events import Ordered
from tests.tasks.machine.bench import Bench
from tests.tasks.machine.machines import SMALL, ranges
from tests.tasks.memory import MemoryLog, at, desired, order, pause

BOUND = 25


def bounded(stable: int, *, earliest: int = 0) -> Bench:
    task = desired().model_copy(update={"bound": at(BOUND)})
    return Bench(task, MemoryLog(at(earliest), at(stable)), SMALL)


def test_it_reads_up_to_the_bound_and_waits_there_for_its_order() -> None:
    """Goal: whatever comes behind the bound; the overlord sees it there and ends the range."""
    b = bounded(100)

    b.run(30.0)
    b.log.stable = at(1_000)
    b.run(30.0)

    assert (b.state.phase, b.state.position) == (TaskPhase.READING, at(BOUND))
    assert ranges(b.journal)[-1][1] == BOUND
    assert b.state.stalled_since is None, "it waits, rightly"

    b.deliver(Ordered(b.now, pause(2)))
    b.deliver(Ordered(b.now, order(3, end=at(BOUND))))
    b.run()
    assert b.state.phase is TaskPhase.SUCCESS


def test_a_bound_beyond_the_log_is_waited_for() -> None:
    b = bounded(7)
    b.run(5.0)

    assert b.state.position == at(7)
    assert "the range ends at 25, the last stable offset is 7" in b.state.note

    b.log.stable = at(40)
    b.run(10.0)
    assert b.state.position == at(BOUND)


def test_a_restarted_worker_keeps_the_bound() -> None:
    """Goal: the bound is told with the task, so a journal needs no word of it."""
    b = bounded(10)
    b.run()
    b.log.stable = at(100)
    b.task = b.task.model_copy(update={"taken_up": True})

    b.restart(b.held())
    b.run(10.0)

    assert b.state.position == at(BOUND)


def test_retention_behind_the_bound_loses_nothing() -> None:
    b = bounded(100)
    b.run(30.0)

    b.log.earliest = at(60)
    b.run(30.0)

    assert b.state.phase is TaskPhase.READING


def test_retention_within_the_bound_fails_with_what_is_lost_of_it() -> None:
    b = bounded(100, earliest=60)

    b.run(5.0)

    assert b.state.failure is not None
    assert b.state.failure.code is FailureCode.OFFSETS_UNREADABLE
    assert "25 records are lost" in b.state.failure.detail


def test_the_end_of_an_order_goes_before_the_bound() -> None:
    """Goal: a handoff within the range ends where it says."""
    b = bounded(100)
    b.task = b.task.model_copy(update={"order": order(end=at(12))})
    b.restart(None)

    b.run(30.0)

    assert b.state.phase is TaskPhase.SUCCESS
    assert ranges(b.journal)[-1][1] == 12
