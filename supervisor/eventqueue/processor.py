"""The consumer of one queue: look, handle, advance; a crash at any line is safe.

    READING ─► HANDLING ─► ADVANCING ─► (TRUNCATING) ─► READING ...
       │           └─ raised ─► WAITING, longer each time ─► READING, the same batch
       └─ damaged ─► DEAD

One leading transaction moves the position, together with the handler's writes, the events that go
to the tail and the events that are set aside.  After a crash before this transaction, one batch is
repeated; after a crash behind it, none is.  Handlers run under the overlord's term, so there is no
lease per queue (P24).
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

import structlog

from supervisor.core.queue.events import (
    Damage,
    FailedEvent,
    QueueConfig,
    QueuedEvent,
    QueueHealth,
    QueueMode,
    QueueName,
    QueueRow,
    StoredEvent,
)
from supervisor.core.values.errors import LeaseLost, ProcessorClosed, StateMoved, SupervisorError
from supervisor.eventqueue.decide import (
    Ahead,
    Batch,
    Idle,
    SetAside,
    Settlement,
    Undecodable,
    backoff,
    next_batch,
    passed,
    settle,
)
from supervisor.eventqueue.handling import Context, Handled, Handler, nothing
from supervisor.eventqueue.meters import Meters
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction

log = structlog.get_logger()

AT_ONCE = timedelta(0)
TRUNCATED_AT_ONCE = 5_000
"""Rows that one statement truncates."""
ERROR_SHOWN_MAX = 1_000


@dataclass(frozen=True)
class ProcessorParts:
    """The dependencies that all processors of a process share."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    """Raises LeaseLost while this overlord does not lead."""
    meters: Meters
    stopping: Callable[[], bool] = lambda: False


class EventProcessor:
    """One queue; with a handler its events are consumed here, otherwise they are only added."""

    def __init__(
        self, queue: QueueName, config: QueueConfig, handler: Handler | None, kit: ProcessorParts
    ) -> None:
        if handler is None and config.mode is not QueueMode.DURABLE:
            raise ValueError(f"{queue} has no consumer: it has to be durable")
        self.queue = queue
        self.config = config
        self._handler = handler
        self._kit = kit
        self._changed = threading.Condition()
        self._running = False
        self._closed = False
        self._on_close: list[Callable[[], None]] = []

    @property
    def consumes(self) -> bool:
        """The queue has a handler here."""
        return self._handler is not None

    def add(
        self,
        event: QueuedEvent,
        *,
        tx: Transaction | None = None,
        not_before: datetime | None = None,
        exempt: bool = False,
    ) -> int:
        """Queue an event with the caller's transaction, or in one of its own.

        Returns the outstanding bytes, those of the event included; for the rest see
        `ports.queue_events.Events.add`.

        Raises:
            ProcessorClosed: the processor accepts no more events.
            EmptyEvent, EventTooLarge, TooManyOutstandingBytes, QueueDead: the event is refused.
            LeaseLost: without `tx`, on an overlord that does not lead.
        """
        if tx is None:
            with self._kit.store.leading(self._kit.term()) as own:
                return self.add(event, tx=own, not_before=not_before, exempt=exempt)
        if self._closed:
            raise ProcessorClosed(f"{self.queue} was closed")
        now = self._kit.clock.now()
        try:
            return tx.events.add(
                self.queue, event, self.config, now, not_before=not_before, exempt=exempt
            )
        except SupervisorError as error:
            self._kit.meters.refused(self.queue, type(error).__name__)
            raise

    def run_once(self) -> timedelta | None:
        """Handle one batch; return the time to the next look, None: not before an event is added.

        Raises:
            LeaseLost: another overlord leads, and only that one may move the position.
            SupervisorError: the metadata database did not answer; the position did not move.
        """
        with self._changed:
            if self._closed or self._running or self._handler is None:
                return None
            self._running = True
        try:
            return self._look(self._handler)
        finally:
            with self._changed:
                self._running = False
                self._changed.notify_all()

    def overdue(self) -> None:
        """Count a handler that has not returned in time as failed, although it goes on (P24).

        A thread cannot be ended from outside, so the next try waits for the handler.  If the
        handler returns after all, its answers count.
        """
        with self._kit.store.reading() as tx:
            row = tx.events.find(self.queue)
        if row is not None:
            limit_s = self.config.handler_timeout.total_seconds()
            self._record(row, f"the handler has not come back for {limit_s:g} s", self._kit.term())

    def close(self) -> bool:
        """Accept and handle no more events; wait up to `shutdown_timeout` for a running handler.

        Safe to call twice and from many threads.  False: the handler still runs.
        """
        with self._changed:
            first, self._closed = not self._closed, True
            ended = self._changed.wait_for(
                lambda: not self._running, self.config.shutdown_timeout.total_seconds()
            )
        if first:
            for callback in self._on_close:
                callback()
        return ended

    def on_close(self, notify: Callable[[], None]) -> None:
        """Call `tell` once, when the processor is closed."""
        self._on_close.append(notify)

    # -- one look --------------------------------------------------------------------------------

    def _look(self, handler: Handler) -> timedelta | None:
        term, now = self._kit.term(), self._kit.clock.now()
        with self._kit.store.reading() as tx:
            row = tx.events.find(self.queue)
            if row is None or row.state is QueueHealth.DEAD:
                return None
            read = tx.events.read(row.id, row.processed_seq, self.config.max_items_at_once)
        match next_batch(row, read, self.config, now):
            case Damage() as damage:
                self._die(row, damage, term)
                return None
            case Idle(until):
                return None if until is None else max(until - now, AT_ONCE)
            case Ahead(waiting, events):
                again = Settlement(*passed(row, waiting), again=events)
                self._advance(row, again, Handled((), nothing), term)
                return AT_ONCE
            case Undecodable(stored, why):
                return self._pass_by(row, stored, why, term)
            case Batch() as batch:
                return self._handle(handler, row, batch, term)
            case other:
                assert_never(other)

    def _handle(self, handler: Handler, row: QueueRow, batch: Batch, term: int) -> timedelta:
        began = self._kit.clock.monotonic()
        context = Context(self._kit.store, term, self._kit.clock.now(), self._stopping)
        try:
            handled = handler(batch.events, context)
            settlement = settle(row, batch, handled.answers, self.config)
            self._advance(row, settlement, handled, term)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 -- one queue's trouble stays its own
            return self._failed(row, error, term)
        now = self._kit.clock.now()
        self._kit.meters.batch(self.queue, self._kit.clock.monotonic() - began)
        waited = [max(0.0, (now - each.enqueued_at).total_seconds()) for each in batch.stored]
        self._kit.meters.handled(self.queue, waited)
        self._kit.meters.failed_events(self.queue, len(settlement.set_aside))
        self._truncate(row, settlement, term)
        return AT_ONCE

    def _stopping(self) -> bool:
        return self._closed or self._kit.stopping()

    def _advance(self, row: QueueRow, settlement: Settlement, handled: Handled, term: int) -> None:
        now = self._kit.clock.now()
        # Also in a queue without delay: a failed event is not repeated in a hot loop.
        not_before = now + self.config.iteration_delay
        with self._kit.store.leading(term) as tx:
            tx.events.advance(row, settlement.processed_seq, settlement.processed_bytes)
            for event in settlement.again:
                tx.events.add(
                    self.queue, event, self.config, now, not_before=not_before, exempt=True
                )
            for each in settlement.set_aside:
                tx.events.set_aside(self._as_failed(each, now))
            handled.write(tx)

    def _as_failed(self, each: SetAside, now: datetime) -> FailedEvent:
        stored = each.stored
        log.error("an event was set aside", queue=str(self.queue), seq=stored.seq, why=each.reason)
        return FailedEvent(
            queue=self.queue,
            seq=stored.seq,
            key=stored.key,
            payload=stored.payload,
            reason=each.reason,
            failed_at=now,
            enqueued_at=stored.enqueued_at,
            attempts=each.attempts,
        )

    # -- what can go wrong -------------------------------------------------------------------------

    def _failed(self, row: QueueRow, error: Exception, term: int) -> timedelta:
        expected = isinstance(error, SupervisorError)
        text = str(error) if expected else f"{type(error).__name__}: {error}"
        log.error(
            "an event handler failed",
            queue=str(self.queue),
            position=row.processed_seq,
            error=text,
            exc_info=None if expected else error,
        )
        self._record(row, text, term)
        return backoff(row.failed_iterations + 1, self.config)

    def _record(self, row: QueueRow, text: str, term: int) -> None:
        self._kit.meters.failed_iteration(self.queue)
        try:
            with self._kit.store.leading(term) as tx:
                tx.events.record_failure(row, text[:ERROR_SHOWN_MAX])
        except StateMoved:
            return  # the position moved meanwhile

    def _pass_by(self, row: QueueRow, stored: StoredEvent, why: str, term: int) -> timedelta:
        """Set an undecodable event aside, but only after some looks: newer code may know it."""
        tries = row.failed_iterations + 1
        if tries < self.config.decode_attempts:
            self._record(row, f"event {stored.seq} cannot be decoded: {why}", term)
            return backoff(tries, self.config)
        aside = SetAside(stored, tries, f"cannot be decoded: {why}")
        settlement = Settlement(*passed(row, [stored]), set_aside=(aside,))
        self._advance(row, settlement, Handled((), nothing), term)
        self._kit.meters.failed_events(self.queue, 1)
        return AT_ONCE

    def _die(self, row: QueueRow, damage: Damage, term: int) -> None:
        log.error("an event queue is dead", queue=str(self.queue), seq=damage.seq, why=damage.why)
        with self._kit.store.leading(term) as tx:
            tx.events.declare_dead(row, damage.seq, damage.why)

    # -- housekeeping ------------------------------------------------------------------------------

    def _truncate(self, row: QueueRow, settled: Settlement, term: int) -> None:
        """Delete processed rows; the position does not depend on these rows."""
        if settled.processed_bytes - row.truncated_bytes < self.config.truncate_every_bytes:
            return
        up_to = min(settled.processed_seq, row.truncated_seq + TRUNCATED_AT_ONCE)
        try:
            with self._kit.store.leading(term) as tx:
                tx.events.truncate(row, up_to)
        except LeaseLost:
            raise
        except SupervisorError as error:
            log.warning(
                "processed events were not deleted", queue=str(self.queue), error=str(error)
            )
        else:
            self._kit.meters.truncated(self.queue)
