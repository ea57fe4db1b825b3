"""Reports and logs of a forgotten supervisor: they leave the report store, where that is wanted.

    forget, with reports ─► event in cluster/forgotten-reports ─► after a delay: batch by batch

The event is committed with the forgetting, and stays until nothing is left: after a crash, or an
outage of the store, a later run goes on.  The delay lets in what is still on its way.  What a new
supervisor of the same id reports is younger than the forgetting, and stays.

Archived events and audit entries stay too: they are the history of the installation, whose numbers
have no holes, and say who has forgotten what.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import structlog

from supervisor.chores.duty import QueueHandler, Wiring
from supervisor.core.queue.events import CLUSTER, QueueConfig, QueuedEvent, QueueName
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled, Handling, Later
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["FORGOTTEN_REPORTS", "HANDLER", "ReportsGone", "reports_gone"]

log = structlog.get_logger()

FORGOTTEN_REPORTS = QueueName(CLUSTER, "forgotten-reports")
KIND = "reports_gone"
"""The kind of event; key: the supervisor's id; body: when it was forgotten."""
BATCH = 1_000
"""The maximum of records that one transaction of the report store deletes."""


def reports_gone(supervisor_id: str, at: datetime) -> QueuedEvent:
    """Return the event that has a supervisor's reports and logs from before a time deleted."""
    return QueuedEvent(KIND, supervisor_id, {"before": at.isoformat()})


class ReportsGone:
    """Handles `reports_gone`: deletes the reports, then the logs."""

    def __init__(self, reports: ReportStore, logs: LogStore, batch: int = BATCH) -> None:
        """Delete at most `batch` records at once."""
        self._reports, self._logs, self._batch = reports, logs, batch

    def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Delete what is stored of each supervisor; a later run deletes what is left."""
        return Handled([self._delete(event, context) for event in events])

    def _delete(self, event: QueuedEvent, context: Context) -> Handling:
        before = _time_of(event.body.get("before"))
        if event.kind != KIND or before is None:
            return Fail("this is another kind of event, or names no time")
        deleted = 0
        try:
            for store in (self._reports, self._logs):
                delete = partial(store.delete_of_supervisor, event.key, before, self._batch)
                while not context.stopping() and (number := delete()):
                    deleted += number
        except (StoreAway, StoreRefuses) as error:
            why = f"the report store does not delete them now: {error}"
            log.warning("reports of a forgotten supervisor wait", supervisor=event.key, why=why)
            return Later(event.body, why)
        log.info("deleted reports of a forgotten supervisor", supervisor=event.key, records=deleted)
        if context.stopping():
            return Later(event.body, "this overlord ends: the next leader goes on")
        return EventDone()


def _time_of(text: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return None if at is None or at.tzinfo is None else at


def _handler_of(wiring: Wiring) -> ReportsGone | None:
    reports, logs = wiring.stored_reports, wiring.stored_logs
    return None if reports is None or logs is None else ReportsGone(reports, logs)


HANDLER = QueueHandler(
    FORGOTTEN_REPORTS.name,
    _handler_of,
    lambda w: QueueConfig(delay=w.gc_delay),
    container=FORGOTTEN_REPORTS.container,
)
