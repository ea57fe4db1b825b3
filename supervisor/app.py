"""The composition root: settings into running processes; with `overlord.py` it may import all.

run_overlord   `overlord.py`, served by HTTP    run_worker   Spark, engine, tasks
run_dev        broker, overlord and worker as child processes of one command
"""

import logging
import os
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO, TypedDict, cast
from urllib.parse import urlsplit

import structlog
import uvicorn

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.warehouse import LocalWarehouse
from supervisor.api.server import create_api
from supervisor.core.errors import MetadataUnavailable, SchemaTooNew
from supervisor.dev_options import DevOptions
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.overlord import wire_overlord
from supervisor.patience_http import ImpatientProtocol
from supervisor.principals import Principals
from supervisor.setting_types import allowed_registries
from supervisor.settings import OVERLORD_PORT, WORKER_PORT, Settings, stable_worker_id
from supervisor.settings_log import LogFormat
from supervisor.setup import SetupProblem
from supervisor.signals import Broadcast
from supervisor.warehouse_owner import take_possession
from supervisor.wiring import passwords_of
from tasks.failpoints import FailpointsError, Reach, reach_of
from tasks.log_stream import LossyStream
from tasks.runtime.errors import RuntimePartError

log = structlog.get_logger()

CONNECTIONS_MAX = 1_000
"""Beyond so many connections and requests the next is answered with 503."""
GRACEFUL_S = 2
"""How long open requests may go on after SIGTERM; a long poll is simply asked again."""


def configure_logging(
    *more: structlog.typing.Processor, form: LogFormat = "auto", worker: str = ""
) -> None:
    """Write one line per event to stderr: JSON for programs, colours for a terminal.

    `more` see each event before it is written.  A line of a worker names it.  What libraries say
    by the standard library's logging becomes a line of the same form, from warnings on.
    """
    stream = cast("TextIO", LossyStream(sys.stderr))
    terminal = sys.stderr.isatty()
    console = form == "console" or (form == "auto" and terminal)
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=terminal)
        if console
        else structlog.processors.JSONRenderer()
    )
    before: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        *([_naming(worker)] if worker else ()),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        *more,
    ]
    structlog.configure(
        processors=[*before, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(stream),
    )
    handler = logging.StreamHandler(stream)
    meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    name = structlog.stdlib.add_logger_name
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[name, *before], processors=[meta, renderer]
        )
    )
    handler.setLevel(logging.WARNING)
    logging.getLogger().handlers = [handler]


def _naming(worker: str) -> structlog.typing.Processor:
    def name(_: object, __: str, event: MutableMapping[str, object]) -> MutableMapping[str, object]:
        event.setdefault("worker", worker)
        return event

    return name


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


def failpoints() -> Reach:
    """Return what a process calls at the places it passes; without the variable, nothing happens.

    Raises:
        SetupProblem: the variable cannot be read.
    """
    try:
        return reach_of(os.environ)
    except FailpointsError as error:
        raise SetupProblem(str(error), "unset it: it is for tests of failures only") from error


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


class Tls(TypedDict, total=False):
    """Of uvicorn's settings."""

    ssl_certfile: str
    ssl_keyfile: str


def tls_of(settings: Settings) -> Tls:
    """Return what makes uvicorn serve HTTPS; empty: nothing does.

    Raises:
        SetupProblem: certificate and key are not both there, or do not fit.
    """
    cert, key = settings.tls_cert, settings.tls_key
    if cert is None and key is None:
        if not settings.on_loopback:
            log.warning("no TLS: passwords, tokens and data can be read on their way")
        return {}
    if cert is None or key is None:
        raise SetupProblem(
            "TLS needs a certificate and its key", "set TIDEGATE_TLS_CERT and TIDEGATE_TLS_KEY"
        )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: b"")
    except (OSError, ssl.SSLError) as error:
        raise SetupProblem(
            f"{cert} and {key} cannot be used for TLS: {error}",
            "name a certificate with its chain, and its key without a password, both as PEM",
        ) from error
    return {"ssl_certfile": str(cert), "ssl_keyfile": str(key)}


def require_admin(settings: Settings, store: SqlStore) -> None:
    """Return if an overlord that asks who calls has somebody who may answer.

    Raises:
        SetupProblem: there is no administrator.
    """
    if settings.asks_who and not principals_of(settings, store).has_admin():
        why = "TIDEGATE_AUTH=required" if settings.on_loopback else f"TIDEGATE_HOST={settings.host}"
        raise SetupProblem(
            f"with {why} callers are asked who they are, and nobody may administer this overlord",
            "make an administrator: tidegate access token create admin --role admin --on '*'",
        )


def principals_of(settings: Settings, store: SqlStore) -> Principals:
    """Return the verbs of `tidegate access` over a metadata database."""
    return Principals(store, SystemClock(), passwords_of(settings))


@contextmanager
def open_principals(settings: Settings) -> Iterator[Principals]:
    """Open the metadata database for `tidegate access`; no overlord need run.

    Raises:
        SetupProblem: it is newer than this version, or cannot be reached.
    """
    store = open_store(settings)
    try:
        yield principals_of(settings, store)
    finally:
        store.close()


def run_overlord(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code.

    Raises:
        SetupProblem: a port, folder, database or setting stands in the way.
    """
    configure_logging(form=settings.log_format)
    reach = failpoints()
    settings.allowed_brokers()
    tls = tls_of(settings)
    bound = listen(settings.host, settings.port or OVERLORD_PORT)
    writable_folder(settings.data_dir, "TIDEGATE_DATA_DIR")
    writable_folder(settings.warehouse, "TIDEGATE_WAREHOUSE")
    store = open_store(settings)
    require_admin(settings, store)
    take_possession(store, LocalWarehouse(settings.warehouse.absolute()))
    overlord = wire_overlord(settings, store, settings.url(OVERLORD_PORT), reach)
    scheduler = overlord.start()
    log.info("overlord", url=settings.url(OVERLORD_PORT), warehouse=str(settings.warehouse))
    try:
        config = uvicorn.Config(
            create_api(overlord.api),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACEFUL_S,
            http=ImpatientProtocol,
            ws="none",
            limit_concurrency=CONNECTIONS_MAX,
            proxy_headers=False,  # else a caller on this machine could name any address as its own
            **tls,
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
    from tasks.options import WorkerOptions, limits_within
    from tasks.process import WorkerSetup, serve
    from tasks.task_logs import TaskLogs

    writable_folder(settings.data_dir, "TIDEGATE_DATA_DIR")
    logs, worker_id = TaskLogs(settings.data_dir.absolute()), stable_worker_id(settings)
    configure_logging(logs, form=settings.log_format, worker=worker_id)
    reach = failpoints()
    writable_folder(settings.warehouse, "TIDEGATE_WAREHOUSE")
    port = settings.port or WORKER_PORT
    listen(settings.host, port).close()  # told before Spark starts, which takes its time
    setup = WorkerSetup(
        options=WorkerOptions(
            worker_id=worker_id,
            data_dir=settings.data_dir.absolute(),
            warehouse=str(settings.warehouse.absolute()),
            overlords=settings.overlords,
            host=settings.host,
            port=port,
            advertised_host=urlsplit(settings.url(port)).hostname,
            slots=settings.worker_slots,
            limits=limits_within(settings.progress_timeout),
            kafka_allow=settings.allowed_brokers(),
            registry_allow=allowed_registries(
                settings.registry_allow, on_loopback=settings.on_loopback
            ),
            token=settings.token(),
            tls=settings.trust(),
            lists_to_anybody=settings.on_loopback,
        ),
        java=settings.java,
        jars_dir=settings.data_dir.absolute() / "jars",
        jars_folder=settings.jars,
        spark_master=settings.spark_master,
        spark_heap=settings.spark_heap,
        reach=reach,
        logs=logs,
    )
    try:
        return serve(setup)
    except RuntimePartError as error:
        raise SetupProblem(str(error), "`tidegate doctor` looks at each part") from error


def run_dev(settings: Settings, options: DevOptions) -> int:
    """Run broker, overlord and worker as children of this process; return the exit code."""
    from supervisor.dev.run import Dev

    return Dev(settings, options).run()


__all__ = ["run_dev", "run_overlord", "run_worker"]
