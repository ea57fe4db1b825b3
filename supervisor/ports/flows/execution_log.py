"""The port to the topics of executions, as the owner of one partition uses them.

    take_over ─► read_from ─► ( read ─► write )*

`take_over` fences every owner before: from then on nothing that they write is seen by anybody.
Whatever is raised but `LogAborted` and `LogTooLarge` leaves in doubt what is written, so the
partition is taken over anew: what `take_over` returns is what is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from supervisor.core.executions.records import StateRecord

__all__ = [
    "FILLER_KEY",
    "POSITION_KEY",
    "LogAborted",
    "LogAway",
    "LogEntry",
    "LogFenced",
    "LogRecord",
    "LogRefuses",
    "LogTooLarge",
    "LogTopic",
    "PartitionLog",
]

POSITION_KEY = "@position"
"""Key of the position in STATE: each partition has one, and each transaction of an owner ends so.
"""
FILLER_KEY = b"@settled"
"""Key of a record that says nothing; it has no value.  It takes a partition into a transaction."""


class LogTopic(StrEnum):
    """HISTORY: inputs.  STATE: entities and the position.  CALLS: work for runners.

    RESULTS: events for listeners, and replies to runners.  DEAD: what could not be worked in.
    """

    HISTORY = "history"
    STATE = "state"
    CALLS = "calls"
    RESULTS = "results"
    DEAD = "dead"


class LogAborted(Exception):
    """Nothing of the transaction is written; the same may be written again."""


class LogTooLarge(Exception):
    """An entry is larger than Kafka takes: nothing of the transaction is written."""


class LogFenced(Exception):
    """Another owner has taken the partition over: nothing more may be written."""


class LogAway(Exception):
    """Kafka does not answer, or its client has failed."""


class LogRefuses(Exception):
    """Kafka refuses until somebody acts; the text says what to do."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """An input as it was read."""

    offset: int
    key: bytes
    value: bytes | None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A record that is to be written; `value` None ends what its key has."""

    topic: LogTopic
    partition: int
    key: bytes
    value: bytes | None
    headers: Mapping[str, str] = field(default_factory=dict)


class PartitionLog(Protocol):
    """One partition, for one thread.

    Each use raises `LogFenced`, `LogAway` or `LogRefuses`.
    """

    def take_over(self) -> Sequence[StateRecord]:
        """Fence who owned the partition before; return the newest record of each key of STATE."""
        ...

    def read_from(self, offset: int | None) -> None:
        """Let `read` begin at an offset of HISTORY; None: at its first record."""
        ...

    def read(self, limit: int, within_s: float) -> Sequence[LogRecord]:
        """Return the next inputs, in order, up to the limit, as soon as there are some.

        There are none after the time, and after a `wake`.
        """
        ...

    def wake(self) -> None:
        """Let the read that waits, or the next one, return at once; for any thread."""
        ...

    def behind(self) -> int | None:
        """Return how many records of HISTORY are there behind those that were read, for any thread.

        None: that is not known yet.
        """
        ...

    def end_seen(self) -> int | None:
        """Return where HISTORY ended when `read` reached its end, for any thread.

        That is behind the ends of transactions too.  None: there is more, or that is not known.
        """
        ...

    def write(self, entries: Sequence[LogEntry]) -> None:
        """Write all in one transaction.

        Raises:
            LogAborted, LogTooLarge: nothing is written.
        """
        ...

    def close(self) -> None:
        """Give the connections up; what is not committed is never seen."""
        ...
