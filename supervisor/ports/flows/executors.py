"""The port to the registry of executors: one row each, for as long as the process renews it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from supervisor.core.executions.entities import Runner
from supervisor.ports.flows.executions import CallPlace

__all__ = ["IDLE", "ExecutorDoing", "ExecutorRegistry", "ExecutorRow"]


@dataclass(frozen=True)
class ExecutorDoing:
    """What an executor does, by its own words."""

    partitions: Sequence[int] = ()
    """Those that it works."""
    makes: Sequence[CallPlace] = ()
    """Calls that it makes, the first 100."""
    reason: str = ""
    """Why it is not well; empty: it is."""
    offers: Sequence[str] = ()
    """Earlier lives of its name whose results it still reports: they are not lost yet."""


IDLE = ExecutorDoing()


@dataclass(frozen=True)
class ExecutorRow:
    """One executor as it has renewed its row last."""

    runner: Runner
    """Its name, and which life of it this is."""
    url: str
    doing: ExecutorDoing
    silent_s: float
    """Since its last renewal, by the clock of the database."""


class ExecutorRegistry(Protocol):
    """Each use raises `StoreAway` or `StoreRefuses`."""

    def register(self, runner: Runner, url: str, doing: ExecutorDoing = IDLE) -> None:
        """Write the row of a process that begins; an earlier life of its name ends with that."""
        ...

    def renew(self, runner: Runner, url: str, doing: ExecutorDoing) -> bool:
        """Say that a process lives, and what it does; False: a later one has taken its name."""
        ...

    def leave(self, runner: Runner) -> None:
        """Delete the row of a process that ends, unless a later one has taken its name."""
        ...

    def all(self) -> Sequence[ExecutorRow]:
        """Return every row, by name."""
        ...
