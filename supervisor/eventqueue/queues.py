"""The event queue registry of one overlord: open queues, their consumers and their wake-ups.

    for_consumer          one queue, one handler         the same name gives the same object
    for_durable_queue     one queue, only added to       may be consumed later, from where it stands
    for_every_container   one handler for the queue of this name in each container, opened when
                          the queue has an event

Only the leader adds and only the leader consumes, so a commit of this process is the wake-up.  A
slow poll, and another one at the start of a term, find events that were missed.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from supervisor.core.queue.events import QueueConfig, QueueMode, QueueName
from supervisor.eventqueue.decide import looked_at
from supervisor.eventqueue.dispatcher import Dispatcher
from supervisor.eventqueue.handling import Handler
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store

log = structlog.get_logger()

THREADS = 4


@dataclass(frozen=True)
class _Family:
    handler: Handler
    config: QueueConfig


class EventQueues:
    """Opens queues and runs their handlers under the overlord's term; one per process."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        term: Callable[[], int],
        meters: Meters,
        *,
        threads: int = THREADS,
    ) -> None:
        """`term` raises LeaseLost while this overlord does not lead."""
        self._ending = threading.Event()
        self._kit = ProcessorParts(store, clock, term, meters, self._ending.is_set)
        self._dispatcher = Dispatcher(clock, threads=threads)
        self._lock = threading.Lock()
        self._open: dict[QueueName, EventProcessor] = {}
        self._families: dict[str, _Family] = {}
        store.on_added(self._heard)

    # -- opening -----------------------------------------------------------------------------------

    def for_consumer(
        self, container: str, name: str, handler: Handler, config: QueueConfig | None = None
    ) -> EventProcessor:
        """Open a queue with its one consumer; the first call in this process sets the handler.

        Events that were added before, also while the queue had no consumer, are handled from the
        stored position on.
        """
        queue = QueueName(container, name)
        with self._lock:
            processor = self._open.get(queue)
            if processor is None or not processor.consumes:
                processor = self._opened(queue, handler, config or QueueConfig())
        self._dispatcher.wake(processor)
        return processor

    def for_durable_queue(self, container: str, name: str) -> EventProcessor:
        """Open a queue without a consumer: it has no size limit, and is never truncated."""
        queue = QueueName(container, name)
        with self._lock:
            processor = self._open.get(queue)
            if processor is None:
                processor = self._opened(queue, None, QueueConfig(mode=QueueMode.DURABLE))
        return processor

    def for_every_container(self, name: str, handler: Handler, config: QueueConfig) -> None:
        """Consume the queue of this name in each container that has one."""
        with self._lock:
            self._families[name] = _Family(handler, config)

    def config_of(self, queue: QueueName) -> QueueConfig:
        """Return the configuration of a queue; a queue without a consumer is durable."""
        with self._lock:
            if (found := self._open.get(queue)) is not None:
                return found.config
            family = self._families.get(queue.name)
        return QueueConfig(mode=QueueMode.DURABLE) if family is None else family.config

    def _opened(
        self, queue: QueueName, handler: Handler | None, config: QueueConfig
    ) -> EventProcessor:
        processor = EventProcessor(queue, config, handler, self._kit)
        processor.on_close(lambda: self._forget(processor))
        self._open[queue] = processor
        return processor

    def _forget(self, processor: EventProcessor) -> None:
        self._dispatcher.drop(processor)
        with self._lock:
            if self._open.get(processor.queue) is processor:
                del self._open[processor.queue]

    # -- running -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to handle due events."""
        self._dispatcher.start()

    @property
    def ended(self) -> bool:
        """Whether the thread of the dispatcher has ended by itself."""
        return self._dispatcher.ended

    def poll(self) -> None:
        """Look for queues with waiting events, at the start of a term and now and then.

        Raises:
            SupervisorError: the metadata database did not answer; call again.
        """
        now = self._kit.clock.now()
        with self._kit.store.reading() as tx:
            waiting = tx.events.waiting()
        for each in waiting:
            at = now
            if each.due_at is not None and each.enqueued_at is not None:
                at = looked_at(each.enqueued_at, each.due_at, now)
            self._wake_at(each.row.queue, at, now)

    def wake(self, queue: QueueName) -> None:
        """Look at one queue now."""
        now = self._kit.clock.now()
        self._wake_at(queue, now, now)

    def stop(self, within: timedelta = timedelta(seconds=10)) -> None:
        """Start no more handlers, and wait for running ones; no event is lost in any case."""
        self._ending.set()
        self._dispatcher.stop(within.total_seconds())

    def _heard(self, added: Mapping[QueueName, datetime]) -> None:
        now = self._kit.clock.now()
        for queue, due_at in added.items():
            self._wake_at(queue, due_at, now)

    def _wake_at(self, queue: QueueName, at: datetime, now: datetime) -> None:
        processor = self._consumer_of(queue)
        if processor is not None:
            self._dispatcher.wake(processor, (at - now).total_seconds())

    def _consumer_of(self, queue: QueueName) -> EventProcessor | None:
        with self._lock:
            processor = self._open.get(queue)
            family = self._families.get(queue.name)
            if processor is None and family is not None:
                processor = self._opened(queue, family.handler, family.config)
        return processor if processor is not None and processor.consumes else None
