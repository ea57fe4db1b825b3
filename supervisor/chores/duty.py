"""Types of the rows of `table.py`: periodic duties of the leader, and queue handlers.

Duties and handlers are built from one `Wiring` and take from it the parts that they need.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.observe import Sources
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.attention.certificates import EndingCertificate
from supervisor.core.executions.entities import Runner
from supervisor.core.history.expiry import HistoryAges
from supervisor.core.queue.events import QueueConfig
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.handling import Handler
from supervisor.eventqueue.queues import EventQueues
from supervisor.executions.flow_engine import FlowEngine
from supervisor.executions.flow_watch import FlowWatch
from supervisor.executions.triggers import TriggerEngine
from supervisor.ports.clock import Clock
from supervisor.ports.reports.archive import RecordSender
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store import OverlordStore
from supervisor.ports.tables.exports import Copies, TableFormat
from supervisor.ports.tables.replays import ReplaySender
from supervisor.ports.tables.warehouse import Warehouse
from supervisor.reports.store_watch import StoreWatch
from supervisor.reports.watch import PersisterWatch
from supervisor.settings.settings import Settings
from tasks.reporting.levels import ReportLevels


@dataclass(frozen=True)
class Wiring:
    """The parts of one overlord, once each; duties, handlers and services are made from them."""

    store: OverlordStore
    clock: Clock
    leadership: Leadership
    registry: WorkerRegistry
    sources: Sources
    loop: Loop
    watching: StateRecorder
    changed: Wakeups
    endings: TaskEnder
    meters: OverlordMeters
    queues: EventQueues
    warehouse: Warehouse
    formats: Mapping[ExportFormat, TableFormat]
    """The export formats that this installation can write."""
    copies: Copies
    segment_grace: timedelta
    """The time from the removal of a segment from its table to the deletion of its file."""
    gc_delay: timedelta
    """The delay before leftover files and rows are looked at, and between two looks."""
    task_retention: timedelta
    """The time from the end of a submitted task to its tombstone."""
    new_token: Callable[[], str]
    replays: ReplaySender | None = None
    """None: this installation sends no bad records to topics, and the events wait."""
    persisters: PersisterWatch | None = None
    """Those of the reports; None: there are none."""
    flow_watch: FlowWatch | None = None
    """What the leader sees of flows; None: it looks at none."""
    store_watch: StoreWatch | None = None
    """Of the store of reports; None: nobody looks at it."""
    engine: FlowEngine | None = None
    """What runs flows; None: nothing does."""
    triggers: TriggerEngine | None = None
    """What starts executions by triggers; None: nothing does."""
    step_runner: Runner | None = None
    """The runner of this process: of all others the calls are lost."""
    certificate: EndingCertificate | None = None
    """The TLS certificate that this overlord serves; None: it serves plain HTTP."""
    archive_sender: RecordSender | None = None
    """None: events and audit entries have no archive, and nothing is reported by the leader."""
    report_levels: ReportLevels = field(default_factory=ReportLevels)
    """What of supervisors, compactions and executions is reported."""
    stored_reports: ReportStore | None = None
    """The reports that a persister has stored; None: none are."""
    stored_logs: LogStore | None = None
    """The logs that a persister has stored; None: none are."""
    history_ages: HistoryAges = field(default_factory=HistoryAges)
    reach: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""

    @property
    def term(self) -> Callable[[], int]:
        """Returns the term, or raises LeaseLost where this overlord does not lead."""
        return self.leadership.term


class Chore(Protocol):
    """The work of a duty; safe to crash at any line and to repeat."""

    def run_once(self) -> object:
        """Do the due work, within bounds, with each write under the term.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        ...


@dataclass(frozen=True)
class Duty:
    """A row of `CHORES`: a periodic duty of the leader."""

    name: str
    build: Callable[[Wiring], Chore]
    period: Callable[[Settings], timedelta]
    at_once: bool = False
    """Whether the duty also runs as soon as a term begins."""


@dataclass(frozen=True)
class QueueHandler:
    """A row of `HANDLERS`: the handler of a queue, and the configuration of the queue."""

    queue: str
    build: Callable[[Wiring], Handler | None]
    """Builds the handler; None: this installation has none, and the events wait."""
    config: Callable[[Wiring], QueueConfig]
    container: str | None = None
    """The container of the queue; None: the queue of this name in every container."""
