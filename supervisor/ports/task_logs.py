"""What is needed of the workers to show the log of a task."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class LogPart:
    """A piece of a task's log."""

    content: bytes
    """UTF-8; it may begin or end within a line."""
    start: int
    """Where it begins in the whole log, in bytes."""
    size: int
    """Of the whole log, in bytes."""


class LogSource(Protocol):
    """The logs that workers keep of their tasks, running and ended ones."""

    def log(self, worker_url: str, task_id: str, token: str, offset: int) -> LogPart | None:
        """Return a task's log from `offset` on, a negative one counted from its end.

        A bounded piece of it; None: the worker has no such log, or not any more.

        Raises:
            WorkerUnavailable: no usable answer came within a few seconds.
        """
        ...
