"""How many records that cannot be read a range may have: `maxParseExceptions`."""

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from tasks.contract.ingest_spec import BadRecords
from tasks.contract.messages import Counters, FailureCode, RejectSample, TaskPhase
from tasks.machine.events import Ordered
from tasks.machine.state import too_many_exceptions
from tasks.ports import JournalEntry
from tasks.worker.batches.reject_log import log_bad_records, log_refused
from tests.tasks.machine.bench import Bench
from tests.tasks.machine.machines import SMALL, ranges
from tests.tasks.memory import LIVELY, MemoryLog, at, desired, order

_BAD = Counters(
    unparseable=2,
    processed_with_error=1,
    thrown_away=50,
    rejected={"not-json": 1, "no-timestamp": 1, "filtered": 50},
)


def spoiled(most: int | None, mode: BadRecords = BadRecords.QUARANTINE) -> Bench:
    """A task each of whose batches has three bad records."""
    tuning = LIVELY.model_copy(update={"parse_exceptions_max": most, "bad_records": mode})
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
    message = "4 records cannot be read, 2 in part, maxParseExceptions is 5"
    assert b.state.failure.detail.startswith(message)


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

    line = {"event": "record refused", "record": "clicks:1 7", "reason": "not-json"}
    assert logs == [line | {"task": "task-1", "log_level": "warning"}]


def test_what_was_expected_of_a_value_is_in_the_log_and_in_the_failure() -> None:
    """Goal: the column is named; what the record holds is not in the log."""
    sample = RejectSample(
        topic="clicks",
        partition=0,
        offset=3,
        reason="unfit-value",
        input="secret",
        detail="id: a long was expected",
    )
    b = spoiled(1)
    b.run()

    with capture_logs() as logs:
        log_refused("task-1", [sample])

    message = too_many_exceptions(replace(b.state, samples=(sample,)))
    assert message.endswith("one is clicks:0 3 (unfit-value: id: a long was expected)")
    assert logs[0]["detail"] == "id: a long was expected"
    assert "secret" not in str(logs)


def test_rejected_records_are_counted_by_reason_and_taken_back_with_their_batch() -> None:
    b = spoiled(None)
    b.run()
    b.log.stable = at(10)
    b.run(60)

    assert b.state.counters.rejected == {"not-json": 2, "no-timestamp": 2, "filtered": 100}

    b.deliver(Ordered(b.now, order(2, end=at(5))))
    b.run()

    assert ranges(b.journal) == [(0, 5)]
    assert b.state.counters.rejected == _BAD.rejected


def test_the_first_bad_record_fails_a_range_if_the_spec_wants_it() -> None:
    b = spoiled(None, BadRecords.FAIL)
    b.run()

    assert b.state.failure is not None
    assert b.state.failure.code is FailureCode.TOO_MANY_PARSE_EXCEPTIONS
    assert b.state.failure.detail.startswith("2 records cannot be read, 1 in part, badRecords is")


def test_records_that_are_read_in_part_or_not_wanted_fail_nothing() -> None:
    """Goal: badRecords is about records that become no row, for a fault of theirs."""
    b = spoiled(None, BadRecords.FAIL)
    b.bad = Counters(processed_with_error=3, thrown_away=50)
    b.run()
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    b.run()

    assert b.state.phase is TaskPhase.SUCCESS


@pytest.mark.parametrize("mode", [BadRecords.QUARANTINE, BadRecords.DROP, BadRecords.WARN])
def test_bad_records_fail_nothing_otherwise(mode: BadRecords) -> None:
    b = spoiled(None, mode)
    b.run()

    b.deliver(Ordered(b.now, order(2, end=at(5))))
    b.run()

    assert b.state.phase is TaskPhase.SUCCESS


@pytest.mark.parametrize(
    ("mode", "bad", "logged"),
    [("warn", 2, 1), ("warn", 0, 0), ("drop", 2, 0), ("quarantine", 2, 0)],
)
def test_a_spec_that_warns_logs_one_line_per_batch(mode: str, bad: int, logged: int) -> None:
    tuning = LIVELY.model_copy(update={"bad_records": BadRecords(mode)})
    entry = JournalEntry(
        number=7,
        incarnation=1,
        start=at(0),
        end=at(5),
        files=(),
        counters=Counters(unparseable=bad, thrown_away=9),
    )

    with capture_logs() as logs:
        log_bad_records("task-1", entry, tuning)

    line = {"event": "records that cannot be read", "records": bad, "batch": 7, "task": "task-1"}
    assert logs == [line | {"log_level": "warning"}] * logged
