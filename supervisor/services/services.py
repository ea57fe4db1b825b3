"""The services of one overlord: every verb and query that the API calls, made from one `Wiring`."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

from supervisor.chores.compaction.commit import Swapping
from supervisor.chores.compaction.compacting import Compacting, compacting_of
from supervisor.chores.duty import Wiring
from supervisor.chores.forget import Forgetting, forgetting_of
from supervisor.chores.retention import RetentionKeeper, retention_of
from supervisor.chores.segments import SegmentLife, segments_of
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.publish import Publisher
from supervisor.control.wakeups import Wakeups
from supervisor.core.values.errors import Unavailable
from supervisor.eventqueue.operations import Operations
from supervisor.ports.reports.letter_desks import LetterDesks
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store import Store
from supervisor.ports.tables.quarantine import RawRecords
from supervisor.ports.topic_probe import Probe
from supervisor.ports.workers.task_logs import LogSource
from supervisor.services.access.authentication import Authentication
from supervisor.services.access.idempotency import Idempotency
from supervisor.services.flows.execution_reports import ExecutionReports
from supervisor.services.flows.executions import Executions, FlowPorts
from supervisor.services.flows.executor import ExecutorVerbs
from supervisor.services.flows.flows import Flows
from supervisor.services.flows.hooks import Hooks
from supervisor.services.flows.logs import ExecutionLogs
from supervisor.services.flows.services import FlowServices, flow_services_of
from supervisor.services.flows.triggers import Triggers
from supervisor.services.foresight.looks import VerbLooks
from supervisor.services.foresight.ranges import RangeForesight
from supervisor.services.foresight.tables import TableForesight
from supervisor.services.history.archive_reader import ArchiveReader
from supervisor.services.history.history import History
from supervisor.services.steps.calls import StepCalls
from supervisor.services.supervisors.admission import OperatorPolicy
from supervisor.services.supervisors.backfill import Backfills
from supervisor.services.supervisors.bulk import BulkVerbs
from supervisor.services.supervisors.coverage import CoverageQueries
from supervisor.services.supervisors.dry_run import DryRun
from supervisor.services.supervisors.handoff import HandoffRequests
from supervisor.services.supervisors.listing import SupervisorListing
from supervisor.services.supervisors.offsets import OffsetLookups
from supervisor.services.supervisors.overview import Overviews
from supervisor.services.supervisors.queries import SupervisorQueries
from supervisor.services.supervisors.reset import Resets
from supervisor.services.supervisors.sampler import SampleRequests
from supervisor.services.supervisors.specs import Service
from supervisor.services.tables.bad_counts import BadCounts
from supervisor.services.tables.quarantine import Quarantine
from supervisor.services.tables.queries import TableQueries
from supervisor.services.tables.replays import Replays
from supervisor.services.tables.totals import TableSums
from supervisor.services.tasks.last_reports import LastReports
from supervisor.services.tasks.letters import LetterRequests
from supervisor.services.tasks.queries import TaskQueries
from supervisor.services.tasks.stop_task import TaskStops
from supervisor.services.tasks.stored_search import StoredSearch
from supervisor.services.tasks.task_logs import TaskLogViews
from supervisor.services.tasks.task_reports import TaskReportViews
from supervisor.services.tasks.worker_pages import WorkerQueries
from supervisor.services.tasks.workers import WorkerAdmin
from supervisor.views.tables.files import Journals


@dataclass(frozen=True)
class ServicePorts:
    """The ports that only services use, and the operator's settings for them."""

    journals: Journals
    task_logs: LogSource
    raw_records: RawRecords
    letter_desks: LetterDesks
    flows: FlowPorts
    probe: Probe
    rules: OperatorPolicy
    warehouse: str
    """The absolute path of the warehouse, as the API shows it."""
    version: str
    """The version of this Tidegate."""
    stored_logs: LogStore | None = None
    """The logs that a persister has stored; None: none are."""
    stored_reports: ReportStore | None = None
    """The reports that a persister has stored; None: none are."""


@dataclass(frozen=True)
class Services:
    """All services that the API calls; one instance per process."""

    # -- the process -------------------------------------------------------------------------------
    store: Store
    leadership: Leadership
    loop: Loop
    changed: Wakeups
    meters: OverlordMeters
    version: str
    """The version of this Tidegate."""

    # -- supervisors -------------------------------------------------------------------------------
    service: Service
    dry_run: DryRun
    sampling: SampleRequests
    handoffs: HandoffRequests
    resets: Resets
    offsets: OffsetLookups
    backfills: Backfills
    bulk: BulkVerbs
    foresight: RangeForesight
    forgetting: Forgetting

    # -- tasks and workers -------------------------------------------------------------------------
    publishing: Publisher
    swapping: Swapping
    task_stops: TaskStops
    task_logs: TaskLogViews
    task_reports: TaskReportViews
    stored: StoredSearch
    letters: LetterRequests
    worker_pages: WorkerQueries

    # -- tables ------------------------------------------------------------------------------------
    table_foresight: TableForesight
    looks: VerbLooks
    segments: SegmentLife
    compacting: Compacting
    quarantine: Quarantine
    replays: Replays

    # -- flows -------------------------------------------------------------------------------------
    flow_services: FlowServices

    # -- queries -----------------------------------------------------------------------------------
    supervisors: SupervisorQueries
    listing: SupervisorListing
    overviews: Overviews
    coverage: CoverageQueries
    tasks: TaskQueries
    tables: TableQueries
    sums: TableSums
    chronicle: History
    queues: Operations

    # -- callers -----------------------------------------------------------------------------------
    keys: Idempotency
    authentication: Authentication | None = None
    """None: callers are not authenticated."""
    tls: ssl.SSLContext | bool = True
    """The trust settings for calls to the leader; True: the system's authorities."""
    hosts: tuple[str, ...] = ()
    """Host names, or `name:port`, of this overlord for clients, beside loopback's."""
    report_doors: tuple[str, ...] = ()
    """Base addresses of persisters, for workers; empty: they have their own, or none."""
    last_reports: LastReports = field(default_factory=LastReports)

    @property
    def workers(self) -> WorkerAdmin:
        """The verbs on workers."""
        return self.looks.workers

    @property
    def retention(self) -> RetentionKeeper:
        """The rules of retention."""
        return self.looks.retention

    @property
    def flows(self) -> Flows:
        """The verbs on flows."""
        return self.executions.flows

    @property
    def executions(self) -> Executions:
        """The verbs on executions."""
        return self.flow_services.executions

    @property
    def steps(self) -> StepCalls:
        """The calls of executors."""
        return self.flow_services.steps

    @property
    def triggers(self) -> Triggers:
        """The verbs on triggers."""
        return self.flow_services.triggers

    @property
    def execution_logs(self) -> ExecutionLogs:
        """The logs of executions."""
        return self.flow_services.logs

    @property
    def execution_reports(self) -> ExecutionReports:
        """The reports of executions and their steps."""
        return ExecutionReports(self.execution_logs.executions, self.stored.stored_reports)

    @property
    def executor(self) -> ExecutorVerbs:
        """The verbs on executions on Kafka as a whole."""
        return self.flow_services.executor

    @property
    def hooks(self) -> Hooks:
        """The door of webhooks."""
        return self.flow_services.hooks

    def check(self) -> None:
        """Return if the metadata database answers, and this process competes for the lease.

        Raises:
            Unavailable: the database does not answer, or the lease loop has ended.
        """
        if self.leadership.loop_ended:
            raise Unavailable("no leadership loop: this overlord can neither lead nor follow")
        with self.store.reading() as tx:
            tx.lease.read()


def services_of(wiring: Wiring, outside: ServicePorts, queues: Operations) -> Services:
    """Build every service; nothing connects yet."""
    w, o, service = wiring, outside, _specs(wiring, outside)
    segments, compacting = segments_of(w), compacting_of(w)
    workers, resets = _workers(w), _resets(w)
    sampling, quarantine = _sampling(w, o, service), _quarantine(w, o)
    listing, foresight = _listing(w), _foresight(w, service)
    return Services(
        store=w.store,
        leadership=w.leadership,
        loop=w.loop,
        changed=w.changed,
        meters=w.meters,
        version=o.version,
        service=service,
        dry_run=DryRun(w.store, w.leadership, service, sampling.look, w.registry),
        sampling=sampling,
        handoffs=HandoffRequests(w.store, w.clock, w.leadership, w.loop, w.reach),
        resets=resets,
        offsets=OffsetLookups(w.store, sampling.look_at),
        backfills=Backfills(resets, service.check, failpoint=w.reach),
        bulk=BulkVerbs(service, foresight),
        foresight=foresight,
        forgetting=forgetting_of(w),
        publishing=_publishing(w),
        swapping=_swapping(w, segments, compacting.assign),
        task_stops=TaskStops(w.store, w.clock, w.leadership, w.loop, w.endings, w.reach),
        task_logs=TaskLogViews(w.store, o.task_logs, o.stored_logs),
        task_reports=TaskReportViews(w.store, w.registry, w.leadership, w.clock, o.stored_reports),
        stored=StoredSearch(o.stored_reports, o.stored_logs),
        letters=_letters(w, o),
        worker_pages=WorkerQueries(w.store, w.clock, w.leadership, w.registry, sampling.running_on),
        table_foresight=TableForesight(w.store, w.leadership, w.registry, segments, compacting),
        looks=VerbLooks(w.store, w.leadership, workers, compacting, retention_of(w)),
        segments=segments,
        compacting=compacting,
        quarantine=quarantine,
        replays=_replays(w, quarantine, service),
        flow_services=flow_services_of(o.flows, w.store, w.clock, w.leadership, o.stored_logs),
        supervisors=_supervisors(w, o),
        listing=listing,
        overviews=_overviews(w, listing),
        coverage=CoverageQueries(w.store, w.clock, w.leadership, w.loop),
        tasks=TaskQueries(w.store, w.registry, w.leadership),
        sums=TableSums(w.store, w.clock),
        tables=TableQueries(w.store, w.registry, w.leadership, w.clock, o.warehouse, o.journals),
        chronicle=History(w.store, w.clock, _archive(w, o)),
        queues=queues,
        keys=Idempotency(w.store, w.clock, w.term),
    )


def _quarantine(w: Wiring, o: ServicePorts) -> Quarantine:
    return Quarantine(w.store, o.raw_records, BadCounts(o.raw_records))


def _listing(w: Wiring) -> SupervisorListing:
    return SupervisorListing(w.store, w.clock, w.leadership, w.loop, w.watching, w.registry)


def _foresight(w: Wiring, service: Service) -> RangeForesight:
    return RangeForesight(w.store, w.clock, w.leadership, w.registry, service)


def _letters(w: Wiring, o: ServicePorts) -> LetterRequests:
    return LetterRequests(w.store, w.clock, w.leadership, o.letter_desks, w.persisters)


def _archive(w: Wiring, o: ServicePorts) -> ArchiveReader | None:
    return None if o.stored_reports is None else ArchiveReader(o.stored_reports, w.store)


def _specs(w: Wiring, o: ServicePorts) -> Service:
    return Service(
        store=w.store,
        clock=w.clock,
        leadership=w.leadership,
        registry=w.registry,
        loop=w.loop,
        changed=w.changed,
        rules=o.rules,
        failpoint=w.reach,
    )


def _sampling(w: Wiring, o: ServicePorts, service: Service) -> SampleRequests:
    return SampleRequests(
        clock=w.clock,
        term=w.term,
        workers=w.registry,
        probe=o.probe,
        check=service.check,
        changed=w.changed,
        new_token=w.new_token,
    )


def _replays(w: Wiring, quarantine: Quarantine, service: Service) -> Replays:
    return Replays(
        w.store, w.clock, w.leadership, quarantine, w.replays, service.check, w.new_token
    )


def _workers(w: Wiring) -> WorkerAdmin:
    return WorkerAdmin(w.store, w.clock, w.leadership, w.registry, w.loop, w.reach)


def _resets(w: Wiring) -> Resets:
    return Resets(w.store, w.sources.streams, w.clock, w.leadership, w.loop, w.endings)


def _overviews(w: Wiring, listing: SupervisorListing) -> Overviews:
    known = (w.store, w.clock, w.leadership, w.loop, w.watching, w.registry, listing)
    return Overviews(*known, w.persisters, w.store_watch, w.flow_watch, w.certificate)


def _publishing(w: Wiring) -> Publisher:
    return Publisher(
        w.store,
        w.clock,
        w.leadership,
        w.loop,
        w.endings,
        w.reach,
        w.meters,
        w.warehouse.size_of,
    )


def _swapping(w: Wiring, segments: SegmentLife, assign: Callable[[], None]) -> Swapping:
    return Swapping(w.store, w.clock, w.term, w.endings, segments, assign, w.reach)


def _supervisors(w: Wiring, o: ServicePorts) -> SupervisorQueries:
    return SupervisorQueries(
        w.sources,
        w.registry,
        w.loop,
        w.leadership,
        w.clock,
        o.warehouse,
        w.watching,
        w.persisters,
    )
