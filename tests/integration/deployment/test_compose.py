"""The compose file and the image agree with the product: names, settings, paths, bounds.

Docker is not needed: what the files say is compared with what the product has.
`test_compose_roles.py` runs the same roles, with the same environment, as local processes.
"""

import re
import tomllib
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest
import typer
from starlette.testclient import TestClient

from supervisor.cli.commands import app
from supervisor.settings.access import PREFIX
from supervisor.settings.settings import Settings, load_settings, misspelt, settings_table
from tasks.runtime.jars import JarGroup, pinned_set, set_name
from tasks.worker.http.control_api import create_app
from tasks.worker.roster import Roster
from tests.environment.compose import Compose, Image, read_compose, read_image
from tests.supervisor.api.description import description
from tests.tidy.sources import ROOT

COMPOSE = read_compose()
ROLES = sorted(COMPOSE.roles)
_UNITS = {"m": 1, "g": 1024}


@pytest.fixture
def compose() -> Compose:
    return COMPOSE


@pytest.fixture
def image() -> Image:
    return read_image()


def _environment(service: str) -> dict[str, str]:
    return read_image().environment() | COMPOSE.services[service].environment


@pytest.fixture
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """The settings as a service's process reads them."""
    for row in settings_table():
        monkeypatch.delenv(row.name, raising=False)
    for name, value in _environment(request.param).items():
        if name.startswith(PREFIX):
            monkeypatch.setenv(name, value)
    monkeypatch.delenv("TIDEGATE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    return load_settings()


def _megabytes(size: str) -> int:
    return int(size[:-1]) * _UNITS[size[-1].lower()]


def test_it_runs_two_of_each_role_over_kafka_and_postgresql(compose: Compose) -> None:
    assert set(compose.ours("overlord")) == {"overlord-1", "overlord-2"}
    assert set(compose.ours("worker")) == {"worker-1", "worker-2"}
    assert set(compose.ours("persister")) == {"persister-1", "persister-2"}
    assert set(compose.ours("executor")) == {"executor-1", "executor-2"}
    assert set(compose.services) - set(compose.roles) == {"kafka", "postgres", "access"}


@pytest.mark.parametrize("service", ROLES)
def test_every_command_is_one_of_tidegate(service: str, image: Image) -> None:
    group = cast("typer.core.TyperGroup", typer.main.get_command(app))
    script = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]

    [command] = COMPOSE.services[service].command

    assert command in group.commands
    assert image.listed("ENTRYPOINT") == ["tidegate"]
    assert script == {"tidegate": "supervisor.cli.main:main"}


@pytest.mark.parametrize("service", ROLES)
def test_every_variable_of_ours_is_a_setting(service: str) -> None:
    ours = {name: value for name, value in _environment(service).items() if PREFIX in name}

    assert ours.keys() - {row.name for row in settings_table()} == set()
    assert misspelt(ours) == {}


@pytest.mark.parametrize(
    ("service", "settings"), [(name, name) for name in ROLES], indirect=["settings"]
)
def test_every_value_is_accepted_and_names_a_service(service: str, settings: Settings) -> None:
    role = COMPOSE.services[service].role
    persisters = {f"http://{name}:8092" for name in COMPOSE.ours("persister")}
    port = {"worker": 8092, "executor": 8092}.get(str(role), 8090)
    overlords = {f"http://{name}:{port}" for name in COMPOSE.ours("overlord")}

    assert settings.host == "0.0.0.0"  # noqa: S104 -- inside a container; ports are checked below
    assert settings.allowed_brokers() == ("kafka:9092",)
    assert role == "executor" or settings.reports_kafka == "kafka:9092"
    assert role in {"worker", "executor"} or set(settings.reports_persister) == persisters
    runs_flows = role in {"overlord", "executor"}
    assert settings.executions_kafka == ("kafka:9092" if runs_flows else None)
    if role == "persister":
        assert settings.reports_instance == service
        assert urlsplit(settings.metadata_url).hostname in COMPOSE.services
        return
    assert set(settings.overlords) == overlords
    if role == "overlord":
        assert settings.internal_port == 8092, "workers name it"
        assert settings.url(0) == f"http://{service}:{settings.port}"
        assert urlsplit(settings.metadata_url).hostname in COMPOSE.services
    elif role == "executor":
        assert settings.executor_name == service
        assert urlsplit(settings.metadata_url).hostname in COMPOSE.services
    else:
        assert settings.worker_id == service


@pytest.mark.parametrize("service", ROLES)
def test_a_container_has_the_name_by_which_others_call_it(service: str) -> None:
    """Goal: a worker tells the overlords its host name; it must resolve in the others."""
    assert COMPOSE.services[service].hostname == service


@pytest.mark.parametrize("service", sorted(COMPOSE.ours("overlord")))
def test_an_overlords_health_check_asks_a_route_of_it(service: str) -> None:
    url = COMPOSE.services[service].healthcheck.url

    paths = description()["paths"]

    assert "get" in paths[url.path]
    assert url.hostname == "127.0.0.1"
    assert str(url.port) == _environment(service)["TIDEGATE_PORT"]


@pytest.mark.parametrize("service", sorted([*COMPOSE.ours("persister"), *COMPOSE.ours("executor")]))
def test_a_health_check_of_what_stores_or_runs_asks_a_route_of_it(service: str) -> None:
    url = COMPOSE.services[service].healthcheck.url

    assert url.path == "/ping"
    assert url.hostname == "127.0.0.1"
    assert str(url.port) == _environment(service)["TIDEGATE_PORT"]


@pytest.mark.parametrize("service", sorted(COMPOSE.ours("worker")))
def test_a_workers_health_check_asks_a_route_of_it(service: str) -> None:
    url = COMPOSE.services[service].healthcheck.url
    control = TestClient(create_app(cast("Roster", None), threads_max=1))  # health needs no task

    assert control.get(url.path).status_code == 200
    assert url.hostname == "127.0.0.1"
    assert str(url.port) == _environment(service)["TIDEGATE_PORT"]


def test_one_command_makes_the_tokens_that_the_others_send(compose: Compose) -> None:
    access = compose.services["access"]
    _, _, _, admin, _, workers = access.command

    assert access.command == ["access", "bootstrap", "--folder", admin, "--workers-folder", workers]
    assert access.written() == {admin, workers}
    assert len(set(access.mounts().values())) == 2
    tokens = {
        "overlord": (admin, "admin"),
        "worker": (workers, "workers"),
        "persister": (workers, "workers"),
        "executor": (workers, "workers"),
    }
    for role, (folder, file) in tokens.items():
        for each in compose.ours(role).values():
            assert each.environment["TIDEGATE_TOKEN_FILE"] == f"{folder}/{file}.token"
            assert folder in each.mounts().keys() - each.written()
            assert each.mounts()[folder] == access.mounts()[folder]
    urls = {
        each.environment["TIDEGATE_METADATA_URL"]
        for role in ("overlord", "persister", "executor")
        for each in (access, *compose.ours(role).values())
    }
    assert len(urls) == 1


def test_no_worker_sees_the_token_of_an_administrator(compose: Compose) -> None:
    """Goal: what reads records of strangers may pose as a worker, and as nobody else."""
    access = compose.services["access"]
    admins = access.mounts()[access.command[access.command.index("--folder") + 1]]

    for role in ("worker", "persister", "executor"):
        for each in compose.ours(role).values():
            assert admins not in each.mounts().values()


def test_every_published_port_is_this_machines_own(compose: Compose) -> None:
    """Goal: nothing is encrypted yet, so nobody else may reach what is published."""
    published = [port.rsplit(":", 2) for each in compose.services.values() for port in each.ports]

    assert {address for address, _, _ in published} == {"127.0.0.1"}
    assert len({port for _, port, _ in published}) == len(published) == 3


@pytest.mark.parametrize("service", sorted(COMPOSE.services))
def test_every_service_is_bounded_and_comes_back(service: str) -> None:
    one = COMPOSE.services[service]

    assert one.restart == ("no" if service == "access" else "unless-stopped")
    assert one.mem_limit is not None
    assert one.stop_grace_period is not None
    assert one.logging["options"] == {"max-size": "10m", "max-file": "3"}
    assert one.cap_drop == ["ALL"]
    assert one.security_opt == ["no-new-privileges:true"]


@pytest.mark.parametrize("service", ROLES)
def test_our_containers_write_to_mounted_folders_only(service: str) -> None:
    one, environment = COMPOSE.services[service], _environment(service)
    writable = {*one.written(), *one.in_memory()}
    own = {"/tmp", environment["TIDEGATE_DATA_DIR"]}  # noqa: S108 -- in a container

    assert one.read_only
    assert one.init
    assert not one.cap_add
    assert writable == own | ({environment["TIDEGATE_WAREHOUSE"]} if one.sees_tables else set())


def test_all_see_one_warehouse_and_each_worker_keeps_its_own_journals(compose: Compose) -> None:
    mounts = {name: each.mounts() for name, each in compose.roles.items()}
    warehouses = {
        (_environment(name)["TIDEGATE_WAREHOUSE"], mounts[name]["/warehouse"])
        for name, each in compose.roles.items()
        if each.sees_tables
    }
    journals = {mounts[name]["/data"] for name in compose.ours("worker")}
    named = {volume for each in compose.services.values() for volume in each.mounts().values()}

    assert warehouses == {("/warehouse", "warehouse")}
    assert len(journals) == len(compose.ours("worker"))
    assert "warehouse" not in journals
    assert named == compose.volumes.keys()


def test_a_heap_leaves_room_for_the_rest_of_a_worker(compose: Compose) -> None:
    for worker in compose.ours("worker").values():
        assert worker.mem_limit is not None
        heap = _megabytes(worker.environment["TIDEGATE_SPARK_HEAP"])
        assert _megabytes(worker.mem_limit) >= 2 * heap


def test_a_service_waits_for_services_of_the_file(compose: Compose) -> None:
    for each in compose.services.values():
        assert each.depends_on.keys() <= compose.services.keys()
    for overlord in compose.ours("overlord").values():
        ends = overlord.depends_on["access"].condition
        assert ends == "service_completed_successfully", "without an administrator none starts"
    for worker in compose.ours("worker").values():
        conditions = {one.condition for one in worker.depends_on.values()}
        assert conditions == {"service_started"}, "one of two overlords is enough"


def test_specs_may_name_the_broker_by_the_address_it_tells(compose: Compose) -> None:
    kafka = compose.services["kafka"]
    listeners = kafka.environment["KAFKA_ADVERTISED_LISTENERS"].split(",")
    inside, outside = (urlsplit(each) for each in sorted(listeners, reverse=True))

    allowed = {each.environment["TIDEGATE_KAFKA_ALLOW"] for each in compose.roles.values()}

    assert allowed == {inside.netloc}
    assert inside.hostname in compose.services
    assert kafka.ports == [f"{outside.netloc}:{outside.port}"]


def test_kafka_and_the_databases_login_are_those_that_the_product_is_tested_with(
    compose: Compose,
) -> None:
    assert compose.services["kafka"].image.replace("apache/kafka:", "kafka-") == set_name(
        JarGroup.KAFKA
    )
    environment = compose.services["postgres"].environment
    for overlord in compose.ours("overlord").values():
        url = urlsplit(overlord.environment["TIDEGATE_METADATA_URL"])
        assert (url.username, url.password) == (
            environment["POSTGRES_USER"],
            environment["POSTGRES_PASSWORD"],
        )
        assert url.path == f"/{environment['POSTGRES_DB']}"


def test_the_image_runs_as_a_user_that_owns_its_folders_and_is_not_root(image: Image) -> None:
    user, _, group = image.values("USER")[-1].partition(":")
    folders = f"--owner {user} --group {group} --mode 0750 /data /warehouse"

    assert int(user) >= 1000
    assert int(group) >= 1000
    assert folders in " ".join(image.values("RUN"))
    assert image.listed("VOLUME") == ["/data", "/warehouse"]
    assert image.values("HEALTHCHECK") == []


def test_the_image_has_the_jars_of_every_part(image: Image) -> None:
    [fetched] = [value for _, value in image.steps if "tasks.runtime.jars" in value]
    folder = image.environment()["TIDEGATE_JARS"]

    assert f"python -m tasks.runtime.jars --dir {folder} --which all" in fetched
    assert f"--from=jars {folder} {folder}" in image.values("COPY")
    assert all(pinned_set(part).jars for part in JarGroup)
    assert image.environment()["TIDEGATE_JAVA"] == "bundled"


def test_the_image_has_a_class_archive_of_what_its_workers_run(image: Image) -> None:
    """Goal: it is made where Java and jars have the names and times that the JVM will compare."""
    kinds = [kind for kind, _ in image.final]
    [place] = [n for n, (_, value) in enumerate(image.final) if "class_archive" in value]
    environment, step = image.environment(), image.final[place][1]

    assert "python -m tasks.ingest.class_archive" in step
    assert f"--dir {environment['TIDEGATE_JARS']} --java {environment['TIDEGATE_JAVA']}" in step
    assert kinds.count("COPY") == kinds[:place].count("COPY")
    assert place < kinds.index("USER"), "a file of root's, which no worker can write"


def test_the_image_has_the_console_and_not_what_builds_it(image: Image) -> None:
    steps = list(image.steps)
    [built] = [n for n, (_, value) in enumerate(steps) if "python -m scripts.console" in value]
    copied = ("COPY", "--from=console /src/supervisor/console/dist supervisor/console/dist")
    [installed] = [n for n, (_, value) in enumerate(steps) if '".[java,postgres,spark]"' in value]

    assert built < steps.index(copied) < installed
    assert not [value for _, value in image.final if "console" in value or "node" in value]


def test_the_image_installs_nothing_that_was_not_checked_by_its_hash(image: Image) -> None:
    pip = [part for _, value in image.steps for part in value.split("&&") if "pip " in part]
    [builder, collected, *installed] = [e for e in pip if "wheel" in e or "install" in e]

    assert "--require-hashes" in builder
    assert "--only-binary :all:" in builder
    assert "build.lock" in builder
    assert "--require-hashes" in collected
    assert "--no-build-isolation" in collected, "a build environment is filled without hashes"
    assert "requirements.lock" in collected
    assert installed
    assert all("--no-index --find-links /wheels" in each for each in installed)


def test_no_password_has_a_default() -> None:
    """Goal: nobody runs a database with a password that everybody can read here."""
    text = (ROOT / "docker-compose.yml").read_text()
    variables = re.findall(r"\$\{(\w+)(:?[-?])", text)

    assert {how for name, how in variables if "PASSWORD" in name} == {":?"}
    assert not re.search(r"PASSWORD: +\"?[^\"$ ]", text)


def test_the_image_is_built_from_files_that_are_there_and_not_ignored(image: Image) -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()

    assert {path for path in image.copied() if not (ROOT / path).exists()} == set()
    assert {path for path in image.copied() if path.split("/")[0] in ignored} == set()
    assert {"alembic", "supervisor", "tasks"} <= image.copied()
