"""The roles of the compose file as local processes, in the environment that the file gives them.

What differs from the containers: names and ports are this machine's, folders are the test's, and
Kafka and PostgreSQL come from jars and a wheel.  Kafka gets the settings of the file all the same.

Slow: two of each role, workers with Spark among them, start as the compose file has them.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql

from supervisor.dev.ports import LOOPBACK, accepts, free_port
from supervisor.dev.processes import Child, ChildSpec, tail
from tasks.runtime.jars import SPARK
from tests.environment.brokers import (
    create_topic,
    new_broker,
    read_all,
    shared_jars,
    shared_jars_dir,
)
from tests.environment.compose import Compose, Service, read_compose, read_image
from tests.environment.postgres import Server, postgres
from tests.waiting import wait_until

pytestmark = [pytest.mark.pg, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

HEALTHY_WITHIN_S = 240.0
ASK_TIMEOUT_S = 10.0
_NOT_PROPERTIES = {"KAFKA_HEAP_OPTS"}
_LISTENER = re.compile(r"(//|@)[a-z0-9.]*:(\d+)")


@dataclass(frozen=True)
class Place:
    """Where the test puts what the file puts into containers."""

    folder: Path
    addresses: dict[str, str]
    """`name:port` of the file -> `host:port` here."""

    def address(self, name: str, port: str | int) -> str:
        """Return where a service listens here."""
        return self.addresses[f"{name}:{port}"]

    def environment(self, name: str, service: Service) -> dict[str, str]:
        """Return a role's environment with names, ports and folders of this machine."""
        given = read_image().environment() | service.environment
        ours = {k: self._here(v) for k, v in given.items() if k.startswith("TIDEGATE_")}
        return ours | {
            "TIDEGATE_HOST": LOOPBACK,
            "TIDEGATE_AUTH": "required",  # as it is beyond loopback
            "TIDEGATE_TOKEN_FILE": str(self.folder / given["TIDEGATE_TOKEN_FILE"].lstrip("/")),
            "TIDEGATE_PORT": self._port(name, given["TIDEGATE_PORT"]),
            "TIDEGATE_INTERNAL_PORT": self._port(name, given.get("TIDEGATE_INTERNAL_PORT")),
            "TIDEGATE_DATA_DIR": str(self.folder / name / given["TIDEGATE_DATA_DIR"].lstrip("/")),
            "TIDEGATE_WAREHOUSE": str(self.folder / given["TIDEGATE_WAREHOUSE"].lstrip("/")),
            "TIDEGATE_JARS": str(shared_jars_dir()),
            # As in the file: requests that name it must pass.
            "TIDEGATE_ADVERTISED_URL": given.get("TIDEGATE_ADVERTISED_URL", ""),
        }

    def make_tokens(self, service: Service) -> None:
        """Run the service that makes them, to its end."""
        command = [
            str(self.folder / word.lstrip("/")) if word.startswith("/") else word
            for word in service.command
        ]
        for folder in service.written():
            (self.folder / folder.lstrip("/")).mkdir()
        given = {k: self._here(v) for k, v in service.environment.items()}
        own = {"TIDEGATE_DATA_DIR": str(self.folder / "tokens"), "TIDEGATE_TOKEN_FILE": ""}
        subprocess.run(
            [sys.executable, "-m", "supervisor.cli.main", *command],
            env=os.environ | given | own,
            cwd=self.folder,
            timeout=120,
            check=True,
        )

    @property
    def token(self) -> str:
        """The administrator's."""
        return (self.folder / "access" / "admin.token").read_text().strip()

    def health_argv(self, name: str, service: Service) -> tuple[str, ...]:
        """Return a role's own health check, asking the port that it has here."""
        address = service.healthcheck.url.netloc
        here = self.address(name, address.rpartition(":")[2])
        assert service.healthcheck.argv[0] == "python"
        return (sys.executable, *(a.replace(address, here) for a in service.healthcheck.argv[1:]))

    def _port(self, name: str, port: str | None) -> str:
        return "" if port is None else self.address(name, port).rpartition(":")[2]

    def _here(self, text: str) -> str:
        for there, here in self.addresses.items():
            text = text.replace(there, here)
        return text


def _add_login(server: Server, compose: Compose) -> None:
    """Make the user and the database that the image of PostgreSQL makes at its first start."""
    environment = compose.services["postgres"].environment
    user, database = (
        sql.Identifier(environment["POSTGRES_USER"]),
        sql.Identifier(environment["POSTGRES_DB"]),
    )
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        password = sql.Literal(environment["POSTGRES_PASSWORD"])
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(user, password))
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, user))


def _broker_properties(service: Service, place: Place, data: Path) -> str:
    """Return the file's variables as the image of Kafka turns them into properties."""
    named = {
        name.removeprefix("KAFKA_").lower().replace("_", "."): value
        for name, value in service.environment.items()
        if name.startswith("KAFKA_") and name not in _NOT_PROPERTIES
    }
    ports = {there.rpartition(":")[2]: here for there, here in place.addresses.items()}
    for key in ("listeners", "advertised.listeners", "controller.quorum.voters"):
        named[key] = _LISTENER.sub(lambda found: f"{found[1]}{ports[found[2]]}", named[key])
    named["log.dirs"] = str(data)
    return "".join(f"{name}={value}\n" for name, value in named.items())


@dataclass(frozen=True)
class Running:
    """What the fixture started."""

    compose: Compose
    place: Place
    children: dict[str, Child]

    def ask(self, name: str, path: str, **headers: str) -> httpx.Response:
        """Ask an overlord."""
        url = f"http://{self.place.address(name, 8090)}{path}"
        known = {"Authorization": f"Bearer {self.place.token}"}
        return httpx.get(url, timeout=ASK_TIMEOUT_S, headers=known | headers)

    def leaders(self) -> list[str]:
        """Return the overlords that say that they lead."""
        names = self.compose.ours("overlord")
        path = "/druid/indexer/v1/isLeader"
        return [n for n in names if self.ask(n, path).status_code == httpx.codes.OK]

    def await_health(self, name: str) -> None:
        """Run a role's health check, as Docker would, until it succeeds."""
        child = self.children[name]
        service = self.compose.services[name]
        argv = self.place.health_argv(name, service)
        port = int(self.place.address(name, service.healthcheck.url.port or 0).rpartition(":")[2])

        def healthy() -> bool:
            assert child.alive(), f"{name} ended with {child.exit_code()}: {tail(child.log)}"
            if not accepts(port):  # spares a process for each look
                return False
            check = subprocess.run(argv, capture_output=True, timeout=60, check=False)
            return check.returncode == 0

        wait_until(healthy, within_s=HEALTHY_WITHIN_S)


def _started(stack: ExitStack, spec: ChildSpec) -> Child:
    child = Child(spec)
    child.start()
    stack.callback(child.stop)
    return child


def _start_kafka(stack: ExitStack, compose: Compose, place: Place) -> None:
    service = compose.services["kafka"]
    folder = place.folder / "kafka"
    folder.mkdir()
    (folder / "cluster-id").write_text(service.environment["CLUSTER_ID"])
    broker = new_broker(folder)
    broker.prepare()
    properties = _broker_properties(service, place, folder / "data")
    (folder / "server.properties").write_text(properties)
    child = _started(stack, broker.spec())
    port = int(place.address("kafka", 9092).rpartition(":")[2])
    wait_until(lambda: accepts(port) or not child.alive())
    assert child.alive(), tail(child.log)


def _start_role(stack: ExitStack, place: Place, name: str, service: Service) -> Child:
    grace = service.stop_grace_period
    assert grace is not None
    spec = ChildSpec(
        name=name,
        argv=(sys.executable, "-m", "supervisor.cli.main", *service.command),
        folder=place.folder / "logs",
        env=place.environment(name, service),
        cwd=place.folder,
        grace=timedelta(seconds=int(grace.removesuffix("s"))),
    )
    return _started(stack, spec)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The services of the file, started in the order in which it lets them start."""
    compose = read_compose()
    shared_jars(SPARK)
    wanted = ["kafka:9092", "kafka:9093", "kafka:9094"]
    wanted += [
        f"{name}:{service.environment[port]}"
        for name, service in compose.roles.items()
        for port in ("TIDEGATE_PORT", "TIDEGATE_INTERNAL_PORT")
        if port in service.environment
    ]
    addresses = {a: f"{LOOPBACK}:{free_port()}" for a in wanted}
    with ExitStack() as stack:
        server = stack.enter_context(postgres())
        _add_login(server, compose)
        addresses["postgres:5432"] = f"{LOOPBACK}:{server.port}"
        place = Place(tmp_path_factory.mktemp("compose"), addresses)
        _start_kafka(stack, compose, place)
        place.make_tokens(compose.services["access"])
        children = {
            name: _start_role(stack, place, name, service)
            for role in ("overlord", "persister", "executor", "worker")
            for name, service in compose.ours(role).items()
        }
        yield Running(compose, place, children)


def test_the_roles_become_healthy_agree_on_a_leader_and_stop_in_good_order(
    running: Running,
) -> None:
    """Goal: what the file says is enough to run, and `docker compose stop` loses nothing."""
    for name in running.compose.roles:
        running.await_health(name)

    wait_until(lambda: len(running.leaders()) == 1)
    [leader] = running.leaders()
    kafka = running.place.address("kafka", 9092)
    create_topic(kafka, "clicks", partitions=2)

    def registered() -> set[str]:
        workers = running.ask(leader, "/druid/indexer/v1/workers").json()
        return {one["worker"]["host"] for one in workers if not one["stopping"]}

    here = {running.place.address(name, 8091) for name in running.compose.ours("worker")}
    wait_until(lambda: registered() == here)
    for name in running.compose.ours("overlord"):
        answer = running.ask(name, "/status/health", Host=f"{name}:8090")
        assert answer.status_code == httpx.codes.OK, "the others call it by this name"
    assert read_all(running.place.address("kafka", 9094), "clicks") == {0: [], 1: []}

    codes = {}
    for name, child in reversed(running.children.items()):
        child.stop()
        codes[name] = child.exit_code()
    assert codes == dict.fromkeys(running.compose.roles, 0)
