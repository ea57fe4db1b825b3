"""The composition root of the data plane: builds a worker process, from Java to tasks."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from threading import Thread

import psutil
import structlog
from pyspark import InheritableThread

from tasks.contract.kafka_client import ReadSecret
from tasks.contract.worker_facts import WorkerFacts
from tasks.ingest.engine import SparkEngine
from tasks.ingest.sample import SparkSampler
from tasks.kafka.schema_registry import RegistryClient
from tasks.kafka.stream import KafkaStream, environment_secret
from tasks.reporting.levels import ReportLevels
from tasks.runtime.errors import JarsError, RuntimePartError
from tasks.runtime.failpoints import Reach, nothing
from tasks.runtime.jars import FORMATS, SPARK, ensure_jars
from tasks.runtime.java import Java, find_java
from tasks.sending.doors import Doors
from tasks.sending.transport import Transport
from tasks.spark.class_archive import find_archive, start_with
from tasks.spark.conf import heap_bytes
from tasks.spark.session import SparkOptions, SparkRuntime, class_path
from tasks.worker.options import WorkerOptions
from tasks.worker.overlord_client import HttpOverlord
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.reporting.task_logs import TaskLogs
from tasks.worker.worker import DataFolderBusy, WorkerPorts, run_worker

log = structlog.get_logger()

_MASTER_CHARS_MAX = 500


@dataclass(frozen=True)
class WorkerSetup:
    """Settings of one worker process, as the operator gave them."""

    options: WorkerOptions
    java: str
    """`auto`, `bundled` or a path."""
    jars_dir: Path
    """Cache of the fetched jars."""
    jars_folder: Path | None
    """The operator's own jars; with them nothing is fetched."""
    spark_master: str
    spark_heap: str
    version: str
    """The version of this Tidegate."""
    reach: Reach = nothing
    """The operator's failpoints; nothing in production."""
    logs: TaskLogs | None = None
    """The task logs, if structlog was configured with them."""
    transport: Transport | None = None
    """The way of reports and logs to a store; None: nothing is sent."""
    doors: Doors = field(default_factory=Doors)
    """Where persisters are; overlords say it."""
    levels: ReportLevels = field(default_factory=ReportLevels)
    inline: bool = False
    """Logs go with the results of their tasks."""
    """Which tasks are reported."""
    waits_for_a_door: bool = False
    """Whether nothing is reported before an overlord has named a persister."""


def serve(setup: WorkerSetup, read_secret: ReadSecret = environment_secret) -> int:
    """Start Spark and run tasks until the worker must end; return the exit code.

    Call it from the main thread: the JVM lives as long as the thread that started it.

    Raises:
        RuntimePartError: Java or a jar is missing, Spark did not start, another worker uses
            the data folder, or the folder cannot be written.
    """
    try:
        return _serve(setup, read_secret)
    except (DataFolderBusy, OSError) as error:
        raise RuntimePartError(str(error)) from error


def _serve(setup: WorkerSetup, read_secret: ReadSecret) -> int:
    options = setup.options
    java = find_java(setup.java, options.data_dir / "truststore")
    spark = _spark_options(setup, java)
    schemas = RegistryClient(read_secret, allowed=options.connections.registry_allow)

    def warm(runtime: SparkRuntime) -> SparkEngine:
        engine = SparkEngine(
            runtime,
            options.warehouse,
            read_secret,
            poll_timeout=options.poll_timeout,
            schemas=schemas,
        )
        engine.warm()
        return engine

    folders = [folder for folder in (setup.jars_folder, setup.jars_dir) if folder is not None]
    archive = find_archive(java, class_path(spark), *folders)
    runtime, engine = start_with(archive, spark, warm)
    try:
        log.info("spark is warm", worker=options.worker_id, java=java.version, jvm=runtime.pid)
        with HttpOverlord(
            options.overlords,
            token=options.token,
            tls=options.tls,
            facts=lambda: _facts(setup, runtime.pid),
            hear_doors=setup.doors.hear,
        ) as overlord:
            outside = WorkerPorts(
                engine=engine,
                stream=KafkaStream(read_secret),
                overlord=overlord,
                sampler=SparkSampler(runtime, engine.jobs, read_secret, schemas),
                engine_alive=runtime.alive,
                engine_end=runtime.how_ended,
                engine_pid=lambda: runtime.pid,
                kill_engine=runtime.kill,
                progress=engine.progress,
                unended=engine.unended,
                start_thread=start_spark_thread,
                failpoint=setup.reach,
                logs=setup.logs,
                reports=_reports(setup),
            )
            return run_worker(options, outside)
    finally:
        runtime.stop()


def _reports(setup: WorkerSetup) -> WorkerReports | None:
    if setup.transport is None:
        return None
    options = setup.options
    when = setup.doors.when_known if setup.waits_for_a_door else None
    return WorkerReports(
        options.data_dir,
        options.worker_id,
        setup.transport,
        when_known=when,
        levels=setup.levels,
        inline=setup.inline,
    )


def _spark_options(setup: WorkerSetup, java: Java) -> SparkOptions:
    options = setup.options
    return SparkOptions(
        java=java,
        jars=_jars(setup, java),
        work_dir=options.data_dir / "spark",
        master=setup.spark_master,
        heap=setup.spark_heap,
        slots=options.slots,
        app_name=f"tidegate-{options.worker_id}",
    )


def _facts(setup: WorkerSetup, jvm: int) -> WorkerFacts:
    try:
        resident = psutil.Process(jvm).memory_info().rss
    except psutil.Error:  # the process has just ended
        resident = None
    return WorkerFacts(
        version=setup.version,
        running_for=timedelta(seconds=max(0.0, time.time() - psutil.Process().create_time())),
        spark_master=setup.spark_master[:_MASTER_CHARS_MAX],
        resident_bytes=resident,
        heap_max_bytes=heap_bytes(setup.spark_heap),
    )


def _jars(setup: WorkerSetup, java: Java) -> list[Path]:
    """Return Spark's jars; a folder from before there were formats is enough for all but Avro."""
    given = setup.jars_folder
    jars = ensure_jars(setup.jars_dir, java, SPARK, jars_folder=given, notify=_print_line)
    try:
        return jars + ensure_jars(
            setup.jars_dir, java, FORMATS, jars_folder=given, notify=_print_line
        )
    except JarsError as error:
        log.warning("this worker cannot read Avro", why=str(error))
        return jars


def start_spark_thread(name: str, run: Callable[[], None]) -> Thread:
    """Start a thread of PySpark's class, which releases its connection to the JVM when it ends."""
    thread = InheritableThread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def _print_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
