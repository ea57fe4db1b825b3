"""The parts of an API without Kafka, Spark and time, and topics that tests make up."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from supervisor.adapters.kafka.memory import MemoryStreams
from supervisor.adapters.tables.quarantined_records import DuckRecords
from supervisor.chores.duty import Wiring
from supervisor.core.planning.dry_run import Probed
from supervisor.core.queue.events import QueueConfig
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.values.errors import SourceUnreadable
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.ports.topic_probe import Probe
from supervisor.services.services import ServicePorts, Services, services_of
from supervisor.services.supervisors.admission import OperatorPolicy
from tests.supervisor.api.agents import AgentJournals

ENDS_LATER, DAY = timedelta(seconds=60), timedelta(days=1)


class LookedAt(MemoryStreams):
    """Topics in memory, which answer who looks at them; or as a test says."""

    instead: Probe | None = None

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        """Return what there is; see `topic_probe.Probe`."""
        if self.instead is not None:
            return self.instead.look(source, within)
        seen = self.seen(source)
        if seen.trouble is not None:
            raise SourceUnreadable(seen.detail)
        return Probed(seen.earliest, seen.latest, seen.stable)


def services_over(
    wiring: Wiring, rules: OperatorPolicy, journals: AgentJournals, probe: Probe, folder: Path
) -> Services:
    """Return every service that a test may call."""
    outside = ServicePorts(
        journals=journals,
        task_logs=journals,
        raw_records=DuckRecords(folder),
        probe=probe,
        rules=rules,
        warehouse="/warehouse",
        version="1.2.3",
    )
    store, clock, term = wiring.store, wiring.clock, wiring.term
    queues = Operations(store, clock, term, Meters(), lambda _: None, lambda _: QueueConfig())
    return replace(services_of(wiring, outside, queues), hosts=("tidegate.example",))
