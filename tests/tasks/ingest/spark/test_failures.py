"""What an exception means for the task: closed kinds, told by names and never by sentences."""

import errno
from pathlib import Path

import pytest

from tasks.contract.messages import FailureCode
from tasks.durable_files import NoSpace
from tasks.ingest.spark.failures import judge
from tasks.ports import StreamTimeout, TaskError
from tasks.runtime.secrets import secret_text
from tests.security.leaks import BY_NAME, BY_VALUE, CANARY, REFERENCE, SECRET, VARIABLE

FOLDER = Path("/data/warehouse/clicks/data/task-1/b7-1")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some data", FailureCode.OFFSETS_UNREADABLE),
        ("x.OffsetOutOfRangeException: Fetch position", FailureCode.OFFSETS_UNREADABLE),
        ("java.io.IOException: Read-only file system", FailureCode.WRITE_FAILED),
        ("org.apache.kafka.common.errors.SaslAuthenticationException", FailureCode.READ_FAILED),
        ("something else", FailureCode.INTERNAL),
    ],
)
def test_a_failure_has_a_code_for_programs_and_says_at_what(
    message: str, code: FailureCode
) -> None:
    error = judge(
        RuntimeError(f"{message}\n\tat org.example.Some.method(Some.java:1)"), "batch b7-1", FOLDER
    )

    assert isinstance(error, TaskError)
    assert error.code is code
    assert str(error) == f"batch b7-1: {message}"


def test_a_cause_that_the_trace_repeats_is_named_once() -> None:
    cause = "java.lang.IllegalStateException: Cannot fetch record for offset 5"
    text = f"Job aborted due to stage failure\n\tat a.B.c(B.java:1)\nCaused by: {cause}\n{cause}"

    error = judge(RuntimeError(text), "batch b7-1", FOLDER)

    assert str(error) == f"batch b7-1: Job aborted due to stage failure; {cause}"


def test_a_broker_that_does_not_answer_is_no_failure_of_the_task() -> None:
    message = "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node"

    assert isinstance(judge(RuntimeError(message), "batch b7-1", FOLDER), StreamTimeout)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        RuntimeError("org.apache.hadoop.fs.FSError: java.io.IOException: No space left on device"),
    ],
)
def test_a_full_disk_is_waited_for_and_named(error: Exception) -> None:
    judged = judge(error, "merge of 3 batches", FOLDER)

    assert isinstance(judged, NoSpace)
    assert "merge of 3 batches" in str(judged)
    assert f"below {FOLDER}" in str(judged)


def test_a_disk_that_cannot_be_written_at_all_fails_the_task() -> None:
    error = judge(OSError(errno.EROFS, "Read-only file system"), "merge", FOLDER)

    assert isinstance(error, TaskError)
    assert error.code is FailureCode.WRITE_FAILED


@pytest.mark.parametrize(
    ("where", "code"),
    [("java.util.regex.Pattern$Loop", FailureCode.REFUSED), ("org.x.Y", FailureCode.INTERNAL)],
)
def test_only_a_stack_that_a_pattern_overflowed_is_laid_to_a_pattern(
    where: str, code: FailureCode
) -> None:
    message = f"java.lang.StackOverflowError\n\tat java.base/{where}.match(Unknown Source)"

    error = judge(RuntimeError(message), "batch b7-1", FOLDER)

    assert isinstance(error, TaskError)
    assert error.code is code
    assert ("regular expression" in str(error)) == (code is FailureCode.REFUSED)


@pytest.mark.parametrize("text", [BY_NAME, BY_VALUE])
@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("{} in a job"),
        RuntimeError("org.apache.kafka.common.errors.TimeoutException: {}"),
        RuntimeError("No space left on device: {}"),
        OSError(errno.EROFS, "{}"),
        OSError(errno.ENOSPC, "{}"),
        RuntimeError("x" * 2_990 + "{}"),
    ],
)
def test_what_a_library_shows_of_its_properties_is_not_passed_on(
    error: Exception, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: also where the text is cut in the middle of a secret."""
    monkeypatch.setenv(VARIABLE, SECRET)
    secret_text(REFERENCE)
    filled = type(error)(*(a.format(text) if isinstance(a, str) else a for a in error.args))

    assert CANARY[:4] not in str(judge(filled, "batch b7-1", FOLDER))
