"""An operator of queues: the verbs, what they leave behind, and a queue that can be made to die."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.model.rows import AuditEntry
from supervisor.core.queue.events import (
    FailedEvent,
    QueueConfig,
    QueuedEvent,
    QueueHealth,
    QueueName,
    StoredEvent,
    encode,
)
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.processor import EventProcessor
from tests.conformance.stories import NOON
from tests.supervisor.eventqueue.damage import harm
from tests.supervisor.eventqueue.desk import QUEUE, Desk, Noting, event, fill

CONFIG = QueueConfig(delay=timedelta(seconds=60), max_items_at_once=4, max_outstanding_bytes=500)
HARMED = encode(QueuedEvent("count", "x", attempts=2))
"""It can be read, and as long as what was written: only the checksum tells."""


class Office:
    """An operator's desk: the verbs, and whom they have woken."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.handler = Noting()
        self.processor: EventProcessor = desk.opens(self.handler, CONFIG)
        self.woken: list[QueueName] = []
        self.queues = Operations(
            desk.store,
            desk.clock,
            lambda: desk.held_term,
            desk.meters,
            self.woken.append,
            lambda _: CONFIG,
        )

    def audited(self) -> AuditEntry:
        with self.desk.store.reading() as tx:
            return tx.audit.recent(1)[0]

    def waiting(self) -> list[StoredEvent]:
        row = self.desk.row()
        with self.desk.store.reading() as tx:
            return tx.events.read(row.id, row.processed_seq, 100)

    def dies(self, *harmed: int, lost: int | None = None) -> None:
        """Eight events wait behind two that were handled; some are harmed, and the queue looks."""
        fill(self.processor, 2)
        self.desk.runs(self.processor)
        with self.desk.writes() as tx:
            for number in range(2, 10):
                tried = replace(event(number), attempts=2)
                self.processor.add(tried, tx=tx, exempt=True)
        for seq in harmed:
            harm(self.desk.store, QUEUE, seq, lambda row: replace(row, payload=HARMED))
        if lost is not None:
            harm(self.desk.store, QUEUE, lost, lambda _: None)
        self.desk.runs(self.processor)
        assert self.desk.row().state is QueueHealth.DEAD

    def set_aside(self, *failed: tuple[int, bytes], reason: str = "it cannot work") -> None:
        with self.desk.writes() as tx:
            for seq, payload in failed:
                tx.events.set_aside(
                    FailedEvent(QUEUE, seq, str(seq), payload, reason, NOON, NOON, attempts=3)
                )
