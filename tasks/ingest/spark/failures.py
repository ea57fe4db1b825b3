"""Classification of Spark's exceptions into the failures of a task.

Spark wraps an error into a job failure whose text has the class names and error conditions of its
causes.  These names are matched, never sentences.  Secrets in the text are masked.
"""

from pathlib import Path

from tasks.contract.messages import FailureCode
from tasks.durable_files import is_full, no_space
from tasks.kafka.private_key import UnusableKey
from tasks.ports import StreamTimeout, TaskError
from tasks.runtime.secrets import without_secrets

_TEXT_MAX = 3_000
_CAUSES_MAX = 10

_UNREADABLE = (
    "KAFKA_DATA_LOSS",
    "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED",
    "OffsetOutOfRangeException",
    "UnknownTopicOrPartitionException",
    "UnknownTopicIdException",
    "InvalidTopicException",
)
_SILENT = (
    "org.apache.kafka.common.errors.TimeoutException",
    "java.util.concurrent.TimeoutException",
    "org.apache.kafka.common.errors.DisconnectException",
    "NoBrokersAvailable",
    "No resolvable bootstrap urls",
    "org.apache.kafka.common.errors.NetworkException",
    "CoordinatorNotAvailableException",
    "LeaderNotAvailableException",
)
_READING = ("org.apache.kafka.", "org.apache.spark.sql.kafka010.")
_NO_AVRO = "AVRO_NOT_LOADED_SQL_FUNCTIONS_UNUSABLE"
_OVERFLOWED = ("java.lang.StackOverflowError", "at java.base/java.util.regex.")
"""Both occur for a pattern that calls itself for each character of a long text."""
_NO_STACK = (
    "a regular expression of the spec overflowed the stack at a long text of a record; "
    "repeat classes such as [^,]* rather than alternatives such as (a|b)*, or let a loop take "
    "all that it finds: (a|b)*+"
)
_PATTERN_STEPS = "TIDEGATE_PATTERN_STEPS"
"""Thrown by `Patterns.java`."""
_TOO_SLOW = (
    "a regular expression of the spec took more than 200 million steps at one text of a record, as "
    "it tries the same characters again and again; put no loop into a loop, as in (a+)+, begin it "
    "with ^, write classes such as [^,]* rather than .*, or let a loop keep all that it finds: .*+"
)
_FULL = (
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
)
_DISK = (
    "Read-only file system",
    "Permission denied",
    "java.nio.file.AccessDeniedException",
    "TASK_WRITE_FAILED",
    "Mkdirs failed",
    "java.io.IOException",
    "java.io.FileNotFoundException",
)


def judge(error: Exception, doing: str, folder: Path) -> Exception:
    """Return the exception to raise for `error`; `doing` names the work, partitions and numbers.

    The result is a `TaskError`; or, if a retry may succeed, `StreamTimeout` (the brokers did not
    answer) or `NoSpace` (`folder` had no space).
    """
    if isinstance(error, OSError):
        text = without_secrets(f"{doing}: {error}")
        if is_full(error):
            return no_space(text[:_TEXT_MAX], folder)
        return TaskError(FailureCode.WRITE_FAILED, text)
    if isinstance(error, UnusableKey):
        return TaskError(FailureCode.REFUSED, f"{doing}: {error}")
    full_text = f"{error}\n{_java_causes(error)}"
    # Mask before the cut: half of a secret would not be recognized.
    message = f"{doing}: {_first_lines(without_secrets(full_text))}"[:_TEXT_MAX]
    if _NO_AVRO in full_text:
        return TaskError(FailureCode.REFUSED, f"{doing}: this worker has no jar that reads Avro")
    if all(mark in full_text for mark in _OVERFLOWED):
        return TaskError(FailureCode.REFUSED, f"{doing}: {_NO_STACK}")
    if _PATTERN_STEPS in full_text:
        return TaskError(FailureCode.REFUSED, f"{doing}: {_TOO_SLOW}")
    if any(mark in full_text for mark in _UNREADABLE):
        return TaskError(FailureCode.OFFSETS_UNREADABLE, message)
    if any(mark in full_text for mark in _FULL):
        return no_space(message, folder)
    if any(mark in full_text for mark in _SILENT):
        return StreamTimeout(message)
    if any(mark in full_text for mark in _DISK[:3]):
        return TaskError(FailureCode.WRITE_FAILED, message)
    if any(mark in full_text for mark in _READING):
        return TaskError(FailureCode.READ_FAILED, message)
    if any(mark in full_text for mark in _DISK):
        return TaskError(FailureCode.WRITE_FAILED, message)
    return TaskError(FailureCode.INTERNAL, message)


def _java_causes(error: Exception) -> str:
    causes: list[str] = []
    cause = getattr(error, "java_exception", None)
    while cause is not None and len(causes) < _CAUSES_MAX:
        causes.append(str(cause.toString()))
        cause = cause.getCause()
    return "\n".join(causes)


def _first_lines(text: str) -> str:
    # The causes come once with the trace and once by themselves.
    lines = [line.strip().removeprefix("Caused by: ") for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith(("at ", "... ", "Driver stack"))]
    return "; ".join(dict.fromkeys(kept))
