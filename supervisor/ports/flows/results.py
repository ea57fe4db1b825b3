"""The port to results that wait: what an executor has done, and could not report yet.

put ─► reported ─► forget
   └ the process dies ─► the next life of its name: open ─► reported ─► forget
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from supervisor.core.executions.inputs import Report

__all__ = ["ResultStore", "ResultsFull", "WaitingResult"]


class ResultsFull(Exception):
    """There is no room, or nothing can be written: nothing of the call is kept.

    Its text says why.
    """


@dataclass(frozen=True, slots=True)
class WaitingResult:
    """What came of a call; its report names the runner that made it."""

    execution: str
    given: Report


class ResultStore(Protocol):
    """A place that outlives the process, for one thread."""

    def open(self) -> Sequence[WaitingResult]:
        """Return what lives of this name that have ended have left; it stays until `forget`.

        Raises:
            ResultsFull: the place cannot be read or written.
        """
        ...

    def put(self, results: Sequence[WaitingResult]) -> None:
        """Keep results, all or none: they are on the disk when it returns.

        Raises:
            ResultsFull: none is kept.
        """
        ...

    def forget(self, results: Sequence[WaitingResult]) -> None:
        """Keep these no longer; one that is still kept after a crash is reported once more."""
        ...

    def close(self) -> None:
        """Leave what is kept to the next life."""
        ...
