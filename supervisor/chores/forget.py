"""Forgetting a terminated supervisor, on demand: its history goes, its table stays.

    asked ─► one transaction: specs, committed offsets, gaps and plans go; publications are marked
        └─► event in cluster/forgotten ─► generations that published nothing, and their tasks, go
        │                                 in batches, once their folders were found empty for good
        └─► event in cluster/forgotten-reports, if wanted ─► stored reports and logs (reports/)

Published generations keep their rows, because these name the files of the table.  The newest
generation stays too, without its tasks: ordinals go on from it, so that no id is used twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from supervisor.chores.duty import QueueHandler, Wiring
from supervisor.chores.reports.forgotten import FORGOTTEN_REPORTS, reports_gone
from supervisor.core.model.rows import AuditEntry, SpecVersion
from supervisor.core.queue.events import CLUSTER, QueueConfig, QueuedEvent, QueueName
from supervisor.core.values.errors import (
    NoReportStore,
    NotForgettable,
    StateMoved,
    SupervisorNotFound,
)
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled, Handling, Later
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction

log = structlog.get_logger()

FORGOTTEN = QueueName(CLUSTER, "forgotten")
KIND = "supervisor_gone"
"""The kind of event; key: the supervisor's id; body: the last ordinal to be forgotten."""
ROW_BATCH = 5_000
"""The maximum of rows that one transaction deletes."""


def _any(_: Transaction, __: SpecVersion) -> None:
    """Accept whatever is forgotten."""


@dataclass(frozen=True)
class Forgetting:
    """Forgets a supervisor's specs, offsets and history; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    delay: timedelta
    """The delay before the rows of unpublished work are looked at, and between two looks."""
    has_reports: bool = False
    """Whether reports and logs are stored here."""

    @property
    def config(self) -> QueueConfig:
        """Return the configuration of the queue of forgotten supervisors."""
        return QueueConfig(delay=self.delay)

    def check_reports(self) -> None:
        """Return if there are reports that could go with a supervisor.

        Raises:
            NoReportStore: nothing is stored here.
        """
        if not self.has_reports:
            raise NoReportStore(
                "no reports can go with it: they are switched off here by TIDEGATE_REPORTS=off"
            )

    def forget(
        self,
        supervisor_id: str,
        author: str,
        judge: Callable[[Transaction, SpecVersion], None] = _any,
        *,
        with_reports: bool = False,
    ) -> None:
        """Forget a terminated supervisor; its id can be used anew, from the start.

        `judge` is called with its tombstone first, and raises if that is not what is wanted.
        `with_reports`: its stored reports and logs go too, a little later.

        Raises:
            NoReportStore: there are none to go with it; nothing was forgotten.
            SupervisorNotFound: there is no such id, or it was forgotten before.
            NotForgettable: the supervisor is not terminated, or has work to finish.
            StateMoved: the id was given a new spec meanwhile; nothing was forgotten.
            LeaseLost, Unavailable: nothing was forgotten.
        """
        if with_reports:
            self.check_reports()
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            newest = at_rest(tx, supervisor_id)
            judge(tx, newest)
            last = tx.generations.newest(supervisor_id)
            tx.specs.forget(supervisor_id, newest.version)
            tx.offsets.forget(supervisor_id)
            tx.plans.forget(supervisor_id)
            tx.operations.forget(supervisor_id)
            tx.watched.forget(supervisor_id)
            publications = tx.segments.forget_publications(supervisor_id, now)
            _write_audit(tx, newest, publications, author, now)
            if with_reports:
                gone = reports_gone(supervisor_id, now)
                tx.events.add(FORGOTTEN_REPORTS, gone, self.config, now, exempt=True)
            if last is not None:
                event = QueuedEvent(KIND, supervisor_id, {"upTo": last.ordinal})
                tx.events.add(FORGOTTEN, event, self.config, now, exempt=True)
            if tx.specs.newest(supervisor_id) is not None:  # newer than the tombstone
                raise StateMoved(f"[{supervisor_id}] was given a new spec meanwhile")


def at_rest(tx: Transaction, supervisor_id: str) -> SpecVersion:
    """Return the tombstone of a supervisor that has nothing left to do.

    Raises:
        SupervisorNotFound: there is no such id, or it was forgotten before.
        NotForgettable: the supervisor is not terminated, or has work to finish.
    """
    newest = tx.specs.newest(supervisor_id)
    if newest is None:
        raise SupervisorNotFound(supervisor_id)
    if not newest.terminated:
        raise NotForgettable(supervisor_id, "terminate it first")
    if live := tx.generations.live(supervisor_id):
        raise NotForgettable(supervisor_id, f"{len(live)} ranges are not yet published")
    if active := tx.tasks.active(supervisor_id=supervisor_id):
        raise NotForgettable(supervisor_id, f"{len(active)} tasks have not ended yet")
    return newest


def _write_audit(
    tx: Transaction, newest: SpecVersion, publications: int, author: str, now: datetime
) -> None:
    detail = {"versions": str(newest.version), "publications": str(publications)}
    tx.audit.write(AuditEntry(now, author, "forget", newest.supervisor_id, detail))


class SupervisorGone:
    """Handles `supervisor_gone`: deletes the rows of unpublished work."""

    def __init__(self, row_batch: int = ROW_BATCH) -> None:
        """Delete at most `row_batch` rows in one transaction."""
        self._row_batch = row_batch

    def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Delete the rows that may be deleted now; a later run deletes the rest.

        Raises:
            LeaseLost, Unavailable: deleted rows stay deleted, and the batch is repeated.
        """
        return Handled([self._forget(event, context) for event in events])

    def _forget(self, event: QueuedEvent, context: Context) -> Handling:
        up_to = event.body.get("upTo")
        if event.kind != KIND or not isinstance(up_to, int):
            return Fail("this is another kind of event, or names no generation")
        total = 0
        while True:
            with context.store.leading(context.term) as tx:
                deleted = tx.generations.forget(event.key, up_to, self._row_batch)
            total += deleted
            if not deleted or context.stopping():
                break
        log.info("deleted rows of a forgotten supervisor", supervisor=event.key, rows=total)
        with context.store.reading() as tx:
            waits = deleted > 0 or tx.generations.unsettled(event.key, up_to)
        if waits:
            return Later(event.body, "folders of its tasks were not yet found empty for good")
        return EventDone()


def forgetting_of(wiring: Wiring) -> Forgetting:
    """Return the forget verb of one overlord."""
    has_reports = wiring.stored_reports is not None and wiring.stored_logs is not None
    return Forgetting(wiring.store, wiring.clock, wiring.term, wiring.gc_delay, has_reports)


HANDLER = QueueHandler(
    FORGOTTEN.name,
    lambda _: SupervisorGone(),
    lambda w: forgetting_of(w).config,
    container=FORGOTTEN.container,
)
