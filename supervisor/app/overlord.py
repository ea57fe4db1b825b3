"""The wiring of one overlord: its parts, its timers, and the order of its start and stop.

lease ── a term begins ──► look at every supervisor, every queue, every task folder
timers ── only wake ──► passes, and the duties of `chores/table.py`      they hold no truth (H2)
"""

import importlib.metadata
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.kafka.probe import KafkaProbe
from supervisor.adapters.kafka.replays import KafkaReplays
from supervisor.adapters.kafka.streams import KafkaStreams
from supervisor.adapters.letter_desks_http import HttpLetterDesks
from supervisor.adapters.persister_http import HttpPersisters
from supervisor.adapters.secrets import read_secret
from supervisor.adapters.tables.quarantined_records import DuckRecords
from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.adapters.workers.journals import HttpJournals
from supervisor.adapters.workers.task_logs import HttpTaskLogs
from supervisor.app.archive import sender_in
from supervisor.app.executions.calls import prover_of
from supervisor.app.executions.parts import ExecutionParts, executions_in
from supervisor.app.listening import certificate_of
from supervisor.app.parts import (
    address_for_workers,
    authentication_of,
    copies_in,
    limits_of,
    names_of,
    table_formats,
)
from supervisor.app.report_stores import StoredReports, stored_in
from supervisor.chores.duty import Chore, Duty, Wiring
from supervisor.chores.table import CHORES, consume_queues
from supervisor.control.change_log import log_and_count
from supervisor.control.end_task import TaskEnder
from supervisor.control.export_outbox import announce_repaired
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.observe import Sources
from supervisor.control.reconcile import ActionContext, make_pass
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.history.expiry import HistoryAges
from supervisor.core.planning.passes import Pass
from supervisor.core.queue.events import QueueConfig
from supervisor.core.tables.exports import misread_in
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.queues import EventQueues
from supervisor.metadata.store import SqlStore
from supervisor.reports.store_watch import StoreWatch
from supervisor.reports.watch import PersisterWatch
from supervisor.services.services import ServicePorts, Services, services_of
from supervisor.services.steps.product import product_verbs
from supervisor.services.supervisors.admission import OperatorPolicy
from supervisor.services.supervisors.specs import new_token
from supervisor.settings.settings import Settings
from tasks.reporting.levels import ReportLevels, read_levels

log = structlog.get_logger()

PASS_THREADS = 4
OPTIMIZE_PERIOD = timedelta(days=1)
"""The period of SQLite's `optimize`, which updates the statistics of its indexes."""
DENIED_PERIOD = timedelta(seconds=5)
LISTEN_PERIOD = timedelta(seconds=1)
"""The longest time until brokers that end their connections are looked at."""


@dataclass(frozen=True)
class Overlord:
    """The wired parts of one overlord process."""

    store: SqlStore
    streams: KafkaStreams
    wiring: Wiring
    services: Services
    duties: tuple[tuple[Duty, Chore, timedelta], ...]
    """The duties of the leader, each with its chore and its period."""
    executions: ExecutionParts

    def start(self) -> BackgroundScheduler:
        """Start to compete for the lease, the loop of passes, and the timers that wake them."""
        self.wiring.loop.start()
        self.wiring.queues.start()
        self.executions.start()
        # A late job runs all the same (H2).
        scheduler = BackgroundScheduler(
            timezone="UTC",
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        for _, chore, period in self.duties:
            job = self._while_leading(chore.run_once)
            scheduler.add_job(job, "interval", seconds=period.total_seconds())
        scheduler.add_job(self._optimize, "interval", seconds=OPTIMIZE_PERIOD.total_seconds())
        scheduler.add_job(self._write_denied, "interval", seconds=DENIED_PERIOD.total_seconds())
        listen = self._while_leading(self.streams.listen)
        scheduler.add_job(listen, "interval", seconds=LISTEN_PERIOD.total_seconds())
        scheduler.start()
        self.wiring.leadership.start(
            on_lead=lambda: self._begin_term(scheduler),
            on_lost=self._end_term,
        )
        return scheduler

    def ended_threads(self, scheduler: BackgroundScheduler) -> list[str]:
        """Return the names of essential threads that have ended by themselves."""
        ended = {
            "leadership loop": self.wiring.leadership.loop_ended,
            "loop of passes": self.wiring.loop.ended,
            "dispatcher of event queues": self.wiring.queues.ended,
            "scheduler of chores": not scheduler.running,
        }
        return [name for name, has in ended.items() if has]

    def _begin_term(self, scheduler: BackgroundScheduler) -> None:
        """Start what a leader does; it runs beside the thread that renews the lease."""
        self.services.service.start_term()
        self.wiring.queues.poll()
        self.executions.look()
        for duty, chore, _ in self.duties:
            if duty.at_once:
                scheduler.add_job(self._while_leading(chore.run_once))

    def _end_term(self) -> None:
        """Drop what passes saw, and end long polls: workers then ask the new leader."""
        self.wiring.loop.forget()
        if self.wiring.persisters is not None:
            self.wiring.persisters.forget()
        if self.wiring.store_watch is not None:
            self.wiring.store_watch.forget()
        if self.wiring.flow_watch is not None:
            self.wiring.flow_watch.forget()
        self.wiring.changed.notify()

    def _while_leading(self, chore: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            if not self.wiring.leadership.leads():
                return
            try:
                chore()
            except SupervisorError as error:
                log.warning("a chore was put off", error=str(error))

        return run

    def _optimize(self) -> None:
        """Update the database's statistics, leading or not: these writes need no term."""
        try:
            self.store.optimize()
        except SupervisorError as error:
            log.warning("the metadata database was not optimized", error=str(error))

    def _write_denied(self) -> None:
        """Write the denied tries of this process, leading or not."""
        try:
            if self.services.authentication is not None:
                self.services.authentication.flush()
        except SupervisorError as error:
            log.warning("denied tries were not written", error=str(error))

    def stop(self, scheduler: BackgroundScheduler) -> None:
        """Stop in order: let passes and handlers end, then release the lease."""
        scheduler.shutdown(wait=False)
        self.wiring.loop.stop()
        self.wiring.queues.stop()
        self.executions.stop()
        self.streams.stop()
        self.wiring.leadership.stop()
        self._write_denied()
        self._optimize()
        self.store.close()


def wire_overlord(
    settings: Settings, store: SqlStore, url: str, failpoint: Callable[[str], None] = lambda _: None
) -> Overlord:
    """Build an overlord's parts; nothing runs and nothing connects yet.

    `failpoint` is called with each named step, where a test may end the process.

    Raises:
        SetupProblem: settings contradict each other.
    """
    clock = SystemClock()
    leadership = _leadership_of(settings, store, clock, url)
    streams = KafkaStreams(
        clock,
        read_secret,
        on_news=lambda news: wiring.loop.wake(news),  # noqa: PLW0108 -- made below
        policy=settings.connections(),
    )
    queue_meters = Meters()
    queues = EventQueues(store, clock, leadership.term, queue_meters)
    stored = stored_in(settings)
    executions = executions_in(settings, url, leadership, clock, failpoint)
    wiring = _wiring_of(
        settings,
        store,
        clock,
        leadership,
        streams,
        queues=queues,
        stored=stored,
        executions=executions,
        failpoint=failpoint,
    )
    certificate = certificate_of(settings)
    wiring = replace(wiring, triggers=executions.triggers, certificate=certificate)
    consume_queues(wiring)
    services = services_of(
        wiring,
        _outside_of(settings, wiring, stored, executions),
        _operations_of(wiring, queue_meters),
    )
    services = replace(
        services,
        hosts=names_of(url, settings.host),
        tls=settings.trust(),
        authentication=authentication_of(settings, store, clock),
        report_doors=() if settings.reports == "off" else settings.reports_persister,
    )
    verbs = product_verbs(services, prover_of(settings), failpoint)
    executions.add_verbs(verbs)
    services = replace(services, flow_services=services.flow_services.with_verbs(verbs))
    duties = tuple((duty, duty.build(wiring), duty.period(settings)) for duty in CHORES)
    return Overlord(store, streams, wiring, services, duties, executions)


def _wiring_of(
    settings: Settings,
    store: SqlStore,
    clock: SystemClock,
    leadership: Leadership,
    streams: KafkaStreams,
    *,
    queues: EventQueues,
    stored: StoredReports,
    executions: ExecutionParts,
    failpoint: Callable[[str], None],
) -> Wiring:
    changed, warehouse = Wakeups(), settings.warehouse.absolute()
    registry = _registry_of(settings, clock, leadership)
    sources = Sources(store, streams, registry, limits_of(settings))
    endings = TaskEnder(QueueConfig(delay=settings.gc_delay), registry.report)
    context = ActionContext(sources, clock, new_token, endings, failpoint)
    loop, watching = _loop_of(context, leadership)
    return Wiring(
        store=store,
        clock=clock,
        leadership=leadership,
        registry=registry,
        sources=sources,
        loop=loop,
        watching=watching,
        changed=changed,
        endings=endings,
        meters=_metered(store, loop),
        queues=queues,
        warehouse=LocalWarehouse(warehouse),
        formats=table_formats(warehouse, settings.metadata_url),
        copies=copies_in(warehouse, failpoint),
        segment_grace=settings.segment_grace,
        history_ages=_ages(settings),
        gc_delay=settings.gc_delay,
        task_retention=settings.task_retention,
        new_token=new_token,
        persisters=_persisters_of(settings, clock),
        store_watch=StoreWatch(stored.reports),
        archive_sender=sender_in(settings, f"overlord-{os.getpid()}", stored.reports),
        stored_reports=stored.reports,
        stored_logs=stored.logs,
        report_levels=_levels_of(settings),
        engine=executions.engine,
        flow_watch=executions.watch(clock),
        step_runner=executions.step_runner,
        replays=KafkaReplays(warehouse, read_secret, settings.connections()),
        reach=failpoint,
    )


def _registry_of(settings: Settings, clock: SystemClock, leadership: Leadership) -> WorkerRegistry:
    return WorkerRegistry(
        clock, worker_timeout=settings.worker_timeout, led_since=leadership.led_since
    )


def _ages(settings: Settings) -> HistoryAges:
    return HistoryAges(
        settings.history_retention,
        settings.audit_retention,
        settings.event_retention,
        settings.executions_retention,
        settings.executions_per_flow,
    )


def _persisters_of(settings: Settings, clock: SystemClock) -> PersisterWatch | None:
    if not settings.reports_persister:
        return None
    return PersisterWatch(clock, HttpPersisters(settings.trust()), settings.reports_persister)


def _outside_of(
    settings: Settings, wiring: Wiring, stored: StoredReports, executions: ExecutionParts
) -> ServicePorts:
    warehouse = settings.warehouse.absolute()
    return ServicePorts(
        journals=HttpJournals(),
        task_logs=HttpTaskLogs(),
        raw_records=DuckRecords(warehouse),
        letter_desks=HttpLetterDesks(settings.token(), settings.trust()),
        flows=executions.ports,
        probe=KafkaProbe(read_secret),
        rules=_rules_of(settings, wiring.formats),
        warehouse=str(warehouse),
        version=importlib.metadata.version("tidegate"),
        stored_logs=stored.logs,
        stored_reports=stored.reports,
    )


def _operations_of(wiring: Wiring, meters: Meters) -> Operations:
    """Return the operator's verbs on event queues."""
    return Operations(
        wiring.store,
        wiring.clock,
        wiring.term,
        meters,
        wake=wiring.queues.wake,
        config_of=wiring.queues.config_of,
        repaired=announce_repaired,
    )


def _metered(store: SqlStore, loop: Loop) -> OverlordMeters:
    """Return the metrics, subscribed to transactions, lifecycle events and passes."""
    meters = OverlordMeters()
    store.on_measured(meters.transaction)
    store.on_committed(log_and_count(meters))
    loop.measured = meters.pass_taken
    return meters


def _leadership_of(settings: Settings, store: SqlStore, clock: SystemClock, url: str) -> Leadership:
    holder = f"{address_for_workers(settings, url)}#{os.getpid()}"
    own = store.for_lease()
    leadership = Leadership(own, clock, holder=holder, url=url, ttl=settings.lease_ttl)
    store.on_fenced(leadership.lost)
    return leadership


def _rules_of(settings: Settings, formats: Collection[ExportFormat]) -> OperatorPolicy:
    return OperatorPolicy(
        settings.pause_lease,
        settings.connections(),
        worker_allow=settings.worker_allow,
        exports=frozenset(formats),
        misread=misread_in(str(settings.warehouse.absolute())),
    )


def _levels_of(settings: Settings) -> ReportLevels:
    spills = settings.reports_oversize == "spill"
    return replace(read_levels(settings.reports_level), spills=spills)


def _loop_of(shell: ActionContext, leadership: Leadership) -> tuple[Loop, StateRecorder]:
    """Return the loop of passes, and the recorder that is called after each pass."""

    def one_pass(supervisor_id: str) -> Pass | None:
        try:
            return make_pass(supervisor_id, shell, leadership.term())
        except LeaseLost:
            loop.forget()
            raise

    loop = Loop(one_pass, shell.clock, threads=PASS_THREADS)
    watching = StateRecorder(shell.sources.store, shell.clock, leadership.term, loop)
    loop.after_pass = watching.after_pass

    def dropped(supervisor_id: str) -> None:
        watching.forget(supervisor_id)
        shell.sources.streams.forget(supervisor_id)

    loop.dropped = dropped
    return loop, watching
