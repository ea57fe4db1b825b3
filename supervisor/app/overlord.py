"""One overlord, wired: what it is made of, what its timers wake, in which order it starts and ends.

lease ── a term begins ──► look at every supervisor, every queue, every task folder
timers ── only wake ──► passes, queues, sweep, retention      they hold no truth (H2)
"""

import importlib.metadata
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.kafka.probe import KafkaProbe
from supervisor.adapters.kafka.streams import KafkaStreams
from supervisor.adapters.secrets import read_secret
from supervisor.adapters.tables.quarantined_records import DuckRecords
from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.adapters.workers.journals import HttpJournals
from supervisor.adapters.workers.task_logs import HttpTaskLogs
from supervisor.api.server import ApiParts
from supervisor.app.parts import authentication_of, copies_in, limits_of, names_of, table_formats
from supervisor.chores.compaction import Compacting
from supervisor.chores.compaction_commit import Swapping
from supervisor.chores.exports import CompareAll, Exporting
from supervisor.chores.sweep import Sweep
from supervisor.chores.task_output import TaskOutput
from supervisor.control.change_log import log_and_count
from supervisor.control.end_task import TASK_OUTPUT, TaskEnder
from supervisor.control.export_outbox import EXPORTS, announce_repaired
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.observe import Sources
from supervisor.control.publish import Publisher
from supervisor.control.reconcile import Shell, make_pass
from supervisor.control.state_recorder import LAG_PERIOD, StateRecorder
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.planning.passes import Pass
from supervisor.core.queue.events import QueueConfig
from supervisor.core.tables.exports import misread_in, queue_name
from supervisor.core.values.errors import LeaseLost, SupervisorError
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.queues import EventQueues
from supervisor.metadata.store import SqlStore
from supervisor.ports.exports import Copies, TableFormat
from supervisor.ports.warehouse import Warehouse
from supervisor.services.access.idempotency import Idempotency
from supervisor.services.administration import Administration
from supervisor.services.history.history import History
from supervisor.services.lifetimes import Lifetimes
from supervisor.services.queries import Views
from supervisor.services.supervisors.admission import OperatorPolicy
from supervisor.services.supervisors.backfill import Backfills
from supervisor.services.supervisors.dry_run import Looking
from supervisor.services.supervisors.handoff import HandoffRequests
from supervisor.services.supervisors.reset import Resets
from supervisor.services.supervisors.specs import Service, new_token
from supervisor.services.tables.quarantine import Quarantine
from supervisor.settings.settings import Settings

log = structlog.get_logger()

PASS_THREADS = 4
WAKE_PERIOD = timedelta(seconds=30)
"""How soon a lost wake-up is made up for."""
COMPACTION_PERIOD = timedelta(seconds=30)
"""How often tables are looked at for small files, and waiting compactions are given out."""
OPTIMIZE_PERIOD = timedelta(days=1)
"""How often SQLite looks which of its indexes pay; it grows slowly."""
DENIED_PERIOD = timedelta(seconds=5)


@dataclass(frozen=True)
class Chores:
    """What runs now and then, while this overlord leads."""

    sweep: Sweep
    sweep_period: timedelta
    lifetimes: Lifetimes
    retention_period: timedelta
    compare: CompareAll
    compacting: Compacting


@dataclass(frozen=True)
class Overlord:
    """The wired parts of one overlord process."""

    store: SqlStore
    leadership: Leadership
    service: Service
    loop: Loop
    streams: KafkaStreams
    queues: EventQueues
    chores: Chores
    api: ApiParts

    def start(self) -> BackgroundScheduler:
        """Start to compete for the lease, to make passes, and the timers that wake them."""
        self.loop.start()
        self.queues.start()
        # A late job runs all the same (H2).
        scheduler = BackgroundScheduler(
            timezone="UTC",
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        for chore, period in (
            (self.service.wake_all, WAKE_PERIOD),
            (self.queues.poll, WAKE_PERIOD),
            (self.chores.compare.run_once, WAKE_PERIOD),  # once a term, and again if it failed
            (self.chores.sweep.run_once, self.chores.sweep_period),
            (self.chores.lifetimes.retention.run_once, self.chores.retention_period),
            (self.chores.compacting.run_once, COMPACTION_PERIOD),
            (self.api.views.watching.sample, LAG_PERIOD),
        ):
            job = self._while_leading(chore)
            scheduler.add_job(job, "interval", seconds=period.total_seconds())
        scheduler.add_job(self._optimize, "interval", seconds=OPTIMIZE_PERIOD.total_seconds())
        scheduler.add_job(self._write_denied, "interval", seconds=DENIED_PERIOD.total_seconds())
        scheduler.start()
        self.leadership.start(
            on_lead=lambda: self._begin_term(scheduler),
            on_lost=self.api.changed.notify,  # long polls end: their workers ask the new leader
        )
        return scheduler

    def ended_threads(self, scheduler: BackgroundScheduler) -> list[str]:
        """Return what this overlord cannot do without and has ended by itself, in words."""
        ended = {
            "leadership loop": self.leadership.loop_ended,
            "loop of passes": self.loop.ended,
            "dispatcher of event queues": self.queues.ended,
            "scheduler of chores": not scheduler.running,
        }
        return [name for name, has in ended.items() if has]

    def _begin_term(self, scheduler: BackgroundScheduler) -> None:
        self.service.start_term()
        self.queues.poll()
        scheduler.add_job(self._while_leading(self.chores.compare.run_once))
        scheduler.add_job(self._while_leading(self.chores.sweep.run_once))  # at once

    def _while_leading(self, chore: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            if not self.leadership.leads():
                return
            try:
                chore()
            except SupervisorError as error:
                log.warning("a chore was put off", error=str(error))

        return run

    def _optimize(self) -> None:
        """Renew what the database knows of its tables, leading or not: it is nobody's write."""
        try:
            self.store.optimize()
        except SupervisorError as error:
            log.warning("the metadata database was not looked over", error=str(error))

    def _write_denied(self) -> None:
        """Write what was refused here, leading or not."""
        try:
            if self.api.authentication is not None:
                self.api.authentication.flush()
        except SupervisorError as error:
            log.warning("denied tries were not written", error=str(error))

    def stop(self, scheduler: BackgroundScheduler) -> None:
        """End in good order: no pass and no handler runs on, the lease is free for the next."""
        scheduler.shutdown(wait=False)
        self.loop.stop()
        self.queues.stop()
        self.streams.stop()
        self.leadership.stop()
        self._write_denied()
        self._optimize()
        self.store.close()


def wire_overlord(
    settings: Settings, store: SqlStore, url: str, failpoint: Callable[[str], None] = lambda _: None
) -> Overlord:
    """Build an overlord's parts; nothing runs and nothing connects yet.

    `reach` is told of the places that a test may end the process at; as a rule it does nothing.

    Raises:
        SetupProblem: settings contradict each other.
    """
    clock, changed, warehouse = SystemClock(), Wakeups(), settings.warehouse.absolute()
    formats = table_formats(warehouse, settings.metadata_url)
    leadership = _leadership_of(settings, store, clock, url)
    registry = _registry_of(settings, clock, leadership)
    streams = KafkaStreams(clock, read_secret, on_news=lambda found: loop.wake(found))  # noqa: PLW0108 -- made below
    sources = Sources(store, streams, registry, limits_of(settings))
    endings = TaskEnder(QueueConfig(delay=settings.gc_delay), registry.report)
    loop, watching = _loop_of(
        Shell(sources, clock, new_token, endings, failpoint), leadership, changed
    )
    service = Service(
        store=store,
        clock=clock,
        leadership=leadership,
        registry=registry,
        loop=loop,
        changed=changed,
        rules=_rules_of(settings, formats),
        failpoint=failpoint,
    )
    meters = _metered(store, loop)
    made = Wiring(store, clock, leadership, registry, loop, changed, endings, failpoint, meters)
    compacting = Compacting(store, clock, leadership.term, registry, endings, changed, new_token)
    chores = _chores_of(settings, store, clock, leadership, endings, compacting=compacting)
    queues, operations = _queues_of(store, clock, leadership, registry, chores)
    copies = copies_in(settings.warehouse.absolute(), failpoint)
    _consume_exports(queues, formats, chores.sweep.warehouse, copies, failpoint)
    views = Views(
        sources, registry, loop, leadership, clock, str(warehouse), HttpJournals(), watching
    )
    api = _api_of(made, service, views, chores, operations)
    api = replace(
        api,
        hosts=names_of(url, settings.host),
        tls=settings.trust(),
        authentication=authentication_of(settings, store, clock),
    )
    return Overlord(store, leadership, service, loop, streams, queues, chores=chores, api=api)


class Wiring(NamedTuple):
    """What most parts of the API are made from."""

    store: SqlStore
    clock: SystemClock
    leadership: Leadership
    registry: WorkerRegistry
    loop: Loop
    changed: Wakeups
    endings: TaskEnder
    failpoint: Callable[[str], None]
    meters: OverlordMeters


def _metered(store: SqlStore, loop: Loop) -> OverlordMeters:
    """Return what counts; transactions, what they changed, and passes are told to it."""
    meters = OverlordMeters()
    store.on_measured(meters.transaction)
    store.on_committed(log_and_count(meters))
    loop.measured = meters.pass_taken
    return meters


def _api_of(
    wiring: Wiring, service: Service, views: Views, chores: Chores, operations: Operations
) -> ApiParts:
    store, clock, leadership, registry, loop, changed, endings, reach, meters = wiring
    term, compacting = leadership.term, chores.compacting
    segments, streams = chores.lifetimes.segments, views.sources.streams
    resets = Resets(store, streams, clock, leadership, loop, changed, endings)
    return ApiParts(
        service=service,
        publishing=Publisher(store, clock, leadership, loop, changed, endings, reach, meters),
        views=views,
        lifetimes=chores.lifetimes,
        handoffs=HandoffRequests(store, clock, leadership, loop),
        administration=Administration.of(views, changed, endings, HttpTaskLogs()),
        resets=resets,
        backfills=Backfills(resets, service.check, failpoint=reach),
        queues=operations,
        quarantine=Quarantine(store, DuckRecords(Path(views.warehouse))),
        compacting=compacting,
        swapping=Swapping(store, clock, term, endings, segments, changed, compacting.assign, reach),
        looking=Looking.of(
            store, clock, service, registry, changed=changed, probe=KafkaProbe(read_secret)
        ),
        chronicle=History(store, clock),
        keys=Idempotency(store, clock, term),
        changed=changed,
        meters=meters,
        version=importlib.metadata.version("tidegate"),
    )


def _consume_exports(
    queues: EventQueues,
    formats: Mapping[ExportFormat, TableFormat],
    warehouse: Warehouse,
    copies: Copies,
    failpoint: Callable[[str], None],
) -> None:
    for each, tables in formats.items():
        exporting = Exporting(each, tables, warehouse, copies, failpoint)
        queues.for_every_container(queue_name(each), exporting, EXPORTS)


def _leadership_of(settings: Settings, store: SqlStore, clock: SystemClock, url: str) -> Leadership:
    holder = f"{url}#{os.getpid()}"
    own = store.for_lease()
    leadership = Leadership(own, clock, holder=holder, url=url, ttl=settings.lease_ttl)
    store.on_fenced(leadership.lost)
    return leadership


def _registry_of(settings: Settings, clock: SystemClock, leadership: Leadership) -> WorkerRegistry:
    timeout = settings.worker_timeout
    return WorkerRegistry(clock, worker_timeout=timeout, led_since=leadership.led_since)


def _rules_of(settings: Settings, formats: Collection[ExportFormat]) -> OperatorPolicy:
    return OperatorPolicy(
        settings.allowed_brokers(),
        settings.pause_lease,
        registry_allow=settings.allowed_registries(),
        exports=frozenset(formats),
        misread=misread_in(str(settings.warehouse.absolute())),
    )


def _chores_of(
    settings: Settings,
    store: SqlStore,
    clock: SystemClock,
    leadership: Leadership,
    endings: TaskEnder,
    *,
    compacting: Compacting,
) -> Chores:
    files = LocalWarehouse(settings.warehouse.absolute())
    lifetimes = Lifetimes.of(
        store, clock, leadership.term, grace=settings.segment_grace, delay=settings.gc_delay
    )
    sweep = Sweep(store, files, clock, leadership.term, endings)
    compare = CompareAll(store, clock, leadership.term)
    return Chores(
        sweep, settings.sweep_period, lifetimes, settings.retention_period, compare, compacting
    )


def _queues_of(
    store: SqlStore,
    clock: SystemClock,
    leadership: Leadership,
    registry: WorkerRegistry,
    chores: Chores,
) -> tuple[EventQueues, Operations]:
    """Return the queues with every consumer there is, and what people do with them."""
    meters, warehouse = Meters(), chores.sweep.warehouse
    queues = EventQueues(store, clock, leadership.term, meters)
    output = TaskOutput(warehouse, registry)
    queues.for_every_container(TASK_OUTPUT, output.handle, chores.sweep.endings.config)
    chores.lifetimes.consume(queues, warehouse)
    operations = Operations(
        store,
        clock,
        leadership.term,
        meters,
        wake=queues.wake,
        config_of=queues.config_of,
        repaired=announce_repaired,
    )
    return queues, operations


def _loop_of(shell: Shell, leadership: Leadership, changed: Wakeups) -> tuple[Loop, StateRecorder]:
    """Return what makes the passes, behind what notes what they find."""

    def one_pass(supervisor_id: str) -> Pass | None:
        try:
            made = make_pass(supervisor_id, shell, leadership.term())
        except LeaseLost:
            loop.forget()
            raise
        if made is not None and made.decided.actions:
            changed.notify()
        return made

    loop = Loop(one_pass, shell.clock, threads=PASS_THREADS)
    watching = StateRecorder(shell.sources.store, shell.clock, leadership.term, loop)
    loop.after_pass = watching.after_pass

    def dropped(supervisor_id: str) -> None:
        watching.forget(supervisor_id)
        shell.sources.streams.forget(supervisor_id)

    loop.dropped = dropped
    return loop, watching
