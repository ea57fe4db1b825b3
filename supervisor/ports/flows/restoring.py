"""The port to a restore of the topics of executions: the tables that it reads, the state it writes.

tables ─► records ─► transactions of each partition, the last one with its position
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from supervisor.core.executions.records import StateRecord
from supervisor.ports.flows.execution_log import LogEntry

__all__ = ["HistoryStart", "RestorableLog", "RestorableTables"]


@dataclass(frozen=True)
class HistoryStart:
    """Where a partition goes on that has no position any more."""

    next: int = 0
    """The offset of HISTORY that is read next."""
    passed_over: int = 0
    """Offsets of HISTORY before it of which nobody knows whether they were worked in."""


class RestorableTables(Protocol):
    """The tables, as a restore reads them.  Each use raises `StoreAway` or `StoreRefuses`."""

    def executions(self) -> Sequence[str]:
        """Return the executions that belong on the topics, by id."""
        ...

    def records(self, executions: Collection[str]) -> Mapping[str, Sequence[StateRecord]]:
        """Return the records of each of these executions that is there."""
        ...

    def gates(self) -> Sequence[StateRecord]:
        """Return the record of each gate that somebody holds or waits for."""
        ...

    def lost_artifacts(self) -> Sequence[tuple[str, str]]:
        """Return each execution with an artifact that its records name, and no row has."""
        ...


class RestorableLog(Protocol):
    """The state of one partition.  Each use raises `LogAway`, `LogRefuses` or `LogFenced`."""

    def look(self) -> Sequence[StateRecord]:
        """Return the newest record of each key; nobody is fenced."""
        ...

    def take_over(self) -> Sequence[StateRecord]:
        """Fence who owned the partition before; return the same."""
        ...

    def write(self, entries: Sequence[LogEntry]) -> None:
        """Write all in one transaction.

        Raises:
            LogAborted, LogTooLarge: nothing is written.
        """
        ...

    def close(self) -> None:
        """Give the connections up."""
        ...
