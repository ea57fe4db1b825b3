"""The sequence of checks of `tidegate doctor`, in the order in which a start needs the parts."""

import os
from collections.abc import Iterator, Sequence

from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.cluster.doctor.checks import (
    check_broker,
    check_disk,
    check_folder,
    check_jars,
    check_java,
    check_metadata,
    check_port,
)
from supervisor.cli.cluster.doctor.executions import check_execution_topics, check_executions
from supervisor.cli.cluster.doctor.executors import check_executors
from supervisor.cli.cluster.doctor.reports import check_reports
from supervisor.cli.shell.client import SUPERVISORS, WORKERS, Client
from supervisor.core.planning.observed import Liveness
from supervisor.core.spec.sections.kafka_properties import client_of
from supervisor.core.values.errors import InvalidSpec, SupervisorError
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import OVERLORD_PORT, WORKER_PORT, Settings, misspelt
from supervisor.views.workers import WorkerLine
from tasks.contract.kafka_client import KafkaClient
from tasks.runtime.jars import JarGroup


def diagnose(
    settings: Settings, client: Client, kafka: str | None, *, named: bool, fetch: bool
) -> Iterator[InstallationCheck]:
    """Yield every check; `named`: the user named the overlord, so it is a problem if it is down."""
    yield from _settings(settings)
    yield from _parts(settings, fetch=fetch)
    yield from _connections(client, kafka, named=named)
    yield from check_execution_topics(settings)
    yield from check_executors(settings)
    yield from check_reports(settings)


def _settings(settings: Settings) -> Iterator[InstallationCheck]:
    for name, meant in misspelt(os.environ).items():
        yield InstallationCheck(
            "settings", Result.PROBLEM, f"{name} is not a setting", f"write {meant}"
        )
    try:
        settings.connections()
    except SetupProblem as error:
        yield InstallationCheck("settings", Result.PROBLEM, str(error), error.fix)


WORKER_HEALTH = "/status/health"
"""A route of every worker, open to all."""


def _parts(settings: Settings, *, fetch: bool) -> Iterator[InstallationCheck]:
    """Check the parts on this machine."""
    checked, java = check_java(settings.java, settings.data_dir)
    yield checked
    for part in JarGroup:
        yield check_jars(part, settings.data_dir, settings.jars, java, fetch=fetch)
    yield check_metadata(settings.metadata_url)
    yield check_executions(settings)
    yield check_folder("data folder", settings.data_dir, "TIDEGATE_DATA_DIR", private=True)
    yield check_disk("room for data", settings.data_dir)
    yield check_folder("warehouse", settings.warehouse, "TIDEGATE_WAREHOUSE")
    yield check_disk("room for tables", settings.warehouse)
    yield check_port("overlord's port", settings.port or OVERLORD_PORT, "/status")
    if settings.port is None:
        yield check_port("worker's port", WORKER_PORT, WORKER_HEALTH)


def _connections(client: Client, kafka: str | None, *, named: bool) -> Iterator[InstallationCheck]:
    """Check the parts behind the network; an overlord that was not named may be down."""
    brokers: list[KafkaClient] = []
    try:
        rows = client.get(SUPERVISORS, {"full": "true"}).read(list[dict[str, object]])
        workers = client.get(WORKERS).read(list[WorkerLine])
    except SupervisorError as error:
        by_name = named or "TIDEGATE_OVERLORDS" in os.environ
        result = Result.PROBLEM if by_name else Result.NOTE
        yield InstallationCheck(
            "overlord", result, str(error), "start it: tidegate dev, or tidegate overlord"
        )
    else:
        found = f"{', '.join(client.servers)} answers, {len(rows)} supervisors"
        yield InstallationCheck("overlord", Result.OK, found)
        yield _workers(workers)
        brokers = list(_brokers(rows))
    if kafka is not None:
        brokers = [KafkaClient(bootstrap_servers=kafka)]
    for broker in brokers:
        yield check_broker(broker)
    if not brokers:
        yield InstallationCheck(
            "kafka", Result.NOTE, "no broker is known yet: name one with --kafka"
        )


def _workers(lines: Sequence[WorkerLine]) -> InstallationCheck:
    lost = [line.worker.id for line in lines if line.liveness is Liveness.LOST]
    if lost:
        return InstallationCheck(
            "workers",
            Result.PROBLEM,
            f"{', '.join(lost)}: LOST, so what their tasks left is not deleted",
            "start them again, or, if they are gone for good: tidegate worker forget ID",
        )
    if not lines:
        return InstallationCheck("workers", Result.NOTE, "there is none: tidegate worker runs one")
    return InstallationCheck("workers", Result.OK, f"{len(lines)}, none is lost")


def _brokers(rows: Sequence[dict[str, object]]) -> Iterator[KafkaClient]:
    """Yield each Kafka connection of the supervisors, once."""
    seen: list[KafkaClient] = []
    for row in rows:
        spec = row.get("spec")
        io_config = spec.get("ioConfig") if isinstance(spec, dict) else None
        properties = io_config.get("consumerProperties") if isinstance(io_config, dict) else None
        if not isinstance(properties, dict):
            continue
        try:
            client = client_of(properties)
        except InvalidSpec:
            continue
        if client not in seen:
            seen.append(client)
            yield client
