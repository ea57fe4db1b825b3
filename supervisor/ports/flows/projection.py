"""The port to the projection: what the topics say, and the tables that repeat it for reads.

    topics state, results ─► ProjectionFeed ─► Projector ─► ProjectionStore ─► tables

A table is never ahead of its topic.  How far it is, is stored in the transaction that moves it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from supervisor.core.executions.records import StateRecord
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.ports.flows.execution_log import LogTopic

__all__ = [
    "Place",
    "ProjectedRecord",
    "ProjectedSteps",
    "ProjectionFeed",
    "ProjectionStep",
    "ProjectionStore",
]

Place = tuple[LogTopic, int]
"""A partition of STATE or of RESULTS."""


@dataclass(frozen=True, slots=True)
class ProjectedRecord:
    """A committed record; `is_end`: none, but the end of what there is in its partition."""

    place: Place
    offset: int
    key: str = ""
    value: bytes | None = None
    is_end: bool = False


class ProjectionFeed(Protocol):
    """Partitions of STATE and RESULTS, committed records alone, for one thread.

    Each use raises `LogAway` or `LogRefuses`.
    """

    def read_from(self, starts: Mapping[Place, int | None]) -> None:
        """Read these partitions and no others, each from an offset; None: from its first record.

        An offset whose record is gone means the first that is there.
        """
        ...

    def read(self, limit: int, within_s: float) -> Sequence[ProjectedRecord]:
        """Return what comes next, in the order of each partition, with the ends that are met."""
        ...

    def end(self, place: Place) -> int:
        """Return the offset behind the last committed record."""
        ...

    def close(self) -> None:
        """Give the connection up."""
        ...


@dataclass(frozen=True)
class ProjectionStep:
    """What is next of one partition of STATE or RESULTS."""

    place: Place
    start: int | None
    """How far the tables were when it was read; None: nothing was projected."""
    next: int
    """How far they are with it."""
    records: Sequence[StateRecord] = ()
    """The newest of each key.  An execution whose head is not among them has none here."""
    events: Sequence[tuple[str, ExecutionEvent]] = ()
    """Execution and event."""


@dataclass(frozen=True)
class ProjectedSteps:
    """What came of steps."""

    lost: frozenset[Place] = frozenset()
    """Another projector has moved them: nothing of their step is stored."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """`e/<id>` or `g/<name>` -> why its records are passed over."""


class ProjectionStore(Protocol):
    """The tables.  Each use raises `StoreAway` or `StoreRefuses`."""

    def positions(self) -> Mapping[Place, int]:
        """Return how far the tables are, by partition."""
        ...

    def known(self, executions: Collection[str]) -> frozenset[str]:
        """Return those of which there is a row."""
        ...

    def project(self, steps: Sequence[ProjectionStep]) -> ProjectedSteps:
        """Store steps in one transaction, each if the tables are where it starts.

        An execution with a version that is not newer than the stored one is left as it is.

        Raises:
            NewerRecord: a newer release has written one of the records; nothing is stored.
        """
        ...

    def clear(self) -> int:
        """Delete everything that the topics say, and begin anew; return how many executions."""
        ...
