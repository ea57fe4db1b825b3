"""The composition root of a worker: from settings to Spark, the engine and tasks.

Of the control plane it imports only settings, to save a worker's memory.
"""

from importlib.metadata import version
from urllib.parse import urlsplit

from supervisor.app.brokers import report_brokers
from supervisor.app.process import (
    configure_logging,
    data_folder,
    failpoints,
    listen,
    writable_folder,
)
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import WORKER_PORT, Settings
from supervisor.settings.worker_id import stable_worker_id
from tasks.reporting.levels import read_levels
from tasks.runtime.errors import RuntimePartError
from tasks.runtime.http_guard import raise_file_limit
from tasks.sending.doors import Doors
from tasks.sending.http_transport import HttpTransport
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.transport import Transport
from tasks.worker.options import WorkerOptions, limits_within
from tasks.worker.process import WorkerSetup, serve
from tasks.worker.reporting.task_logs import TaskLogs


def worker_options(settings: Settings) -> WorkerOptions:
    """Return the worker's options: its identity, its folders and its overlords.

    Raises:
        SetupProblem: the data folder cannot be written, or a setting cannot be read.
    """
    port = settings.port or WORKER_PORT
    return WorkerOptions(
        worker_id=stable_worker_id(settings),
        data_dir=settings.data_dir.absolute(),
        warehouse=str(settings.warehouse.absolute()),
        overlords=settings.overlords,
        host=settings.host,
        port=port,
        advertised_host=urlsplit(settings.url(port)).hostname,
        slots=settings.worker_slots,
        limits=limits_within(settings.progress_timeout),
        connections=settings.connections(),
        connections_per_address=settings.connections_per_address,
        token=settings.token(),
        tls=settings.trust(),
        lists_to_anybody=settings.on_loopback,
    )


def run_worker(settings: Settings) -> int:
    """Start Spark and run tasks until SIGTERM or SIGINT; return the exit code.

    Raises:
        SetupProblem: Java, jars, a folder or a port prevents the start.
    """
    raise_file_limit()
    data_folder(settings.data_dir)
    options = worker_options(settings)
    logs = TaskLogs(options.data_dir)
    configure_logging(logs, form=settings.log_format, worker=options.worker_id)
    reach = failpoints()
    writable_folder(settings.warehouse, "TIDEGATE_WAREHOUSE")
    listen(options.host, options.port).close()  # warn before Spark starts, which takes its time
    doors = Doors(settings.reports_persister)
    setup = WorkerSetup(
        options=options,
        java=settings.java,
        jars_dir=options.data_dir / "jars",
        jars_folder=settings.jars,
        spark_master=settings.spark_master,
        spark_heap=settings.spark_heap,
        version=version("tidegate"),
        reach=reach,
        logs=logs,
        transport=_transport(settings, options.worker_id, doors),
        doors=doors,
        levels=read_levels(settings.reports_level),
        inline=settings.reports_mode == "inline",
        waits_for_a_door=_way(settings) == "direct" and settings.reports == "auto",
    )
    try:
        return serve(setup)
    except RuntimePartError as error:
        raise SetupProblem(str(error), "`tidegate doctor` looks at each part") from error


def _way(settings: Settings) -> str:
    """Return how reports leave: `kafka`, `direct`, `off`."""
    if settings.reports == "auto":
        return "kafka" if settings.reports_kafka else "direct"
    return settings.reports


def _transport(settings: Settings, worker_id: str, doors: Doors) -> Transport | None:
    """Return the way of reports to their topic or persister; None: they are switched off.

    Raises:
        SetupProblem: they are to go by Kafka, and no brokers are named, or the key of persisters
            cannot be read, or the file of client properties.
    """
    way = _way(settings)
    if way == "off":
        return None
    if way == "direct":
        return HttpTransport(lambda: doors.addresses, settings.reports_key(), settings.trust())
    client = report_brokers(settings)
    if client is None:
        raise SetupProblem(
            "TIDEGATE_REPORTS=kafka needs brokers", "set TIDEGATE_REPORTS_KAFKA to their addresses"
        )
    name = f"completed.{settings.reports_topic}"
    topic = settings.reports_prefix + ("activations" if settings.reports_mode == "inline" else name)
    return KafkaTransport(client, topic, f"{worker_id}-reports")
