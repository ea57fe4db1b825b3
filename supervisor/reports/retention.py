"""The end of what is stored: records and logs older than an age go, in batches.

Where all of it takes too much, the age is lowered step by step until it fits: the oldest go first.

Each persister does it.  Two at once delete the same, and neither minds.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog

from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from tasks.reporting.record import RecordType

__all__ = ["ReportRetention"]

log = structlog.get_logger()

_BATCH = 1_000
_ARCHIVED = {RecordType.EVENT, RecordType.AUDIT}
"""The archive of the control plane's history has an age of its own."""
_STEPS = 50
"""Of the age: what is younger than one of them stays, whatever it takes."""


@dataclass(frozen=True)
class ReportRetention:
    """Deletes on a schedule, from `start` to `stop`."""

    reports: ReportStore
    logs: LogStore
    now: Callable[[], datetime]
    age: timedelta
    archive_age: timedelta
    """Of events and audit entries."""
    bytes_max: int | None = None
    """The most that reports and logs take together; None: there is no bound."""
    period: timedelta = timedelta(hours=1)
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Delete now, and then each `period`."""
        threading.Thread(target=self._run, name="report-retention", daemon=True).start()

    def stop(self) -> None:
        """Delete no further batch."""
        self._ended.set()

    def run_once(self) -> int:
        """Delete all that is too old, or too much; return how many records.

        Raises:
            StoreAway, StoreRefuses: some are left for the next time.
        """
        now = self.now()
        deleted = self._before(now - self.age)
        if self.bytes_max is None:
            return deleted
        for step in range(1, _STEPS):
            if self._ended.is_set() or self._kept_bytes() <= self.bytes_max:
                return deleted
            deleted += self._before(now - self.age + step * self.age / _STEPS)
        if (kept := self._kept_bytes()) > self.bytes_max:
            log.warning(
                "young reports and logs alone take more than TIDEGATE_REPORTS_BYTES",
                bytes=kept,
                of_the_last=str(self.age / _STEPS),
            )
        return deleted

    def _kept_bytes(self) -> int:
        return self.reports.size_bytes() + self.logs.kept_bytes()

    def _before(self, cutoff: datetime) -> int:
        archived = self.now() - self.archive_age
        deleted = 0
        for kind in RecordType:
            before = archived if kind in _ARCHIVED else cutoff
            deleted += self._all(partial(self.reports.delete_older_than, kind, before, _BATCH))
        return deleted + self._all(partial(self.logs.delete_older_than, cutoff, _BATCH))

    def _all(self, delete: Callable[[], int]) -> int:
        deleted = 0
        while not self._ended.is_set() and (number := delete()):
            deleted += number
        return deleted

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                if deleted := self.run_once():
                    log.info("old reports and logs are deleted", records=deleted)
            except (StoreAway, StoreRefuses) as error:
                log.warning("old reports and logs are not deleted", why=str(error))
            except Exception:
                log.exception("old reports and logs are not deleted")
            self._ended.wait(self.period.total_seconds())
