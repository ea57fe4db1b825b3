"""What an exception means for the task: closed kinds, told by names and never by sentences."""

import errno

import pytest

from tasks.contract import FailureCode
from tasks.ingest.failures import judge
from tasks.ports import StreamUnavailable, TaskError


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some data", FailureCode.OFFSETS_UNREADABLE),
        ("x.OffsetOutOfRangeException: Fetch position", FailureCode.OFFSETS_UNREADABLE),
        ("java.io.IOException: No space left on device", FailureCode.WRITE_FAILED),
        ("org.apache.kafka.common.errors.SaslAuthenticationException", FailureCode.READ_FAILED),
        ("something else", FailureCode.INTERNAL),
    ],
)
def test_a_failure_has_a_code_for_programs_and_says_at_what(said: str, code: FailureCode) -> None:
    error = judge(RuntimeError(f"{said}\n\tat org.example.Some.method(Some.java:1)"), "batch b7-1")

    assert isinstance(error, TaskError)
    assert error.code is code
    assert str(error) == f"batch b7-1: {said}"


def test_a_broker_that_does_not_answer_is_no_failure_of_the_task() -> None:
    said = "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node"

    assert isinstance(judge(RuntimeError(said), "batch b7-1"), StreamUnavailable)


def test_a_full_disk_is_told_as_such() -> None:
    error = judge(OSError(errno.ENOSPC, "No space left on device"), "merge")

    assert isinstance(error, TaskError)
    assert error.code is FailureCode.WRITE_FAILED
