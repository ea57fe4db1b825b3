"""Operator actions on event queues: show, replay, drop and repair.

    handler ─ gives up ─► failed queue ─ replay ─► tail of the queue, attempts 0
    queue ─ damaged ─► DEAD ─ repair ─► LIVE: sound events in their order, the damaged ones failed

Every action is one leading transaction with its audit row.  So an action is committed with the name
of its author, or not at all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from supervisor.core.model.rows import AuditEntry
from supervisor.core.queue.events import (
    FailedEvent,
    QueueConfig,
    QueuedEvent,
    QueueHealth,
    QueueName,
    QueueRow,
    StoredEvent,
    decode,
    unsound,
)
from supervisor.core.values.clock_skew import is_ahead
from supervisor.core.values.errors import (
    EmptyEvent,
    EventTooLarge,
    FailedEventNotFound,
    NotReplayable,
    QueueNotDead,
    QueueNotFound,
    UndecodableEvent,
)
from supervisor.core.values.page_cursors import (
    page_behind,
    place_of,
    read_place,
    write_cursor,
)
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.shown import QueueView, Totals, look, trouble_of
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction

DAMAGED = "damaged: "
"""Prefix of the reason of a damaged event, which is never replayed."""
QUEUES = "queues"
"""The name of the list that the cursors of queues belong to."""
FAILED_EVENTS = "failed-events"
"""The name of the list that the cursors of failed events belong to."""
REPLAYED_MAX = 1_000
"""The maximum of failed events in one `replay_all`, which returns how many are left."""


JudgeRows = Callable[[Transaction], None]


def _any_rows(_: Transaction) -> None:
    """Accept whatever the verb does."""


@dataclass(frozen=True)
class ReplayedAll:
    """The result of replaying all failed events of a queue."""

    replayed: int
    left: int
    """Events that are still set aside: not replayable, or beyond `REPLAYED_MAX`."""


@dataclass(frozen=True)
class Repaired:
    """The result of repairing a dead queue."""

    again: int
    """Events that were queued again, in their order, with their attempts."""
    set_aside: int
    """Events that were damaged or not decodable, and are failed events now."""
    missing: int
    """Events that were counted as added, but have no row."""


@dataclass(frozen=True)
class Operations:
    """Views of all queues and actions on them; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    """Raises LeaseLost, with the leader's address, on an overlord that does not lead."""
    meters: Meters
    wake: Callable[[QueueName], None]
    """Wakes the consumer of a queue; called after the commit, only to save time."""
    config_of: Callable[[QueueName], QueueConfig]
    repaired: Callable[[Transaction, QueueName, datetime], None] = lambda _tx, _queue, _now: None
    """Adds, in the transaction of the repair, the events that the dead queue has refused."""

    # -- views ---------------------------------------------------------------------------------

    def rows(self) -> list[QueueView]:
        """Return the present state of every queue, by name."""
        return self.page(lambda _: True)[0]

    def page(
        self,
        shown: Callable[[QueueName], bool],
        *,
        unhealthy: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> tuple[list[QueueView], str | None]:
        """Return the state of queues, by name, and a cursor that continues behind them.

        A fixed number of statements, however many queues there are.

        Args:
            shown: whether a queue is listed.
            unhealthy: only queues with a trouble.
            limit: None: all of them.
            cursor: that of the page before.

        Raises:
            BadCursor: the cursor does not belong to this list, or its queue has left the list.
        """
        now = self.clock.now()
        with self.store.reading() as tx:
            rows = [row for row in tx.events.all() if shown(row.queue)]
            # The cursor names a queue, which may have become healthy meanwhile.
            behind = rows[place_of(QUEUES, cursor, [str(row.queue) for row in rows]) :]
            if unhealthy:
                behind = [row for row in behind if trouble_of(row, self.config_of(row.queue), None)]
            names = [str(row.queue) for row in behind]
            page, following = page_behind(behind, names, limit, QUEUES)
            totals = Totals.of(tx, page)
        return [self._view(row, totals, now) for row in page], following

    def show(self, queue: QueueName) -> QueueView:
        """Return the present state of one queue.

        Raises:
            QueueNotFound: no event was ever added to the queue.
        """
        now = self.clock.now()
        with self.store.reading() as tx:
            row = require_queue(tx, queue)
            return self._view(row, Totals.of(tx, [row]), now)

    def dead(self) -> list[QueueRow]:
        """Return the dead queues, which need a repair, by name."""
        with self.store.reading() as tx:
            return tx.events.dead()

    def failed(
        self, queue: QueueName | None, limit: int, cursor: str | None = None
    ) -> tuple[list[FailedEvent], str | None]:
        """Return failed events of one queue or of all, by queue and oldest first, and a cursor.

        The cursor continues behind these events; None: there are no more.

        Raises:
            QueueNotFound: no event was ever added to this queue.
            BadCursor: the cursor does not belong to this list.
        """
        place = read_place(FAILED_EVENTS, cursor, 2)
        behind = None if place is None else (place[0], place[1])
        with self.store.reading() as tx:
            if queue is not None:
                require_queue(tx, queue)
            failed_events = tx.events.failed(queue, limit + 1, behind)
            if len(failed_events) <= limit:
                return failed_events, None
            last = failed_events[limit - 1]
            return failed_events[:limit], write_cursor(
                FAILED_EVENTS, require_queue(tx, last.queue).id, last.seq
            )

    def failed_event(self, queue: QueueName, seq: int) -> FailedEvent:
        """Return one failed event.

        Raises:
            QueueNotFound, FailedEventNotFound: there is no such queue or event.
        """
        with self.store.reading() as tx:
            require_queue(tx, queue)
            return failed_in(tx, queue, seq)

    def _view(self, row: QueueRow, totals: Totals, now: datetime) -> QueueView:
        return look(
            row,
            totals,
            config=self.config_of(row.queue),
            meter=self.meters.of(row.queue),
            now=now,
        )

    # -- verbs ---------------------------------------------------------------------------------

    def replay(self, queue: QueueName, seq: int, author: str, judge: JudgeRows = _any_rows) -> None:
        """Queue a failed event again, at the tail and with no attempts counted.

        `judge`, of each verb, is called first, and raises if this is not what is wanted.

        Raises:
            QueueNotFound, FailedEventNotFound: there is no such queue or event.
            NotReplayable: the payload is damaged, or of a kind that this version does not know.
            QueueDead: the queue accepts nothing until it is repaired.
            LeaseLost: this overlord does not lead.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            judge(tx)
            row = require_queue(tx, queue)
            event = replayable(failed_in(tx, queue, seq))
            self._replay(tx, row, seq, event, now)
            _audit(
                tx, now, author, "queue-replay", queue, detail={"seq": str(seq), "key": event.key}
            )
        self.wake(queue)

    def replay_all(
        self, queue: QueueName, author: str, judge: JudgeRows = _any_rows
    ) -> ReplayedAll:
        """Queue failed events again, oldest first; events that are not replayable stay.

        Raises as `replay` does, except for the errors about a single event.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            judge(tx)
            row = require_queue(tx, queue)
            replayed = 0
            for failed in tx.events.failed(queue, REPLAYED_MAX):
                try:
                    event = replayable(failed)
                    self._replay(tx, row, failed.seq, event, now)
                except NotReplayable:
                    continue
                replayed += 1
            done = ReplayedAll(replayed, tx.events.failed_counts().get(queue, 0))
            detail = {"replayed": str(done.replayed), "left": str(done.left)}
            _audit(tx, now, author, "queue-replay-all", queue, detail=detail)
        self.wake(queue)
        return done

    def drop(self, queue: QueueName, seq: int, author: str, judge: JudgeRows = _any_rows) -> None:
        """Delete a failed event: its work is never done.

        Raises:
            QueueNotFound, FailedEventNotFound: there is no such queue or event.
            LeaseLost: this overlord does not lead.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            judge(tx)
            require_queue(tx, queue)
            failed = failed_in(tx, queue, seq)
            tx.events.drop_failed(queue, seq)
            detail = {"seq": str(seq), "key": failed.key, "reason": failed.reason}
            _audit(tx, now, author, "queue-drop", queue, detail=detail)

    def repair(self, queue: QueueName, author: str, judge: JudgeRows = _any_rows) -> Repaired:
        """Make a dead queue live again: sound events keep their order, attempts and due times.

        Raises:
            QueueNotFound: there is no such queue.
            QueueNotDead: there is nothing to repair.
            LeaseLost: this overlord does not lead.
        """
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            judge(tx)
            row = require_queue(tx, queue)
            if row.state is not QueueHealth.DEAD:
                raise QueueNotDead(queue.container, queue.name)
            stored = tx.events.rebuild(queue)
            again = sum(self._add_or_set_aside(tx, row, event, now) for event in stored)
            counted = range(row.processed_seq + 1, row.next_seq)
            there = sum(1 for event in stored if event.seq in counted)
            done = Repaired(again, len(stored) - again, len(counted) - there)
            detail = {"position": str(row.dead_seq), "why": row.dead_why, "again": str(done.again)}
            detail |= {"set_aside": str(done.set_aside), "missing": str(done.missing)}
            self.repaired(tx, queue, now)
            _audit(tx, now, author, "queue-repair", queue, detail=detail)
        self.wake(queue)
        return done

    def _replay(
        self, tx: Transaction, row: QueueRow, seq: int, event: QueuedEvent, now: datetime
    ) -> None:
        # Dropped in the same transaction, so the event is always in exactly one of two places.
        try:
            tx.events.add(row.queue, event, self._config(row), now, exempt=True)
        except (EmptyEvent, EventTooLarge) as error:
            raise NotReplayable(row.queue.container, row.queue.name, seq, str(error)) from error
        tx.events.drop_failed(row.queue, seq)

    def _config(self, row: QueueRow) -> QueueConfig:
        """Return the queue's configuration with its stored mode, which a replay must not change."""
        return replace(self.config_of(row.queue), mode=row.mode)

    def _add_or_set_aside(
        self, tx: Transaction, row: QueueRow, stored: StoredEvent, now: datetime
    ) -> bool:
        """Return whether the event was queued again."""
        # The due time contains the delay already, but not if it is from a clock ahead of ours.
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


def require_queue(tx: Transaction, queue: QueueName) -> QueueRow:
    """Return the row of a queue, or raise QueueNotFound."""
    row = tx.events.find(queue)
    if row is None:
        raise QueueNotFound(queue.container, queue.name)
    return row


def failed_in(tx: Transaction, queue: QueueName, seq: int) -> FailedEvent:
    """Return an event that was set aside, or raise FailedEventNotFound."""
    failed = tx.events.failed_event(queue, seq)
    if failed is None:
        raise FailedEventNotFound(queue.container, queue.name, seq)
    return failed


def replayable(failed: FailedEvent) -> QueuedEvent:
    """Return a failed event in the form in which it is queued again, or raise NotReplayable."""
    if failed.reason.startswith(DAMAGED):
        raise NotReplayable(failed.queue.container, failed.queue.name, failed.seq, failed.reason)
    try:
        return replace(decode(failed.payload), attempts=0)
    except UndecodableEvent as error:
        raise NotReplayable(
            failed.queue.container, failed.queue.name, failed.seq, str(error)
        ) from error


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
