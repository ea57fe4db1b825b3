"""Forgetting a terminated supervisor, when somebody asks for it: its table stays.

    asked ─► one transaction: specs, committed offsets, gaps and plans go; publications are marked
        └─► event in cluster/forgotten ─► generations that published nothing, and their tasks, go
                                          in batches, once their folders were found empty for good

What was published keeps its rows: it names the files of the table.  The newest generation stays
as well, without its tasks: ordinals are counted on from it, so that no id is given twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from supervisor.chores.duty import QueueHandler, Wiring
from supervisor.core.model.rows import AuditEntry, SpecVersion
from supervisor.core.queue.events import CLUSTER, QueueConfig, QueuedEvent, QueueName
from supervisor.core.values.errors import NotForgettable, StateMoved, SupervisorNotFound
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled, Handling, Later
from supervisor.ports.store import Clock, Store, Transaction

log = structlog.get_logger()

FORGOTTEN = QueueName(CLUSTER, "forgotten")
KIND = "supervisor_gone"
"""Key: the supervisor's id; body: up to which ordinal its generations are meant."""
ROW_BATCH = 5_000
"""Rows that one transaction deletes at most."""


@dataclass(frozen=True)
class Forgetting:
    """Forgets a supervisor's offsets and history; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    delay: timedelta
    """Before the rows of its unpublished work are looked at, and between two looks."""

    @property
    def config(self) -> QueueConfig:
        """Return how the queue of forgotten supervisors is filled and emptied."""
        return QueueConfig(delay=self.delay)

    def forget(self, supervisor_id: str, author: str) -> None:
        """Forget where a terminated supervisor stood; its id can be used anew, from the start.

        Raises:
            SupervisorNotFound: there is no such id, or it was forgotten before.
            NotForgettable: it is not terminated, or has work to finish.
            StateMoved: somebody gave the id a new spec meanwhile; nothing was forgotten.
            LeaseLost, Unavailable: nothing was forgotten.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            newest = _at_rest(tx, supervisor_id)
            last = tx.generations.newest(supervisor_id)
            tx.specs.forget(supervisor_id, newest.version)
            tx.offsets.forget(supervisor_id)
            tx.plans.forget(supervisor_id)
            tx.operations.forget(supervisor_id)
            tx.watched.forget(supervisor_id)
            publications = tx.segments.forget_publications(supervisor_id, now)
            _write_audit(tx, newest, publications, author, now)
            if last is not None:
                event = QueuedEvent(KIND, supervisor_id, {"upTo": last.ordinal})
                tx.events.add(FORGOTTEN, event, self.config, now, exempt=True)
            if tx.specs.newest(supervisor_id) is not None:  # it is newer than the tombstone
                raise StateMoved(f"[{supervisor_id}] was given a new spec meanwhile")


def _at_rest(tx: Transaction, supervisor_id: str) -> SpecVersion:
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
    """Handles `supervisor_gone`: deletes the rows of work that published nothing."""

    def __init__(self, row_batch: int = ROW_BATCH) -> None:
        """Delete at most `row_batch` rows in one transaction."""
        self._row_batch = row_batch

    def __call__(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Delete what may be deleted now; a later look finds the rest.

        Raises:
            LeaseLost, Unavailable: what was deleted stays so, and the batch comes again.
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
    """Return the verb of one overlord."""
    return Forgetting(wiring.store, wiring.clock, wiring.term, wiring.gc_delay)


HANDLER = QueueHandler(
    FORGOTTEN.name,
    lambda _: SupervisorGone(),
    lambda w: forgetting_of(w).config,
    container=FORGOTTEN.container,
)
