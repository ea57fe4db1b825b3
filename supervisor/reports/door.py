"""The door for records by HTTP: a batch in, an outcome for each, or a refusal before any is taken.

The same pipeline stores them.  Whoever sends keeps a batch until it has its outcomes.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from supervisor.core.reports.flow import FlowBounds
from supervisor.core.reports.status import PersisterState, StoreOutcome
from supervisor.reports.incoming import Incoming
from supervisor.reports.pipeline import Pipeline

__all__ = ["Busy", "Door", "NotNow"]

DIRECT = "direct"
"""The topic of what came by HTTP."""


class Busy(Exception):
    """Too much is under way: 429; the same batch may be taken soon."""

    retry_s = 1


class NotNow(Exception):
    """The stores take nothing: 503; its text is the reason."""

    retry_s = 5


@dataclass(frozen=True)
class Door:
    """Hands batches to a pipeline, and waits for their outcomes; thread-safe."""

    pipeline: Pipeline
    bounds: FlowBounds
    within_s: float = 20.0

    def put(self, bodies: Sequence[bytes]) -> Sequence[StoreOutcome]:
        """Store records, and return the outcome of each: one that is done, or REJECTED.

        Raises:
            Busy: nothing was taken.
            NotNow: nothing was taken, or not all was stored in time; a repeat is harmless.
        """
        status = self.pipeline.status()
        if status.status.state is not PersisterState.RUNNING:
            raise NotNow(status.status.reason or f"the persister is {status.status.state}")
        if status.in_flight.share_of(self.bounds) >= 1.0:
            raise Busy(f"{status.in_flight.records} records are under way")
        waiting = _Handed(len(bodies))
        self.pipeline.submit(
            [
                Incoming(DIRECT, 0, number, None, body, waiting.note)
                for number, body in enumerate(bodies)
            ]
        )
        return waiting.outcomes(self.within_s)


class _Handed:
    """The outcomes of one batch, as they come."""

    def __init__(self, number: int) -> None:
        self._outcomes: dict[int, StoreOutcome] = {}
        self._number = number
        self._news = threading.Condition()

    def note(self, item: Incoming, outcome: StoreOutcome) -> None:
        with self._news:
            self._outcomes[item.offset] = outcome
            self._news.notify_all()

    def outcomes(self, within_s: float) -> Sequence[StoreOutcome]:
        with self._news:
            if not self._news.wait_for(lambda: len(self._outcomes) == self._number, within_s):
                left = self._number - len(self._outcomes)
                raise NotNow(f"{left} of {self._number} records were not stored in time")
            return [self._outcomes[number] for number in range(self._number)]
