"""A cluster that asks who calls, with two tables, one of which most of its callers may not read."""

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Page, expect

from supervisor.dev.broker import Broker
from tests.browser.contact.places import Names
from tests.browser.planted.conftest import Planted
from tests.browser.planted.flows import (
    DAY,
    apply_flow,
    asking_flow,
    await_asking,
    start_flow,
)
from tests.browser.planted.stored import failed_task, store_records
from tests.browser.roles.heard import Heard
from tests.browser.test_login import REQUIRED, create_token, create_worker_token, log_in
from tests.browser.watch import Watch
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import ends_of, record, spec
from tests.integration.overlords import Overlord
from tests.waiting import HANGS_AFTER_S, wait_until

__all__ = ["FLOW", "FOREIGN", "MOVED", "OURS", "Roles"]

expect.set_options(timeout=HANGS_AFTER_S * 1_000)

OURS, FOREIGN = "shop-orders", "payroll-secret"
"""Supervisors, each with a table and a topic of its name."""
MOVED = "wanderer"
"""A supervisor that feeds our table now, and fed the foreign one before."""
FLOW = "shop-day"
_READ = 40


@dataclass(frozen=True)
class Roles:
    """The cluster; role -> token; of each table, something of each kind that a page is of."""

    cluster: Cluster
    overlord: Overlord
    tokens: dict[str, str]
    names: dict[str, Names]
    """By table; under no name, of nothing that is there."""

    @property
    def execution(self) -> str:
        """An execution that waits for an answer."""
        return self.names[OURS].execution

    def hand_off(self, supervisor_id: str) -> None:
        """Have a supervisor hand off, which is an event."""
        path = f"{SUPERVISORS}/{supervisor_id}/taskGroups/handoff"
        reason = {"reason": f"{supervisor_id} is due"}
        answer = self.cluster.http.post(path, json={"taskGroupIds": [0]}, params=reason)
        answer.raise_for_status()


@pytest.fixture(scope="package")
def roles(
    _built: None, tmp_path_factory: pytest.TempPathFactory, broker: Broker
) -> Iterator[Roles]:
    """A viewer, an operator and a keeper of one table; a viewer and an administrator of all."""
    folder = tmp_path_factory.mktemp("roles")
    url = f"sqlite:///{folder / 'metadata.db'}"
    granted = {"viewer": OURS, "operator": OURS, "admin": "*"}
    tokens = {role: create_token(folder, url, role, role, on) for role, on in granted.items()}
    tokens["watcher"] = create_token(folder, url, "watcher", "viewer", "*")
    tokens["keeper"] = create_token(folder, url, "keeper", "admin", OURS)
    more = REQUIRED | {
        "TIDEGATE_SUPERVISOR_PERIOD": "PT1S",
        "TIDEGATE_TOKEN": create_worker_token(folder, url),
    }
    store_records(url, [*failed_task(OURS), *failed_task(FOREIGN)])
    with Cluster(folder, more=more, light=True, slots=6) as cluster:
        cluster.http.headers["Authorization"] = f"Bearer {tokens['admin']}"
        cluster.spawn("overlord")
        cluster.spawn("w1")
        cluster.await_healthy("overlord")
        wait_until(cluster.leads)
        cluster.await_healthy("w1")
        overlord = Overlord("overlord", cluster.port, cluster.children["overlord"], cluster.http)
        for name in (OURS, FOREIGN):
            _publish(cluster, broker, name)
        _move(cluster, broker)
        _plant(Planted(overlord, url))
        yield Roles(cluster, overlord, tokens, _names(cluster))


def _publish(cluster: Cluster, broker: Broker, name: str) -> None:
    """Have a supervisor publish what its topic holds; it reads on."""
    create_topic(broker.bootstrap, name, partitions=1)
    produce(broker.bootstrap, name, (record(n, name) for n in range(_READ)))
    cluster.apply(spec(broker.bootstrap, name, task_count=1, task_duration="PT1H"))
    ends = ends_of(broker.bootstrap, name)
    wait_until(lambda: cluster.has_read(name, ends))
    path = f"{SUPERVISORS}/{name}/taskGroups/handoff"
    asked = {"reason": f"{name} is due"}
    cluster.http.post(path, json={"taskGroupIds": [0]}, params=asked).raise_for_status()
    wait_until(lambda: cluster.status(name)["committedOffsets"] == ends)


def _move(cluster: Cluster, broker: Broker) -> None:
    """Have a supervisor that fed the foreign table feed ours."""
    create_topic(broker.bootstrap, MOVED, partitions=1)
    _feed(cluster, broker, FOREIGN)
    wait_until(lambda: cluster.has_read(MOVED, {"0": 0}))
    cluster.post(MOVED, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(MOVED))
    cluster.post(MOVED, "terminate")
    status = f"{SUPERVISORS}/{MOVED}/status"
    wait_until(lambda: cluster.http.get(status).status_code == httpx.codes.NOT_FOUND)
    _feed(cluster, broker, OURS)


def _feed(cluster: Cluster, broker: Broker, table: str) -> None:
    document = spec(broker.bootstrap, MOVED, task_count=1, task_duration="PT1H")
    inner = document["spec"]
    assert isinstance(inner, dict)
    schema = inner["dataSchema"]
    assert isinstance(schema, dict)
    schema["dataSource"] = table
    cluster.apply(document | {"id": MOVED})


def _plant(planted: Planted) -> None:
    """Add queues that are dead and compactions that wait, of either table."""
    for name in (OURS, FOREIGN):
        for container in (f"supervisor:{name}", f"table:{name}"):
            queue = planted.queue(container)
            planted.kill(queue, f"its checksum is not that of {name}")
            planted.set_aside(queue, 7, f'{{"n": "{name}"}}'.encode(), f"{name} is full")
        planted.compaction(name, f"small files of {name}")


def _names(cluster: Cluster) -> dict[str, Names]:
    http = cluster.http
    apply_flow(http, asking_flow(FLOW))
    execution = start_flow(http, FLOW, "one", day=DAY)
    await_asking(http, execution)
    names = {}
    for name in (OURS, FOREIGN):
        asked: dict[str, str] = {"supervisor": name, "status": "RUNNING"}
        tasks = http.get("/api/v1/tasks", params=asked).raise_for_status().json()["tasks"]
        queue = (f"supervisor:{name}", "planted")
        names[name] = Names(name, tasks[0]["id"], name, "w1", queue, FLOW, execution)
    nothing = "never-there-at"
    task = names[FOREIGN].task.replace(FOREIGN, nothing)
    queue = (f"supervisor:{nothing}", "planted")
    names[""] = Names(nothing, task, nothing, "w1", queue, FLOW, execution)
    return names


@pytest.fixture(scope="package")
def overlord(roles: Roles) -> Overlord:
    """The overlord of these tests."""
    return roles.overlord


@pytest.fixture
def heard(page: Page) -> Heard:
    """All that the page is answered, from before its first request."""
    return Heard(page)


def enter(page: Page, watch: Watch, roles: Roles, role: str, path: str) -> None:
    """Open a page, and log in as a role."""
    watch.expect_status(401, "/api/v1/me")
    page.goto(path)
    log_in(page, roles.tokens[role])
    expect(page.get_by_role("button", name=role)).to_be_visible()
