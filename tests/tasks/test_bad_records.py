"""How many records that cannot be read a range may have: `maxParseExceptions`."""

import pytest
from structlog.testing import capture_logs

from tasks.contract import Counters, FailureCode, RejectSample, TaskPhase
from tasks.refused import log_refused
from tasks.signals import Ordered
from tests.tasks.bench import Bench
from tests.tasks.machines import SMALL, ranges
from tests.tasks.memory import LIVELY, MemoryLog, at, desired, order

_BAD = Counters(unparseable=2, processed_with_error=1, thrown_away=50)


def spoiled(most: int | None) -> Bench:
    """A task each of whose batches has three bad records."""
    tuning = LIVELY.model_copy(update={"parse_exceptions_max": most})
    b = Bench(desired(tuning=tuning), MemoryLog(at(0), at(5)), SMALL)
    b.bad = _BAD
    return b


def test_a_range_with_more_bad_records_than_allowed_fails() -> None:
    b = spoiled(5)
    b.run()
    assert b.state.phase is TaskPhase.READING
    b.log.stable = at(10)

    b.run(60)

    assert ranges(b.journal) == [(0, 5), (5, 10)]
    assert b.state.failure is not None
    assert b.state.failure.code is FailureCode.TOO_MANY_PARSE_EXCEPTIONS
    told = "4 records cannot be read, 2 in part, maxParseExceptions is 5"
    assert b.state.failure.detail.startswith(told)


def test_a_task_that_comes_back_counts_what_its_journal_holds() -> None:
    b = spoiled(2)
    b.run()
    assert b.state.phase is TaskPhase.FAILED

    b.task = b.task.model_copy(update={"taken_up": True})
    b.restart(b.held())
    b.run()

    assert b.state.failure is not None
    assert b.state.failure.code is FailureCode.TOO_MANY_PARSE_EXCEPTIONS


@pytest.mark.parametrize("most", [3, None])
def test_as_many_as_allowed_are_published(most: int | None) -> None:
    b = spoiled(most)
    b.run()

    b.deliver(Ordered(b.now, order(2, end=at(5))))
    b.run()

    assert b.state.phase is TaskPhase.SUCCESS


def test_what_lies_beyond_the_end_does_not_count() -> None:
    """Goal: a worker whose journal reaches beyond its range forgets what is there."""
    b = spoiled(None)
    b.run()
    b.log.stable = at(10)
    b.run(60)
    assert ranges(b.journal) == [(0, 5), (5, 10)]
    tuning = LIVELY.model_copy(update={"parse_exceptions_max": 5})
    b.task = desired(tuning=tuning, first=order(2, end=at(5)), taken_up=True)

    b.restart(b.held())
    b.run()

    assert ranges(b.journal) == [(0, 5)]
    assert b.state.phase is TaskPhase.SUCCESS


def test_refused_records_are_named_in_the_log_and_not_shown() -> None:
    sample = RejectSample(topic="clicks", partition=1, offset=7, reason="not-json", input="secret")

    with capture_logs() as logs:
        log_refused("task-1", [sample])

    told = {"event": "record refused", "record": "clicks:1 7", "reason": "not-json"}
    assert logs == [told | {"task": "task-1", "log_level": "warning"}]
