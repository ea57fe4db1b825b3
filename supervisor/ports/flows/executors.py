"""The port to the registry of executors: one row each, for as long as the process renews it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from supervisor.core.executions.entities import Runner

__all__ = ["ExecutorRegistry", "ExecutorRow"]


@dataclass(frozen=True)
class ExecutorRow:
    """One executor as it has renewed its row last."""

    runner: Runner
    """Its name, and which life of it this is."""
    url: str
    partitions: Sequence[int]
    """Those that it works."""
    silent_s: float
    """Since its last renewal, by the clock of the database."""
    offers: Sequence[str] = ()
    """Earlier lives of its name whose results it still reports: they are not lost yet."""


class ExecutorRegistry(Protocol):
    """Each use raises `StoreAway` or `StoreRefuses`."""

    def register(self, runner: Runner, url: str, offers: Sequence[str] = ()) -> None:
        """Write the row of a process that begins; an earlier life of its name ends with that."""
        ...

    def renew(
        self, runner: Runner, url: str, partitions: Sequence[int], offers: Sequence[str] = ()
    ) -> bool:
        """Say that a process lives; False: a later one has taken its name."""
        ...

    def leave(self, runner: Runner) -> None:
        """Delete the row of a process that ends, unless a later one has taken its name."""
        ...

    def all(self) -> Sequence[ExecutorRow]:
        """Return every row, by name."""
        ...
