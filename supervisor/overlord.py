"""One overlord, wired: what it is made of, what its timers wake, in which order it starts and ends.

lease ── a term begins ──► look at every supervisor, every queue, every task folder
timers ── only wake ──► passes, queues, sweep, retention      they hold no truth (H2)
"""

import functools
import importlib.metadata
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.journals_http import HttpJournals
from supervisor.adapters.kafka import KafkaStreams
from supervisor.adapters.passwords import Argon2Passwords
from supervisor.adapters.raw_records import DuckRecords
from supervisor.adapters.secret import read_secret
from supervisor.adapters.warehouse import LocalWarehouse
from supervisor.api.server import ApiParts
from supervisor.authentication import AccessRules, Authentication
from supervisor.compacting import Compacting
from supervisor.core.errors import LeaseLost, SupervisorError
from supervisor.core.events import QueueConfig
from supervisor.core.exports import queue_name
from supervisor.core.observed import Limits
from supervisor.core.spec_exports import ExportFormat
from supervisor.core.throttle import Lockout, Rate
from supervisor.early_handoff import EarlyHandoff
from supervisor.endings import TASK_OUTPUT, Endings
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.queues import EventQueues
from supervisor.export_events import EXPORTS
from supervisor.exporting import CompareAll, Exporting
from supervisor.leadership import Leadership
from supervisor.lifetimes import Lifetimes
from supervisor.loop import Loop
from supervisor.metadata.engine import bounded_url
from supervisor.metadata.store import SqlStore
from supervisor.observe import Sources
from supervisor.ports_exports import OpenTable, TableFormat
from supervisor.publishing import Publishing
from supervisor.quarantine import Quarantine
from supervisor.reconcile import Pass, Shell, make_pass
from supervisor.registry import WorkerRegistry
from supervisor.resets import Resets
from supervisor.service import Rules, Service, new_token
from supervisor.setting_types import allowed_registries
from supervisor.settings import Settings
from supervisor.setup import SetupProblem
from supervisor.signals import Broadcast
from supervisor.swapping import Swapping
from supervisor.sweep import Sweep
from supervisor.task_output import TaskOutput
from supervisor.views import Views

log = structlog.get_logger()

PASS_THREADS = 4
CATALOG_WAIT = timedelta(seconds=10)
"""How long one statement of the Iceberg catalog may take, and wait for a lock."""
WAKE_PERIOD = timedelta(seconds=30)
"""How soon a lost wake-up is made up for."""
COMPACTION_PERIOD = timedelta(seconds=30)
"""How often tables are looked at for small files, and waiting compactions are given out."""


BURST_S = 10
"""A caller may ask so many seconds' worth of requests at once."""
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
            (self.chores.sweep.run_once, self.chores.sweep_period),
            (self.chores.lifetimes.retention.run_once, self.chores.retention_period),
            (self.chores.compacting.run_once, COMPACTION_PERIOD),
        ):
            job = self._while_leading(chore)
            scheduler.add_job(job, "interval", seconds=period.total_seconds())
        scheduler.add_job(self._write_denied, "interval", seconds=DENIED_PERIOD.total_seconds())
        scheduler.start()
        self.leadership.start(
            on_lead=lambda: self._begin_term(scheduler),
            on_lost=self.api.changed.notify,  # long polls end: their workers ask the new leader
        )
        return scheduler

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
        self.store.close()


def wire_overlord(
    settings: Settings, store: SqlStore, url: str, reach: Callable[[str], None] = lambda _: None
) -> Overlord:
    """Build an overlord's parts; nothing runs and nothing connects yet.

    `reach` is told of the places that a test may end the process at; as a rule it does nothing.

    Raises:
        SetupProblem: settings contradict each other.
    """
    clock, warehouse = SystemClock(), settings.warehouse.absolute()
    formats = table_formats(warehouse, settings.metadata_url)
    changed = Broadcast()
    leadership = _leadership_of(settings, store, clock, url)
    registry = _registry_of(settings, clock, leadership)
    streams = KafkaStreams(clock, read_secret, on_news=lambda found: loop.wake(found))  # noqa: PLW0108 -- made below
    sources = Sources(store, streams, registry, limits_of(settings))
    endings = Endings(QueueConfig(delay=settings.gc_delay))
    loop = _loop_of(Shell(sources, clock, new_token, endings, reach), leadership, changed)
    service = Service(
        store=store,
        clock=clock,
        leadership=leadership,
        registry=registry,
        loop=loop,
        changed=changed,
        rules=_rules_of(settings, formats),
        reach=reach,
    )
    term = leadership.term
    compacting = Compacting(store, clock, term, registry, endings, changed, new_token)
    chores = _chores_of(settings, store, clock, leadership, endings, compacting=compacting)
    segments = chores.lifetimes.segments
    queues, operations = _queues_of(store, clock, leadership, registry, chores)
    for each, tables in formats.items():
        exporting = Exporting(each, tables, chores.sweep.warehouse, reach)
        queues.for_every_container(queue_name(each), exporting, EXPORTS)
    api = ApiParts(
        service=service,
        publishing=Publishing(store, clock, leadership, loop, changed, endings, reach),
        views=Views(sources, registry, loop, leadership, clock, str(warehouse), HttpJournals()),
        lifetimes=chores.lifetimes,
        handoffs=EarlyHandoff(store, clock, leadership, loop),
        resets=Resets(store, streams, clock, leadership, loop, changed, endings),
        queues=operations,
        quarantine=Quarantine(store, DuckRecords(warehouse)),
        compacting=chores.compacting,
        swapping=Swapping(store, clock, term, endings, segments, changed, compacting.assign, reach),
        changed=changed,
        version=importlib.metadata.version("tidegate"),
        hosts=_names(url, settings.host),
        tls=settings.trust(),
        authentication=_authentication_of(settings, store, clock),
    )
    return Overlord(store, leadership, service, loop, streams, queues, chores=chores, api=api)


class _OnFirstUse:
    """A table format whose library is loaded with the first export: it takes its memory."""

    def __init__(self, load: Callable[[], TableFormat]) -> None:
        self._load = functools.cache(load)

    def open(self, data_source: str) -> OpenTable:
        return self._load().open(data_source)


def table_formats(warehouse: Path, metadata_url: str) -> dict[ExportFormat, TableFormat]:
    """Return the formats whose libraries are installed, over the files of a warehouse."""

    def delta() -> TableFormat:
        from supervisor.adapters.delta import DeltaFormat

        return DeltaFormat(warehouse)

    def iceberg() -> TableFormat:
        from supervisor.adapters.iceberg import IcebergFormat

        return IcebergFormat(warehouse, bounded_url(metadata_url, CATALOG_WAIT))

    found: dict[ExportFormat, TableFormat] = {}
    if find_spec("pyiceberg"):
        found[ExportFormat.ICEBERG] = _OnFirstUse(iceberg)
    if find_spec("deltalake"):
        found[ExportFormat.DELTA] = _OnFirstUse(delta)
    return found


def _leadership_of(settings: Settings, store: SqlStore, clock: SystemClock, url: str) -> Leadership:
    holder = f"{url}#{os.getpid()}"
    leadership = Leadership(store, clock, holder=holder, url=url, ttl=settings.lease_ttl)
    store.on_fenced(leadership.lost)
    return leadership


def _registry_of(settings: Settings, clock: SystemClock, leadership: Leadership) -> WorkerRegistry:
    timeout = settings.worker_timeout
    return WorkerRegistry(clock, worker_timeout=timeout, led_since=leadership.led_since)


def _rules_of(settings: Settings, formats: Collection[ExportFormat]) -> Rules:
    return Rules(
        settings.allowed_brokers(),
        settings.pause_lease,
        registry_allow=allowed_registries(
            settings.registry_allow, on_loopback=settings.on_loopback
        ),
        exports=frozenset(formats),
    )


def _chores_of(
    settings: Settings,
    store: SqlStore,
    clock: SystemClock,
    leadership: Leadership,
    endings: Endings,
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
        store, clock, leadership.term, meters, wake=queues.wake, config_of=queues.config_of
    )
    return queues, operations


def _loop_of(shell: Shell, leadership: Leadership, changed: Broadcast) -> Loop:
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
    return loop


def limits_of(settings: Settings) -> Limits:
    """Return what the decisions need of the settings.

    Raises:
        SetupProblem: they contradict each other.
    """
    try:
        return Limits(
            period=settings.supervisor_period,
            pause_lease=settings.pause_lease,
            pause_timeout=settings.pause_timeout,
            progress_timeout=settings.progress_timeout,
        )
    except ValueError as error:
        raise SetupProblem(
            str(error), "lower TIDEGATE_PAUSE_TIMEOUT or raise TIDEGATE_PAUSE_LEASE"
        ) from error


def _authentication_of(
    settings: Settings, store: SqlStore, clock: SystemClock
) -> Authentication | None:
    if not settings.asks_who:
        return None
    lockout = Lockout(settings.lockout_failures, settings.lockout.total_seconds())
    rate = Rate(settings.rate_limit, settings.rate_limit * BURST_S)
    return Authentication(store, clock, passwords_of(settings), AccessRules(lockout, rate))


def passwords_of(settings: Settings) -> Argon2Passwords:
    """Return what hashes passwords as the operator has set."""
    return Argon2Passwords(settings.password_memory, settings.password_passes)


def _names(url: str, host: str) -> tuple[str, ...]:
    """Return the names under which clients may call; an address that means all is no name."""
    own = {urlsplit(url).hostname or "", host} - {"", "0.0.0.0", "::"}  # noqa: S104 -- left out
    return tuple(sorted(own))
