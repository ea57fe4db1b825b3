"""The parts of an API without Kafka, Spark and time, and topics that tests make up."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.expressions import CelExpressions
from supervisor.adapters.kafka.memory import MemoryStreams
from supervisor.adapters.secrets import read_secret
from supervisor.adapters.tables.quarantined_records import DuckRecords
from supervisor.chores.duty import Wiring
from supervisor.core.planning.dry_run import Probed
from supervisor.core.planning.wished_offsets import TimedOffsets, TimedRecord
from supervisor.core.queue.events import QueueConfig
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.values.errors import SourceUnreadable
from supervisor.core.values.throttle import Lockout
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.executions.engine import StoredEngine
from supervisor.executions.flow_watch import FlowWatch
from supervisor.executions.triggers import TriggerEngine
from supervisor.ports.clock import Clock
from supervisor.ports.topic_probe import Probe
from supervisor.services.flows.executions import FlowPorts
from supervisor.services.services import ServicePorts, Services, services_of
from supervisor.services.supervisors.admission import OperatorPolicy
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.agents import AgentJournals
from tests.supervisor.reports.desks import DesksHere

ENDS_LATER, DAY = timedelta(seconds=60), timedelta(days=1)


class LookedAt(MemoryStreams):
    """Topics in memory, which answer who looks at them; or as a test says."""

    instead: Probe | None = None

    def __init__(self, clock: Clock) -> None:
        """Nothing was written at a known time yet."""
        super().__init__(clock)
        self.times: dict[TopicPartition, list[TimedRecord]] = {}
        """Partition -> records whose times are known, by offset."""

    def look(self, source: KafkaIoConfig, within: timedelta) -> Probed:
        """Return what there is; see `topic_probe.Probe`."""
        if self.instead is not None:
            return self.instead.look(source, within)
        return self.look_at(source, None, within).log

    def look_at(
        self, source: KafkaIoConfig, at: datetime | None, within: timedelta
    ) -> TimedOffsets:
        """Return what there is, and the first record of then or later."""
        if self.instead is not None:
            return self.instead.look_at(source, at, within)
        seen = self.seen(source)
        if seen.trouble is not None:
            raise SourceUnreadable(seen.detail)
        records = {
            p: next(record for record in self.times[p] if record.time >= at)
            for p in seen.stable
            if at is not None and any(record.time >= at for record in self.times.get(p, []))
        }
        return TimedOffsets(Probed(seen.earliest, seen.latest, seen.stable), records)


def flows_in(folder: Path, wiring: Wiring) -> FlowPorts:
    """Return an engine over a database that is made with its first use."""
    store = SqlExecutions(ExecutionDatabase(f"sqlite:///{folder / 'executions.db'}"))
    language = CelExpressions()
    engine = StoredEngine(store, wiring.term, language, wiring.clock.now)
    triggers = TriggerEngine(store, engine, wiring.term, language, wiring.clock.now)
    return FlowPorts(store, engine, language, triggers, read_secret, Lockout(3, 60.0))


def services_over(
    wiring: Wiring, rules: OperatorPolicy, journals: AgentJournals, probe: Probe, folder: Path
) -> Services:
    """Return every service that a test may call; nobody looks at flows until a test does."""
    flows = flows_in(folder, wiring)
    wiring = replace(wiring, flow_watch=FlowWatch(flows.store, wiring.clock))
    outside = ServicePorts(
        journals=journals,
        task_logs=journals,
        raw_records=DuckRecords(folder),
        letter_desks=DesksHere(),
        flows=flows,
        probe=probe,
        rules=rules,
        warehouse="/warehouse",
        version="1.2.3",
    )
    store, clock, term = wiring.store, wiring.clock, wiring.term
    queues = Operations(store, clock, term, Meters(), lambda _: None, lambda _: QueueConfig())
    return replace(services_of(wiring, outside, queues), hosts=("tidegate.example",))
