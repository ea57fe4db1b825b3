"""What people may do with queues: look, replay, drop, repair.

    handler ─ gives up ─► failed queue ─ replay ─► tail of the queue, attempts 0
    queue ─ damaged ─► DEAD ─ repair ─► LIVE: sound events in their order, the damaged ones failed

Every verb is one leading transaction with its audit row: it happens with its author's name, or not
at all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from supervisor.core.model.rows import AuditEntry
from supervisor.core.queue.events import (
    EmptyEvent,
    EventTooLarge,
    FailedEvent,
    QueueConfig,
    QueuedEvent,
    QueueName,
    QueueRow,
    QueueState,
    StoredEvent,
    UndecodableEvent,
    decode,
    unsound,
)
from supervisor.core.values.clock_skew import is_ahead
from supervisor.core.values.errors import Refused
from supervisor.core.values.page_cursors import read_place, write_cursor
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.shown import QueueView, Totals, look
from supervisor.ports.store import Clock, Store, Transaction

DAMAGED = "damaged: "
"""How the reason of an event begins whose row was not sound: it is never replayed."""
FAILED_EVENTS = "failed-events"
"""The list that their cursors belong to."""
REPLAYED_MAX = 1_000
"""Failed events that one `replay_all` takes on; it says how many are left."""


class QueueNotFound(Refused):
    """Nothing was ever added to such a queue."""

    def __init__(self, queue: QueueName) -> None:
        """Name the queue."""
        super().__init__(f"there is no event queue {queue}: `tidegate queue list` names them")
        self.container = queue.container
        self.queue = queue.name


class FailedEventNotFound(Refused):
    """No such event is set aside: it never was, or it was replayed or dropped."""

    def __init__(self, queue: QueueName, seq: int) -> None:
        """Name the queue and the event."""
        super().__init__(f"event {seq} is not among the failed events of {queue}")
        self.container = queue.container
        self.queue = queue.name
        self.seq = seq


class NotReplayable(Refused):
    """A failed event has no sound payload that this version knows: it can only be dropped."""

    def __init__(self, queue: QueueName, seq: int, why: str) -> None:
        """Say why, and what to do instead."""
        place = f"{queue.container} {queue.name}"
        super().__init__(
            f"event {seq} of {queue} cannot be replayed: {why}. Look at it with `tidegate queue "
            f"failed {place} --seq {seq}`, see to its work by hand, then `tidegate queue drop "
            f"{place} {seq}`"
        )
        self.container = queue.container
        self.queue = queue.name
        self.seq = seq


class QueueNotDead(Refused):
    """Only a dead queue is repaired: a live one would lose its place for nothing."""

    def __init__(self, queue: QueueName) -> None:
        """Name the queue."""
        super().__init__(f"event queue {queue} is not dead: there is nothing to repair")
        self.container = queue.container
        self.queue = queue.name


@dataclass(frozen=True)
class ReplayedAll:
    """What became of the failed events of a queue."""

    replayed: int
    left: int
    """Still set aside: not replayable, or beyond `REPLAYED_MAX`."""


@dataclass(frozen=True)
class Repaired:
    """What became of the events of a dead queue."""

    again: int
    """Queued again, in their order, with their attempts."""
    set_aside: int
    """Damaged or not decodable: among the failed events now."""
    missing: int
    """Counted as added and nowhere to be found."""


@dataclass(frozen=True)
class Operations:
    """Views and verbs over all queues; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    """Raises LeaseLost, with the leader's address, on an overlord that does not lead."""
    meters: Meters
    wake: Callable[[QueueName], None]
    """Has the queue looked at soon; called after the commit, for speed alone."""
    config_of: Callable[[QueueName], QueueConfig]
    repaired: Callable[[Transaction, QueueName, datetime], None] = lambda _tx, _queue, _now: None
    """Adds, in the repair's transaction, what the queue has refused while it was dead."""

    # -- views ---------------------------------------------------------------------------------

    def rows(self) -> list[QueueView]:
        """Return every queue as it stands, by name."""
        now = self.clock.now()
        with self.store.reading() as tx:
            totals = Totals.of(tx)
            return [self._view(tx, row, totals, now) for row in tx.events.all()]

    def show(self, queue: QueueName) -> QueueView:
        """Return one queue as it stands.

        Raises:
            QueueNotFound: nothing was ever added to it.
        """
        now = self.clock.now()
        with self.store.reading() as tx:
            return self._view(tx, _require_queue(tx, queue), Totals.of(tx), now)

    def dead(self) -> list[QueueRow]:
        """Return the queues that stand still until somebody repairs them, by name."""
        with self.store.reading() as tx:
            return tx.events.dead()

    def failed(
        self, queue: QueueName | None, limit: int, cursor: str | None = None
    ) -> tuple[list[FailedEvent], str | None]:
        """Return what was set aside, of one queue or of all, by queue and oldest first.

        With it the cursor behind it; None: there is no more.

        Raises:
            QueueNotFound: nothing was ever added to this queue.
            BadCursor: it is no cursor of this list.
        """
        place = read_place(FAILED_EVENTS, cursor, 2)
        behind = None if place is None else (place[0], place[1])
        with self.store.reading() as tx:
            if queue is not None:
                _require_queue(tx, queue)
            found = tx.events.failed(queue, limit + 1, behind)
            if len(found) <= limit:
                return found, None
            last = found[limit - 1]
            return found[:limit], write_cursor(
                FAILED_EVENTS, _require_queue(tx, last.queue).id, last.seq
            )

    def failed_event(self, queue: QueueName, seq: int) -> FailedEvent:
        """Return one.

        Raises:
            QueueNotFound, FailedEventNotFound: there is no such queue or event.
        """
        with self.store.reading() as tx:
            _require_queue(tx, queue)
            return _failed(tx, queue, seq)

    def _view(self, tx: Transaction, row: QueueRow, totals: Totals, now: datetime) -> QueueView:
        return look(
            tx,
            row,
            totals,
            config=self.config_of(row.queue),
            meter=self.meters.of(row.queue),
            now=now,
        )

    # -- verbs ---------------------------------------------------------------------------------

    def replay(self, queue: QueueName, seq: int, author: str) -> None:
        """Queue a failed event again, at the tail and with no attempts counted.

        Raises:
            QueueNotFound, FailedEventNotFound: there is no such queue or event.
            NotReplayable: its payload is damaged, or of a kind that this version does not know.
            QueueDead: the queue takes nothing until it is repaired.
            LeaseLost: this overlord does not lead.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            row = _require_queue(tx, queue)
            event = _replayable(_failed(tx, queue, seq))
            self._replay(tx, row, seq, event, now)
            _audit(
                tx, now, author, "queue-replay", queue, detail={"seq": str(seq), "key": event.key}
            )
        self.wake(queue)

    def replay_all(self, queue: QueueName, author: str) -> ReplayedAll:
        """Queue the failed events again, oldest first; those that cannot be stay where they are.

        Raises as `replay` does, but for what is only about one event.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            row = _require_queue(tx, queue)
            replayed = 0
            for failed in tx.events.failed(queue, REPLAYED_MAX):
                try:
                    event = _replayable(failed)
                    self._replay(tx, row, failed.seq, event, now)
                except NotReplayable:
                    continue
                replayed += 1
            done = ReplayedAll(replayed, tx.events.failed_counts().get(queue, 0))
            told = {"replayed": str(done.replayed), "left": str(done.left)}
            _audit(tx, now, author, "queue-replay-all", queue, detail=told)
        self.wake(queue)
        return done

    def drop(self, queue: QueueName, seq: int, author: str) -> None:
        """Delete a failed event: its work is never done.

        Raises:
            QueueNotFound, FailedEventNotFound: there is no such queue or event.
            LeaseLost: this overlord does not lead.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            _require_queue(tx, queue)
            failed = _failed(tx, queue, seq)
            tx.events.drop_failed(queue, seq)
            told = {"seq": str(seq), "key": failed.key, "reason": failed.reason}
            _audit(tx, now, author, "queue-drop", queue, detail=told)

    def repair(self, queue: QueueName, author: str) -> Repaired:
        """Make a dead queue live again: sound events keep their order, attempts and due times.

        Raises:
            QueueNotFound: there is no such queue.
            QueueNotDead: there is nothing to repair.
            LeaseLost: this overlord does not lead.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            row = _require_queue(tx, queue)
            if row.state is not QueueState.DEAD:
                raise QueueNotDead(queue)
            stored = tx.events.rebuild(queue)
            again = sum(self._add_or_set_aside(tx, row, event, now) for event in stored)
            counted = range(row.processed_seq + 1, row.next_seq)
            there = sum(1 for event in stored if event.seq in counted)
            done = Repaired(again, len(stored) - again, len(counted) - there)
            told = {"position": str(row.dead_seq), "why": row.dead_why, "again": str(done.again)}
            told |= {"set_aside": str(done.set_aside), "missing": str(done.missing)}
            self.repaired(tx, queue, now)
            _audit(tx, now, author, "queue-repair", queue, detail=told)
        self.wake(queue)
        return done

    def _replay(
        self, tx: Transaction, row: QueueRow, seq: int, event: QueuedEvent, now: datetime
    ) -> None:
        # Dropped in the same transaction: it is in one of the two places, always.
        try:
            tx.events.add(row.queue, event, self._config(row), now, exempt=True)
        except (EmptyEvent, EventTooLarge) as error:
            raise NotReplayable(row.queue, seq, str(error)) from error
        tx.events.drop_failed(row.queue, seq)

    def _config(self, row: QueueRow) -> QueueConfig:
        """Return the queue's configuration; who puts events back changes no queue's mode."""
        return replace(self.config_of(row.queue), mode=row.mode)

    def _add_or_set_aside(
        self, tx: Transaction, row: QueueRow, stored: StoredEvent, now: datetime
    ) -> bool:
        """Return whether the event was queued again."""
        # Its due time says already how long it was to wait; that of a clock ahead of ours does not.
        config = replace(self._config(row), delay=timedelta(0))
        wait = stored.due_at - stored.enqueued_at
        due_at = now + wait if is_ahead(stored.enqueued_at, wait, now) else stored.due_at
        if (damage := unsound(stored)) is not None:
            reason = f"{DAMAGED}{damage}"
        else:
            try:
                event = decode(stored.payload)
                tx.events.add(row.queue, event, config, now, not_before=due_at, exempt=True)
            except (UndecodableEvent, EmptyEvent, EventTooLarge) as error:
                reason = str(error)
            else:
                return True
        tx.events.set_aside(
            FailedEvent(
                queue=row.queue,
                seq=stored.seq,
                key=stored.key,
                payload=stored.payload,
                reason=reason,
                failed_at=now,
                enqueued_at=stored.enqueued_at,
            )
        )
        return False


def _require_queue(tx: Transaction, queue: QueueName) -> QueueRow:
    row = tx.events.find(queue)
    if row is None:
        raise QueueNotFound(queue)
    return row


def _failed(tx: Transaction, queue: QueueName, seq: int) -> FailedEvent:
    failed = tx.events.failed_event(queue, seq)
    if failed is None:
        raise FailedEventNotFound(queue, seq)
    return failed


def _replayable(failed: FailedEvent) -> QueuedEvent:
    """Return a failed event as it is queued again."""
    if failed.reason.startswith(DAMAGED):
        raise NotReplayable(failed.queue, failed.seq, failed.reason)
    try:
        return replace(decode(failed.payload), attempts=0)
    except UndecodableEvent as error:
        raise NotReplayable(failed.queue, failed.seq, str(error)) from error


def _audit(
    tx: Transaction,
    now: datetime,
    author: str,
    what: str,
    queue: QueueName,
    *,
    detail: dict[str, str],
) -> None:
    tx.audit.write(AuditEntry(now, author, what, str(queue), detail))
