"""The parts of an API without Kafka, Spark and time, and topics that tests make up."""

from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from supervisor.adapters.kafka.memory import MemoryStreams
from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.tables.quarantined_records import DuckRecords
from supervisor.api.server import ApiParts
from supervisor.chores.compaction import Compacting
from supervisor.chores.compaction_commit import Swapping
from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.publish import Publisher
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.planning.dry_run import Probed
from supervisor.core.queue.events import QueueConfig
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.metadata.store import SqlStore
from supervisor.ports.topic_probe import Probe, SourceUnreadable
from supervisor.services.access.idempotency import Idempotency
from supervisor.services.administration import Administration
from supervisor.services.history.history import History
from supervisor.services.lifetimes import Lifetimes
from supervisor.services.queries import Views
from supervisor.services.supervisors.backfill import Backfills
from supervisor.services.supervisors.dry_run import Looking
from supervisor.services.supervisors.handoff import HandoffRequests
from supervisor.services.supervisors.reset import Resets
from supervisor.services.supervisors.specs import Service, new_token
from supervisor.services.tables.quarantine import Quarantine
from tests.supervisor.api.agents import AgentJournals

ENDS_LATER, DAY = timedelta(seconds=60), timedelta(days=1)


class LookedAt(MemoryStreams):
    """Topics in memory, which answer who looks at them; or as a test says."""

    instead: Probe | None = None

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        """Return what there is; see `ports_probe.Probe`."""
        if self.instead is not None:
            return self.instead.look(source, within)
        seen = self.seen(source)
        if seen.trouble is not None:
            raise SourceUnreadable(seen.detail)
        return Probed(seen.earliest, seen.latest, seen.stable)


class Wired(NamedTuple):
    """What the parts of an API are made from."""

    store: SqlStore
    clock: ManualClock
    leadership: Leadership
    streams: LookedAt
    registry: WorkerRegistry
    changed: Wakeups
    loop: Loop
    endings: TaskEnder
    meters: OverlordMeters


def parts_of(
    made: Wired, service: Service, views: Views, journals: AgentJournals, folder: Path
) -> ApiParts:
    """Return every part that a test may ask for."""
    store, clock, leadership, streams, registry, changed, loop, endings, meters = made
    term = leadership.term
    lifetimes = Lifetimes.of(store, clock, term, grace=30 * DAY, delay=ENDS_LATER)
    segments = lifetimes.segments
    compacting = Compacting(store, clock, term, registry, endings, changed, new_token)
    resets = Resets(store, streams, clock, leadership, loop, changed, endings)
    return ApiParts(
        service=service,
        publishing=Publisher(store, clock, leadership, loop, changed, endings, meters=meters),
        views=views,
        queues=Operations(store, clock, term, Meters(), lambda _: None, lambda _: QueueConfig()),
        lifetimes=lifetimes,
        compacting=compacting,
        swapping=Swapping(store, clock, term, endings, segments, changed, compacting.assign),
        quarantine=Quarantine(store, DuckRecords(folder)),
        resets=resets,
        backfills=Backfills(resets, service.check),
        keys=Idempotency(store, clock, term),
        chronicle=History(store, clock),
        looking=Looking.of(store, clock, service, registry, changed=changed, probe=streams),
        changed=changed,
        meters=meters,
        handoffs=HandoffRequests(store, clock, leadership, loop),
        administration=Administration.of(views, changed, endings, journals),
        version="1.2.3",
        hosts=("tidegate.example",),
    )
