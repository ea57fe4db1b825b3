"""The composition root: turns settings into running processes.  It alone may import everything.

run_overlord   store, lease, loop, API           run_worker   Spark, engine, tasks
run_dev        broker, overlord and worker as child processes of one command
"""

import importlib.metadata
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

import structlog
import uvicorn
from apscheduler.schedulers.background import BackgroundScheduler

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.journals_http import HttpJournals
from supervisor.adapters.kafka import KafkaStreams
from supervisor.adapters.secret import read_secret
from supervisor.api.server import ApiParts, create_api
from supervisor.cleaning import Cleaning
from supervisor.core.errors import LeaseLost, MetadataUnavailable, SchemaTooNew, SupervisorError
from supervisor.core.model import Limits
from supervisor.leadership import Leadership
from supervisor.loop import Loop
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.observe import Sources
from supervisor.publishing import Publishing
from supervisor.reconcile import Pass, Shell, make_pass
from supervisor.registry import WorkerRegistry
from supervisor.service import Rules, Service, new_token
from supervisor.settings import OVERLORD_PORT, WORKER_PORT, DevOptions, Settings, stable_worker_id
from supervisor.setup import SetupProblem
from supervisor.signals import Broadcast
from supervisor.views import Views
from tasks.runtime.errors import RuntimePartError

log = structlog.get_logger()

PASS_THREADS = 4
GRACEFUL_S = 2
"""How long open requests may go on after SIGTERM; a long poll is simply asked again."""


def configure_logging() -> None:
    """Write one line per event to stderr: JSON for programs, colours for a terminal."""
    terminal = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def listen(host: str, port: int) -> socket.socket:
    """Bind the server's socket before anything else starts.

    Raises:
        SetupProblem: the port is taken, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise SetupProblem(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            "stop what listens there, or choose another with --port or TIDEGATE_PORT",
        ) from error
    bound.listen(socket.SOMAXCONN)
    return bound


def writable_folder(folder: Path, setting: str) -> Path:
    """Make the folder and prove that it can be written.

    Raises:
        SetupProblem: it cannot.
    """
    probe = folder / f".tidegate-probe-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise SetupProblem(
            f"{folder} is not writable: {error.strerror or error}",
            f"set {setting} to a folder that this user may write",
        ) from error
    return folder


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
        )
    except ValueError as error:
        raise SetupProblem(
            str(error), "lower TIDEGATE_PAUSE_TIMEOUT or raise TIDEGATE_PAUSE_LEASE"
        ) from error


def open_store(settings: Settings) -> SqlStore:
    """Bring the metadata database to this version's schema and open it.

    Raises:
        SetupProblem: it is newer than this version, or cannot be reached.
    """
    try:
        migrate(settings.metadata_url)
        return SqlStore(settings.metadata_url, lease_ttl=settings.lease_ttl)
    except SchemaTooNew as error:
        raise SetupProblem(str(error), "run the version of Tidegate that migrated it") from error
    except MetadataUnavailable as error:
        raise SetupProblem(
            str(error), "check TIDEGATE_METADATA_URL and that the database is up"
        ) from error


@dataclass(frozen=True)
class Overlord:
    """The wired parts of one overlord process."""

    store: SqlStore
    leadership: Leadership
    service: Service
    loop: Loop
    streams: KafkaStreams
    cleaning: Cleaning
    api: ApiParts

    def start(self) -> BackgroundScheduler:
        """Start to compete for the lease, to make passes, and the timers that wake them."""
        self.loop.start()
        self.leadership.start(on_lead=self.service.start_term)
        # It holds no truth and only wakes; a late job runs all the same (H2).
        scheduler = BackgroundScheduler(
            timezone="UTC",
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        scheduler.add_job(self._wake, "interval", seconds=30)
        scheduler.add_job(self._clean, "interval", seconds=5)
        scheduler.start()
        return scheduler

    def _wake(self) -> None:
        if self.leadership.leads():
            _tolerating(self.service.wake_all)

    def _clean(self) -> None:
        if self.leadership.leads():
            _tolerating(self.cleaning.run_once)

    def stop(self, scheduler: BackgroundScheduler) -> None:
        """End in good order: no pass runs on, the lease is free for the next."""
        scheduler.shutdown(wait=False)
        self.loop.stop()
        self.streams.stop()
        self.leadership.stop()
        self.store.close()


def _tolerating(chore: Callable[[], object]) -> None:
    try:
        chore()
    except SupervisorError as error:
        log.warning("a chore was put off", error=str(error))


def wire_overlord(settings: Settings, store: SqlStore, url: str) -> Overlord:
    """Build an overlord's parts; nothing runs and nothing connects yet."""
    clock = SystemClock()
    changed = Broadcast()
    leadership = Leadership(
        store, clock, holder=f"{url}#{os.getpid()}", url=url, ttl=settings.lease_ttl
    )
    registry = WorkerRegistry(
        clock, worker_timeout=settings.worker_timeout, led_since=leadership.led_since
    )
    streams = KafkaStreams(clock, read_secret, on_news=lambda found: loop.wake(found))  # noqa: PLW0108 -- made below
    sources = Sources(store, streams, registry, limits_of(settings))
    shell = Shell(sources, clock, new_token)

    def one_pass(supervisor_id: str) -> Pass | None:
        try:
            made = make_pass(supervisor_id, shell, leadership.term())
        except LeaseLost:
            loop.forget()
            raise
        if made is not None and made.decided.actions:
            changed.notify()
        return made

    loop = Loop(one_pass, clock, threads=PASS_THREADS)
    service = Service(
        store=store,
        clock=clock,
        leadership=leadership,
        registry=registry,
        loop=loop,
        changed=changed,
        rules=Rules(settings.allowed_brokers(), settings.pause_lease),
    )
    warehouse = settings.warehouse.absolute()
    publishing = Publishing(store, clock, leadership, loop, changed)
    journals = HttpJournals()
    views = Views(sources, registry, loop, leadership, clock, str(warehouse), journals)
    cleaning = Cleaning(store, registry, clock, leadership.term, warehouse, settings.gc_delay)
    api = ApiParts(
        service=service,
        publishing=publishing,
        views=views,
        changed=changed,
        version=importlib.metadata.version("tidegate"),
        hosts=_names(url, settings.host),
    )
    return Overlord(store, leadership, service, loop, streams, cleaning, api)


def _names(url: str, host: str) -> tuple[str, ...]:
    """Return the names under which clients may call; an address that means all is no name."""
    own = {urlsplit(url).hostname or "", host} - {"", "0.0.0.0", "::"}  # noqa: S104 -- left out
    return tuple(sorted(own))


def run_overlord(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code.

    Raises:
        SetupProblem: a port, folder, database or setting stands in the way.
    """
    configure_logging()
    settings.allowed_brokers()
    bound = listen(settings.host, settings.port or OVERLORD_PORT)
    writable_folder(settings.data_dir, "TIDEGATE_DATA_DIR")
    writable_folder(settings.warehouse, "TIDEGATE_WAREHOUSE")
    overlord = wire_overlord(settings, open_store(settings), settings.url(OVERLORD_PORT))
    scheduler = overlord.start()
    log.info("overlord", url=settings.url(OVERLORD_PORT), warehouse=str(settings.warehouse))
    try:
        config = uvicorn.Config(
            create_api(overlord.api),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACEFUL_S,
        )
        return _serve(uvicorn.Server(config), bound, overlord.api.changed)
    finally:
        overlord.stop(scheduler)


def _serve(server: uvicorn.Server, bound: socket.socket, polls: Broadcast) -> int:
    """Serve until SIGTERM or SIGINT, or until the server fails; return the exit code.

    In a thread, for uvicorn's own handlers raise the signal again once it has stopped: the lease
    would never be given back.
    """
    ended = threading.Event()

    def run() -> None:
        try:
            server.run(sockets=[bound])
        finally:
            ended.set()

    asked: list[int] = []

    def on_signal(number: int, _: FrameType | None) -> None:
        asked.append(number)
        server.should_exit = True
        polls.close()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    thread = threading.Thread(target=run, name="http", daemon=True)
    thread.start()
    while not ended.wait(0.2):  # a bare wait would not let the handlers run
        pass
    thread.join()
    return 0 if asked else 1


def run_worker(settings: Settings) -> int:
    """Start Spark and run tasks until SIGTERM or SIGINT; return the exit code.

    Raises:
        SetupProblem: Java, jars, a folder or a port stands in the way.
    """
    # Imported here: the control plane starts without Java and without PySpark.
    from tasks.options import WorkerOptions
    from tasks.process import WorkerSetup, serve

    configure_logging()
    writable_folder(settings.data_dir, "TIDEGATE_DATA_DIR")
    writable_folder(settings.warehouse, "TIDEGATE_WAREHOUSE")
    port = settings.port or WORKER_PORT
    listen(settings.host, port).close()  # told before Spark starts, which takes its time
    setup = WorkerSetup(
        options=WorkerOptions(
            worker_id=stable_worker_id(settings),
            data_dir=settings.data_dir.absolute(),
            warehouse=str(settings.warehouse.absolute()),
            overlords=settings.overlords,
            host=settings.host,
            port=port,
            advertised_host=urlsplit(settings.url(port)).hostname,
            slots=settings.worker_slots,
            kafka_allow=settings.allowed_brokers(),
        ),
        java=settings.java,
        jars_dir=settings.data_dir.absolute() / "jars",
        jars_folder=settings.jars,
        spark_master=settings.spark_master,
        spark_heap=settings.spark_heap,
    )
    try:
        return serve(setup, read_secret)
    except RuntimePartError as error:
        raise SetupProblem(str(error), "`tidegate doctor` looks at each part") from error


def run_dev(settings: Settings, options: DevOptions) -> int:
    """Run broker, overlord and worker as children of this process; return the exit code."""
    from supervisor.dev.run import Dev

    return Dev(settings, options).run()


__all__ = ["run_dev", "run_overlord", "run_worker"]
