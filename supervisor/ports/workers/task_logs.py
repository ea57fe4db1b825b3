"""The port to task logs, which the workers keep."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class LogPart:
    """A piece of a task's log."""

    content: bytes
    """UTF-8; it may begin or end within a line."""
    start: int
    """The position of the piece in the whole log, in bytes."""
    size: int
    """The size of the whole log, in bytes; of an incomplete one, of what is known of it."""
    missing: str = ""
    """What of the log is not there, and why, for people; empty: nothing."""


class LogSource(Protocol):
    """The logs that workers keep of their running and ended tasks."""

    def log(self, worker_url: str, task_id: str, token: str, offset: int) -> LogPart | None:
        """Return a bounded piece of a task's log from `offset` on.

        A negative `offset` is counted from the end of the log.
        None: the worker does not have such a log, or no longer has it.

        Raises:
            WorkerUnavailable: no usable answer came within a few seconds.
        """
        ...
