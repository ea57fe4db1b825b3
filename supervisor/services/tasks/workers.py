"""Workers that people take out, and in again: a durable word, which placement keeps to.

A disabled worker finishes what it has, also after it was started again, and is given nothing new.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import urlsplit

from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import AuditEntry, WorkerRow
from supervisor.core.values.errors import WorkerNotFound
from supervisor.ports.store import Clock, Store, Transaction


@dataclass(frozen=True)
class WorkerAdmin:
    """The verbs; one instance per process, safe to call from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    registry: WorkerRegistry
    loop: Loop
    changed: Wakeups
    _one_at_a_time: Lock = field(default_factory=Lock)

    def disable(self, name: str, author: str) -> WorkerRow:
        """Give a worker nothing new from now on; `name` is its id or its `host:port`.

        Raises:
            WorkerNotFound: no such worker has registered.
            LeaseLost: this overlord does not lead.
        """
        return self._set(name, author, disabled=True)

    def enable(self, name: str, author: str) -> WorkerRow:
        """Let a worker take tasks again.  Raises as `disable`."""
        return self._set(name, author, disabled=False)

    def _set(self, name: str, author: str, *, disabled: bool) -> WorkerRow:
        verb = "disable-worker" if disabled else "enable-worker"
        # The soft state follows the rows in the order in which they were written.
        with self._one_at_a_time:
            with self.store.leading(self.leadership.term()) as tx:
                row = named(tx.workers.all(), name)
                if tx.workers.set_disabled(row.id, disabled=disabled):
                    tx.audit.write(AuditEntry(self.clock.now(), author, verb, row.id))
                ids = [v.supervisor_id for v in tx.specs.all_newest() if not v.terminated]
            self.registry.set_disabled(row.id, disabled=disabled)
        self.changed.notify()
        for supervisor_id in ids:  # one may have waited for its slots, or lose its last one
            self.loop.wake(supervisor_id)
        return row


def named(rows: Sequence[WorkerRow], name: str) -> WorkerRow:
    """Return the worker of this id, else the newest at this address (`host:port`).

    Raises:
        WorkerNotFound: there is none.
    """
    by_id = [row for row in rows if row.id == name]
    at_place = [row for row in rows if address_of(row) == name]
    matches = by_id or sorted(at_place, key=lambda row: row.registered_at)
    if not matches:
        raise WorkerNotFound(name, [row.id for row in rows])
    return matches[-1]


def address_of(row: WorkerRow) -> str:
    """Return where a worker listens, as Druid's clients name it: `host:port`."""
    return urlsplit(row.url).netloc


def worker_urls(tx: Transaction) -> dict[str, str]:
    """Return worker -> the address that it registered."""
    return {row.id: row.url for row in tx.workers.all()}
