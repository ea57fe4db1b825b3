"""Dry runs of verbs on lost workers, event queues, compactions and rules of tables.

look(tx) -> Foreseen ──► shown: in a view of the leader
                    └──► bound: in the transaction of the verb, held against what was read
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from supervisor.chores.compaction.commit import existing
from supervisor.chores.compaction.compacting import Compacting
from supervisor.chores.retention import RetentionKeeper
from supervisor.control.leadership import Leadership
from supervisor.control.tables import require_table
from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.attention.foreseen.operations import (
    cancel_foreseen,
    compaction_rule_foreseen,
    drop_foreseen,
    forget_worker_foreseen,
    repair_foreseen,
    replay_foreseen,
    retention_foreseen,
)
from supervisor.core.queue.events import QueueHealth, QueueName, QueueRow
from supervisor.core.tables.compaction import Target
from supervisor.core.values.errors import NotReplayable, QueueDead, QueueNotDead
from supervisor.eventqueue.operations import REPLAYED_MAX, failed_in, replayable, require_queue
from supervisor.ports.store import Store, Transaction
from supervisor.services.foresight.expected import hold_against
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.tasks.workers import WorkerAdmin

__all__ = ["Look", "VerbLooks", "bound"]

Look: TypeAlias = Callable[[Transaction], Foreseen]
"""Says what a verb does with these rows, and raises as the verb does."""


def bound(expect: str | None, look: Look) -> Callable[[Transaction], None]:
    """Return what holds a verb, in its transaction, against the preview that its caller has read.

    None: the caller has read none.
    """

    def judge(tx: Transaction) -> None:
        if expect is not None:
            hold_against(expect, look(tx))

    return judge


@dataclass(frozen=True)
class VerbLooks:
    """The looks of these verbs; one instance per process."""

    store: Store
    leadership: Leadership
    workers: WorkerAdmin
    compacting: Compacting
    retention: RetentionKeeper

    def shown(self, look: Look) -> Foreseen:
        """Return what a verb does.

        Raises:
            LeaseLost: another overlord leads; and whatever the verb raises.
        """
        with leaders_view(self.store, self.leadership) as tx:
            return look(tx)

    def forget_worker(self, name: str) -> Look:
        """Look at a worker that is to be forgotten."""

        def look(tx: Transaction) -> Foreseen:
            row = self.workers.forgettable(tx, name)
            return forget_worker_foreseen(row.id, row.incarnation)

        return look

    def replay(self, queue: QueueName, seq: int) -> Look:
        """Look at a failed event that is to be queued again."""

        def look(tx: Transaction) -> Foreseen:
            row, failed = _accepting(tx, queue), failed_in(tx, queue, seq)
            replayable(failed)
            left = tx.events.failed_counts().get(queue, 0) - 1
            return replay_foreseen([failed], row, left=left)

        return look

    def replay_all(self, queue: QueueName) -> Look:
        """Look at all failed events of a queue."""

        def look(tx: Transaction) -> Foreseen:
            row, again = _accepting(tx, queue), []
            for failed in tx.events.failed(queue, REPLAYED_MAX):
                try:
                    replayable(failed)
                except NotReplayable:
                    continue
                again.append(failed)
            left = tx.events.failed_counts().get(queue, 0) - len(again)
            return replay_foreseen(again, row, left=left)

        return look

    def drop(self, queue: QueueName, seq: int) -> Look:
        """Look at a failed event that is to be deleted."""

        def look(tx: Transaction) -> Foreseen:
            require_queue(tx, queue)
            return drop_foreseen(failed_in(tx, queue, seq))

        return look

    def repair(self, queue: QueueName) -> Look:
        """Look at a dead queue."""

        def look(tx: Transaction) -> Foreseen:
            row = require_queue(tx, queue)
            if row.state is not QueueHealth.DEAD:
                raise QueueNotDead(queue.container, queue.name)
            return repair_foreseen(row)

        return look

    def cancel(self, compaction: str) -> Look:
        """Look at a compaction that is to be given up."""
        return lambda tx: cancel_foreseen(existing(tx, compaction))

    def keep_for(self, data_source: str, wanted: timedelta | None) -> Look:
        """Look at the files that a rule of retention takes out; None: the rule is dropped."""
        keeper = self.retention

        def look(tx: Transaction) -> Foreseen:
            require_table(tx, data_source)
            old = [] if wanted is None else keeper.too_old(tx, data_source, wanted)
            before = tx.retention.of(data_source)
            return retention_foreseen(data_source, wanted, before, old, keeper.life.grace)

        return look

    def compaction_rule(
        self, data_source: str, target: Target | None, skip_latest: timedelta = timedelta(0)
    ) -> Look:
        """Look at the rule of compaction of a table; without a target it is dropped."""

        def look(tx: Transaction) -> Foreseen:
            require_table(tx, data_source)
            rule = None
            if target is not None:
                rule = self.compacting.rule_of(data_source, target, skip_latest, "")
            return compaction_rule_foreseen(data_source, rule, tx.compactions.rule(data_source))

        return look


def _accepting(tx: Transaction, queue: QueueName) -> QueueRow:
    row = require_queue(tx, queue)
    if row.state is QueueHealth.DEAD:
        raise QueueDead(queue.container, queue.name, row.dead_seq, row.dead_why)
    return row
