"""Everything that ends after its time, wired as one: segments, rules, forgotten supervisors."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from supervisor.chores.forget import FORGOTTEN, Forgetting, SupervisorGone
from supervisor.chores.retention import Retention
from supervisor.chores.segments import (
    SEGMENT_FILES,
    SEGMENTS,
    SegmentFiles,
    SegmentLife,
    SegmentsUnused,
)
from supervisor.core.queue.events import CLUSTER, QueueConfig
from supervisor.eventqueue.queues import EventQueues
from supervisor.ports.store import Clock, Store
from supervisor.ports.warehouse import Warehouse


@dataclass(frozen=True)
class Lifetimes:
    """The verbs, and the handlers of what they put off; one instance per process."""

    segments: SegmentLife
    retention: Retention
    forgetting: Forgetting
    files: QueueConfig
    """Of the queues in which condemned files stand."""

    @classmethod
    def of(
        cls,
        store: Store,
        clock: Clock,
        term: Callable[[], int],
        *,
        grace: timedelta,
        delay: timedelta,
    ) -> "Lifetimes":
        """Build the parts: `grace` before an unused segment's end, `delay` between two tries."""
        segments = SegmentLife(store, clock, term, grace)
        return cls(
            segments=segments,
            retention=Retention(store, clock, term, segments),
            forgetting=Forgetting(store, clock, term, delay),
            files=QueueConfig(delay=delay),
        )

    def consume(self, queues: EventQueues, warehouse: Warehouse) -> None:
        """Register the handlers; nothing runs before the queues are started."""
        queues.for_every_container(SEGMENTS, SegmentsUnused(self.files), self.segments.config)
        queues.for_every_container(SEGMENT_FILES, SegmentFiles(warehouse), self.files)
        queues.for_consumer(CLUSTER, FORGOTTEN.name, SupervisorGone(), self.forgetting.config)
