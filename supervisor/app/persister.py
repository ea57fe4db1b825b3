"""The composition root of a persister: from settings to stores, topics, and an HTTP server."""

import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.kafka.dead_letters import KafkaDeadLetters
from supervisor.adapters.kafka.kept_letters import KafkaKeptLetters
from supervisor.adapters.kafka.record_feed import FeedOptions, KafkaFeed
from supervisor.adapters.kafka.report_topics import (
    LETTER_BYTES_MAX,
    ReportTopic,
    make_topics,
    small_topics,
)
from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.dead_letter_files import DeadLetterFiles
from supervisor.adapters.reports.kept_letter_files import KeptLetterFiles
from supervisor.adapters.reports.letter_marks import SqlLetterMarks
from supervisor.adapters.reports.sql import SqlReports
from supervisor.api.persister.server import create_persister_api
from supervisor.app.brokers import report_brokers
from supervisor.app.listening import new_server, tls_of
from supervisor.app.process import configure_logging, data_folder, listen, writable_folder
from supervisor.app.report_stores import logs_in, reports_url
from supervisor.app.serving import ServedPort, serve
from supervisor.ports.reports.dead_letters import DeadLetters
from supervisor.ports.reports.kept_letters import KeptLetters
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.reports.door import Door
from supervisor.reports.intake import Intake, IntakeOptions
from supervisor.reports.letters import LetterDesk
from supervisor.reports.pipeline import Pipeline, PipelineOptions
from supervisor.reports.retention import ReportRetention
from supervisor.reports.service import Persister
from supervisor.reports.storing import Storing
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import PERSISTER_PORT, Settings
from tasks.reporting.sizes import INLINE_TOPIC_BYTES, SMALL_TOPIC, larger_command
from tasks.runtime.http_guard import raise_file_limit

__all__ = ["persisting", "run_persister"]

log = structlog.get_logger()


@dataclass(frozen=True)
class _Wired:
    """A persister, and what is to be closed after it."""

    persister: Persister
    retention: ReportRetention
    closes: tuple[Callable[[], None], ...]


def run_persister(settings: Settings) -> int:
    """Store records until SIGTERM or SIGINT; return the exit code.

    Raises:
        SetupProblem: a port, folder, database or setting prevents the start.
    """
    configure_logging(form=settings.log_format)
    raise_file_limit()
    with persisting(settings) as role:
        return serve({role.server: role.bound}, lambda: None, list)


@contextmanager
def persisting(settings: Settings) -> Iterator[ServedPort]:
    """Run a persister as long as its block runs; its port is for the block to serve.

    Raises:
        SetupProblem: a port, folder, database or setting prevents the start.
    """
    tls = tls_of(settings)
    token = settings.token()
    if token is None and not settings.on_loopback:
        raise SetupProblem(
            f"with TIDEGATE_HOST={settings.host} others reach this persister, and it has no token",
            "set TIDEGATE_TOKEN_FILE, and TIDEGATE_REPORTS_KEY_FILE here and for the workers",
        )
    bound = listen(settings.host, settings.port or PERSISTER_PORT)
    data_folder(settings.data_dir)
    writable_folder(settings.warehouse, "TIDEGATE_WAREHOUSE")
    wired = _wire(settings)
    wired.persister.start()
    wired.retention.start()
    log.info("persister", url=settings.url(PERSISTER_PORT), topics=settings.reports_kafka or "none")
    api = create_persister_api(wired.persister, token, settings.reports_key())
    try:
        yield ServedPort(new_server(api, settings, tls), bound)
    finally:
        wired.retention.stop()
        wired.persister.stop()
        for close in wired.closes:
            close()


def _wire(settings: Settings) -> _Wired:
    instance = settings.reports_instance or _instance(settings)
    database = _open_database(settings)
    logs = logs_in(settings, database, instance)
    letters, kept, feed = _topics(settings, instance)
    reports = SqlReports(database)
    storing = Storing(reports, logs, letters)
    options = PipelineOptions(
        writers=settings.reports_writers,
        records_per_s=settings.reports_rate,
        bytes_per_s=settings.reports_rate_bytes,
    )
    pipeline = Pipeline(storing, options)
    intake_options = IntakeOptions()
    intake = None if feed is None else Intake(feed, pipeline, intake_options)
    door = Door(pipeline, intake_options.bounds)
    now = SystemClock().now
    ages = settings.reports_retention, settings.reports_archive_retention
    retention = ReportRetention(reports, logs, now, *ages, bytes_max=settings.reports_bytes)
    desk = LetterDesk(kept, SqlLetterMarks(database), now, storing, pipeline)
    closes = (letters.close, logs.close, database.close)
    return _Wired(Persister(pipeline, intake, door, desk), retention, closes)


def _open_database(settings: Settings) -> ReportDatabase:
    url = reports_url(settings)
    try:
        migrate_reports(url)
    except (StoreAway, StoreRefuses) as error:
        raise SetupProblem(
            str(error), "check TIDEGATE_REPORTS_URL and that the database is up"
        ) from error
    return ReportDatabase(url)


def _topics(settings: Settings, instance: str) -> tuple[DeadLetters, KeptLetters, KafkaFeed | None]:
    """Return where dead letters go, and the topics; without brokers letters go to files."""
    client = report_brokers(settings)
    if client is None:
        folder = settings.data_dir / "dead-letters"
        return DeadLetterFiles(folder), KeptLetterFiles(folder, instance), None
    prefix = settings.reports_prefix
    pattern = rf"{re.escape(prefix)}(completed[.-].*|activations)"
    dead = f"{prefix}dead.persister"
    if re.fullmatch(pattern, dead):
        raise SetupProblem(
            f"this persister would read its own dead letters from {dead}",
            "choose another TIDEGATE_REPORTS_PREFIX",
        )
    _make_topics(settings, client, dead)
    feed = KafkaFeed(FeedOptions(client, pattern, f"{prefix}persister", instance))
    return KafkaDeadLetters(client, dead, instance), KafkaKeptLetters(client, dead), feed


def _inline_topics(settings: Settings) -> Sequence[ReportTopic]:
    if settings.reports_mode == "chunked":
        return ()
    name = f"{settings.reports_prefix}activations"
    return (ReportTopic(name, partitions=4, days=7, bytes_max=INLINE_TOPIC_BYTES),)


def _make_topics(settings: Settings, client: Mapping[str, str], dead: str) -> None:
    """Make the topics; without the right to do so say who has to do what, and go on."""
    prefix = settings.reports_prefix
    topics = [
        ReportTopic(f"{prefix}completed.{settings.reports_topic}", partitions=4, days=7),
        ReportTopic(f"{prefix}completed-others", partitions=2, days=7),
        *_inline_topics(settings),
        ReportTopic(dead, partitions=1, days=30, bytes_max=LETTER_BYTES_MAX),
    ]
    troubles = make_topics(client, topics)
    for each in topics:
        if (why := troubles.get(each.name)) is not None:
            log.warning(
                "this process cannot make a topic: if it is missing, make it",
                topic=each.name,
                why=why,
                command=each.command,
            )
    for each, takes in small_topics(client, topics).items():
        log.warning(
            SMALL_TOPIC,
            topic=each.name,
            takes=f"{takes} bytes",
            command=larger_command(each.name, each.bytes_max),
        )


def _instance(settings: Settings) -> str:
    host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
    return f"persister-{host}-{settings.port or PERSISTER_PORT}"
