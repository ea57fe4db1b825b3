"""The parts of an API without Kafka, Spark and time, and topics that tests make up."""

from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.memory_streams import MemoryStreams
from supervisor.adapters.raw_records import DuckRecords
from supervisor.administration import Administration
from supervisor.api.server import ApiParts
from supervisor.backfills import Backfills
from supervisor.chronicle import Chronicle
from supervisor.compacting import Compacting
from supervisor.core.events import QueueConfig
from supervisor.core.spec_io import KafkaIoConfig
from supervisor.dry_run import Looking
from supervisor.early_handoff import EarlyHandoff
from supervisor.endings import Endings
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.idempotency import Idempotency
from supervisor.leadership import Leadership
from supervisor.lifetimes import Lifetimes
from supervisor.loop import Loop
from supervisor.metadata.store import SqlStore
from supervisor.meters import OverlordMeters
from supervisor.ports_probe import Probe, Probed, SourceUnreadable
from supervisor.publishing import Publishing
from supervisor.quarantine import Quarantine
from supervisor.registry import WorkerRegistry
from supervisor.resets import Resets
from supervisor.service import Service, new_token
from supervisor.signals import Broadcast
from supervisor.swapping import Swapping
from supervisor.views import Views
from tests.api.agents import AgentJournals

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
    changed: Broadcast
    loop: Loop
    endings: Endings
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
        publishing=Publishing(store, clock, leadership, loop, changed, endings, meters=meters),
        views=views,
        queues=Operations(store, clock, term, Meters(), lambda _: None, lambda _: QueueConfig()),
        lifetimes=lifetimes,
        compacting=compacting,
        swapping=Swapping(store, clock, term, endings, segments, changed, compacting.assign),
        quarantine=Quarantine(store, DuckRecords(folder)),
        resets=resets,
        backfills=Backfills(resets, service.check),
        keys=Idempotency(store, clock, term),
        chronicle=Chronicle(store, clock),
        looking=Looking.of(store, clock, service, registry, changed=changed, probe=streams),
        changed=changed,
        meters=meters,
        handoffs=EarlyHandoff(store, clock, leadership, loop),
        administration=Administration.of(views, changed, endings, journals),
        version="1.2.3",
        hosts=("tidegate.example",),
    )
