"""A cluster with a broker of its own, so that each of its processes may end and come back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from supervisor.dev.broker import Broker
from tests.browser.contact.places import Names
from tests.browser.planted.flows import DAY, apply_flow, asking_flow, start_flow
from tests.environment.brokers import create_topic, new_broker, produce
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import ends_of, record, spec
from tests.integration.overlords import Overlord
from tests.waiting import HANGS_AFTER_S, wait_until

# A machine that is all used up answers late: only what hangs fails.
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

_NAME = "tides"
WORKER = "/druid/indexer/v1/worker/w1"
TABLES = "/druid/indexer/v1/datasources"


@dataclass(frozen=True)
class Site:
    """A supervisor that has published once and reads on; id, table and topic have one name."""

    id: str
    cluster: Cluster
    broker: Broker

    def is_reading(self) -> bool:
        """Whether a task has read all that the topic has."""
        return self.cluster.has_read(self.id, ends_of(self.broker.bootstrap, self.id))

    def is_suspended(self) -> bool:
        """Whether its newest version reads nothing."""
        return self.cluster.status(self.id)["suspended"] is True

    def is_listed(self) -> bool:
        """Whether there is such a supervisor: it is not terminated, or not to its end."""
        answer = self.cluster.http.get(SUPERVISORS).raise_for_status()
        return self.id in answer.json()

    def versions(self) -> int:
        """Return how many versions its spec has; a terminate stores one, too."""
        path = f"/api/v1/supervisors/{self.id}/history"
        answer = self.cluster.http.get(path).raise_for_status()
        return len(answer.json()["versions"])

    def names(self) -> Names:
        """Return something of each kind that a page is of."""
        http = self.cluster.http
        running = {"supervisor": self.id, "status": "RUNNING"}
        tasks = http.get("/api/v1/tasks", params=running).raise_for_status().json()["tasks"]
        [worker] = http.get("/api/v1/workers").raise_for_status().json()
        queues = http.get("/api/v1/queues").raise_for_status().json()
        queue = queues[0]
        apply_flow(http, asking_flow("tides-day"))
        execution = start_flow(http, "tides-day", "one", day=DAY)
        return Names(
            supervisor=self.id,
            task=tasks[0]["id"],
            table=self.id,
            worker=worker["id"],
            queue=(queue["container"], queue["name"]),
            flow="tides-day",
            execution=execution,
        )


@pytest.fixture
def reading(site: Site) -> Iterator[Site]:
    """The supervisor with a task that reads; whatever a test did to it is taken back."""
    wait_until(site.is_reading)
    yield site
    cluster = site.cluster
    if "overlord" not in cluster.children:
        cluster.start_overlord()
    cluster.http.post(f"{WORKER}/enable").raise_for_status()
    cluster.http.post(f"{TABLES}/{site.id}").raise_for_status()
    if cluster.status(site.id)["suspended"]:
        cluster.post(site.id, "resume")


@pytest.fixture
def doomed(site: Site, tmp_path: Path) -> Iterator[Site]:
    """A supervisor of its own for a test that ends it; its task has read all."""
    name = f"ebb-{tmp_path.name}"
    bootstrap = site.broker.bootstrap
    create_topic(bootstrap, name, partitions=1)
    produce(bootstrap, name, (record(n) for n in range(10)))
    site.cluster.apply(spec(bootstrap, name, task_count=1, task_duration="PT1H"))
    own = replace(site, id=name)
    wait_until(own.is_reading)
    yield own
    if "overlord" not in site.cluster.children:
        site.cluster.start_overlord()
    if own.is_listed():
        site.cluster.post(name, "terminate")


@pytest.fixture(scope="package")
def site(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The processes of these tests; whoever stops one starts it again."""
    folder = tmp_path_factory.mktemp("contact")
    more = {"TIDEGATE_SUPERVISOR_PERIOD": "PT1S", "TIDEGATE_LEASE_TTL": "PT3S"}
    broker = new_broker(folder / "kafka")
    with Cluster(folder, more=more, light=True) as cluster:
        cluster.spawn("overlord")
        cluster.spawn("w1")
        try:
            broker.start()
            cluster.await_healthy("overlord")
            wait_until(cluster.leads)
            cluster.await_healthy("w1")
            site = Site(_NAME, cluster, broker)
            _publish(site)
            yield site
        finally:
            broker.stop()


def _publish(site: Site) -> None:
    """Have the supervisor publish what its topic holds."""
    bootstrap = site.broker.bootstrap
    create_topic(bootstrap, site.id, partitions=2)
    produce(bootstrap, site.id, (record(n) for n in range(60)))
    site.cluster.apply(spec(bootstrap, site.id, task_count=1, task_duration="PT1H"))
    ends = ends_of(bootstrap, site.id)
    wait_until(lambda: site.cluster.has_read(site.id, ends))
    path = f"{SUPERVISORS}/{site.id}/taskGroups/handoff"
    site.cluster.http.post(path, json={"taskGroupIds": [0]}).raise_for_status()
    wait_until(lambda: site.cluster.status(site.id)["committedOffsets"] == ends)


@pytest.fixture(scope="package")
def overlord(site: Site) -> Overlord:
    """The overlord whose pages the browser opens; its process is another after a restart."""
    cluster = site.cluster
    return Overlord("overlord", cluster.port, cluster.children["overlord"], cluster.http)
