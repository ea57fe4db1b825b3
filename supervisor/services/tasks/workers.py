"""Disabling, enabling and forgetting workers.

A disabled worker finishes its tasks, also after a restart, and gets no new ones: the flag is
stored, and placement obeys it.  A worker that is gone for good is forgotten: its row is deleted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import urlsplit

from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import AuditEntry, WorkerRow
from supervisor.core.planning.observed import Liveness
from supervisor.core.values.errors import WorkerNotFound, WorkerNotLost
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from supervisor.views.workers import ForgottenWorker
from tasks.contract.messages import SyncRequest
from tasks.contract.worker_facts import WorkerFacts

JudgeWorker = Callable[[Transaction, WorkerRow], None]


def _any(_: Transaction, __: WorkerRow) -> None:
    """Accept whatever the worker does then."""


@dataclass(frozen=True)
class WorkerAdmin:
    """The worker verbs; one instance per process, safe to call from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    registry: WorkerRegistry
    loop: Loop
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""
    _one_at_a_time: Lock = field(default_factory=Lock)

    def disable(self, name: str, author: str, judge: JudgeWorker = _any) -> WorkerRow:
        """Disable a worker: it gets no new tasks; `name` is its id or its `host:port`.

        `judge` is called first, and raises if that is not what is wanted.

        Raises:
            WorkerNotFound: no such worker has registered.
            LeaseLost: this overlord does not lead.
        """
        return self._set(name, author, judge, disabled=True)

    def enable(self, name: str, author: str, judge: JudgeWorker = _any) -> WorkerRow:
        """Enable a worker: it takes tasks again.  Raises as `disable`."""
        return self._set(name, author, judge, disabled=False)

    def forget(
        self, name: str, author: str, judge: Callable[[Transaction], None] = lambda _: None
    ) -> ForgottenWorker:
        """Forget a worker that is gone for good; `name` is its id or its `host:port`.

        `judge` is called first, as of `disable`.

        Nobody waits for its confirmations any more: files that its tasks left are deleted.

        Raises:
            WorkerNotFound: no such worker has registered.
            WorkerNotLost: it may come back, or tasks are assigned to it.
            LeaseLost: this overlord does not lead.
        """
        with self._one_at_a_time:
            with self.store.leading(self.leadership.term()) as tx:
                row = self.forgettable(tx, name)
                judge(tx)
                if not tx.workers.forget(row.id, row.incarnation):
                    raise WorkerNotLost(f"{row.id} has just registered again")
                tx.audit.write(AuditEntry(self.clock.now(), author, "forget-worker", row.id))
            self.registry.forget(row.id)
        return ForgottenWorker(worker=row.id)

    def forgettable(self, tx: Transaction, name: str) -> WorkerRow:
        """Return a worker that may be forgotten; raises as `forget` does."""
        row = named(tx.workers.all(), name)
        self._check_lost(row)
        if assigned := sum(task.worker_id == row.id for task in tx.tasks.active()):
            raise WorkerNotLost(
                f"{assigned} tasks are assigned to {row.id}: others take them over within "
                "seconds, or they end with their supervisor; ask again then"
            )
        return row

    def describe(self, report: SyncRequest, facts: WorkerFacts) -> None:
        """Store what a worker says of its process, in memory."""
        self.registry.describe(report.worker_id, report.incarnation, facts)

    def _check_lost(self, row: WorkerRow) -> None:
        by_id = {view.id: view.liveness for view in self.registry.views()}
        # A leader that has just begun knows no worker yet: it cannot tell which one is lost.
        liveness = by_id.get(row.id, Liveness.UNKNOWN)
        if liveness is not Liveness.LOST:
            raise WorkerNotLost(
                f"{row.id} is {liveness.value}: stop it, and ask again when it has been "
                "silent for TIDEGATE_WORKER_TIMEOUT; `disable` gives it nothing new"
            )

    def _set(self, name: str, author: str, judge: JudgeWorker, *, disabled: bool) -> WorkerRow:
        verb = "disable-worker" if disabled else "enable-worker"
        # The soft state must follow the rows in the order of their commits.
        with self._one_at_a_time:
            with self.store.leading(self.leadership.term()) as tx:
                row = named(tx.workers.all(), name)
                judge(tx, row)
                if tx.workers.set_disabled(row.id, disabled=disabled):
                    tx.audit.write(AuditEntry(self.clock.now(), author, verb, row.id))
                    self.failpoint(f"{verb}:in-transaction")
                ids = [head.supervisor_id for head in tx.specs.awake()]
            self.failpoint(f"{verb}:committed")
            self.registry.set_disabled(row.id, disabled=disabled)
        for supervisor_id in ids:  # tasks may gain or lose slots
            self.loop.wake(supervisor_id)
        return row


def named(rows: Sequence[WorkerRow], name: str) -> WorkerRow:
    """Return the worker with this id, else the newest at this address (`host:port`).

    Raises:
        WorkerNotFound: there is no such worker.
    """
    by_id = [row for row in rows if row.id == name]
    at_place = [row for row in rows if address_of(row) == name]
    matches = by_id or sorted(at_place, key=lambda row: row.registered_at)
    if not matches:
        raise WorkerNotFound(name, [row.id for row in rows])
    return matches[-1]


def address_of(row: WorkerRow) -> str:
    """Return a worker's address in Druid's form, `host:port`."""
    return urlsplit(row.url).netloc


def worker_urls(tx: Transaction) -> dict[str, str]:
    """Return worker -> its registered address."""
    return {row.id: row.url for row in tx.workers.all()}
