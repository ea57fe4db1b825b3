"""The duty to look at the store of reports, and to ask persisters how they are.

The answers are in `reports/store_watch.py` and `reports/watch.py`.
"""

from dataclasses import dataclass
from datetime import timedelta

from supervisor.chores.duty import Duty
from supervisor.reports.store_watch import StoreWatch
from supervisor.reports.watch import PersisterWatch

_PERIOD = timedelta(seconds=5)


@dataclass(frozen=True)
class _Looks:
    """Looks at what is configured; None: it is not."""

    store: StoreWatch | None
    persisters: PersisterWatch | None

    def run_once(self) -> None:
        """Look at the store first: a silent persister takes its time."""
        for watch in (self.store, self.persisters):
            if watch is not None:
                watch.run_once()


DUTY = Duty(
    "persisters",
    lambda wiring: _Looks(wiring.store_watch, wiring.persisters),
    lambda _: _PERIOD,
    at_once=True,
)
