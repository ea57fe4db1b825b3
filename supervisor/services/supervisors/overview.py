"""The overview of everything: counts, and what needs somebody, from rows and from last passes.

    rows: the list's, queues, exports, operations, principals ──┐
    memory: last passes, workers, what passes have watched ─────┴──► counts ──► items, worst first

Kafka and the workers are not asked, and no supervisor is observed anew.  So an overview of a
thousand supervisors takes as many statements as one of a single supervisor.
"""

from dataclasses import dataclass
from functools import partial

from supervisor.control.leadership import Leadership
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.attention.items import AttentionItem, worst_first
from supervisor.core.values.permissions import Caller, Permission
from supervisor.ports.store import Clock, Store
from supervisor.services.supervisors.listing import SupervisorListing
from supervisor.views.attention.overview import (
    DatabaseView,
    LeaderView,
    Overview,
    attention_totals,
    attention_views,
    lag_sums,
    rows_per_second_of,
    slot_counts,
    supervisor_counts,
    worker_counts,
)


@dataclass(frozen=True)
class Overviews:
    """Answers with the overview; one instance per process, safe from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    registry: WorkerRegistry
    listing: SupervisorListing

    def of(self, caller: Caller, limit: int) -> Overview:
        """Return the overview of what a caller may read, with so many items at most.

        Raises:
            LeaseLost: another overlord leads.
        """
        term = self.leadership.term()
        now, began = self.clock.now(), self.clock.monotonic()
        with self.store.reading() as tx:
            tx.lease.read()
            took_s = self.clock.monotonic() - began
            rows = self.listing.rows(tx, partial(_may_read, caller))
            used = tx.tasks.slots_in_use()
        workers = self.registry.views()
        items: list[AttentionItem] = []
        shown = worst_first(items, limit)
        reads = caller.may_somewhere(Permission.READ)
        return Overview(
            at=now,
            leader=LeaderView(
                url=self.leadership.leader_url() or "",
                term=term,
                since=now - self.registry.led_for(),
            ),
            database=DatabaseView(ok=True, millis=round(took_s * 1_000)),
            supervisors=supervisor_counts(rows),
            lag=lag_sums(rows),
            rows_per_second=rows_per_second_of(rows),
            slots=slot_counts(rows, workers, used) if reads else None,
            workers=worker_counts(workers) if reads else None,
            queues=None,
            exports=None,
            operations=None,
            attention=attention_views(shown.items),
            more=shown.left_out,
            totals=attention_totals(shown),
        )


def _may_read(caller: Caller, table: str | None) -> bool:
    return caller.reads_all or caller.may_read(table or "")
