"""The port to letters that are stored and wait for the topics, in the order of their commits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from supervisor.ports.flows.execution_log import LogEntry

__all__ = ["HistoryWriter", "LetterOutbox", "StoredLetter"]


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A letter that may or may not be on the topics already."""

    number: int
    """Grows with each letter; one that is gone is not used again."""
    entity: str
    body: bytes


class LetterOutbox(Protocol):
    """The stored letters; each use raises `StoreAway` or `StoreRefuses`."""

    def first(self, limit: int) -> Sequence[StoredLetter]:
        """Return those that wait longest, in order."""
        ...

    def drop_to(self, number: int) -> None:
        """Delete the letters up to this number: they are on the topics."""
        ...


class HistoryWriter(Protocol):
    """The way to the history for one writer at a time, which fences the one before.

    Each use raises `LogFenced`, `LogAway` or `LogRefuses` of `execution_log`.
    """

    def fence(self) -> str:
        """Let no other writer write any more; return the mark of what was written last, or none."""
        ...

    def write(self, entries: Sequence[LogEntry], mark: str) -> None:
        """Write all, in order, in one transaction; `mark` names what is written with it.

        Raises:
            LogAborted, LogTooLarge: nothing is written.
        """
        ...

    def close(self) -> None:
        """Give the connection up."""
        ...
