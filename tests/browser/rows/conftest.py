"""One overlord and one Spark worker for all; what they have published, no test changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.browser.hostile.conftest import judge
from tests.environment.brokers import Record, create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.oracle import ends_of, record, spec
from tests.integration.overlords import Overlord
from tests.waiting import HANGS_AFTER_S, wait_until

__all__ = ["judge"]

# A machine that is all used up answers late: only what hangs fails.
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

_FIRST, _ROWS = 300, 400
_PART_MAX = 200
"""Signs of a long value that go into its key and its header."""
_BAD = ("broken json", '{"id": "b-1", "user": "nobody", "time": "no time"}')


@dataclass(frozen=True)
class Published:
    """A supervisor that has published twice; id, table and topic have one name."""

    id: str
    cluster: Cluster
    bootstrap: str
    sent: int
    """Records that became rows."""
    bad: int
    """Records that are in quarantine, half of them for each of two reasons."""


@pytest.fixture(scope="package")
def cluster(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start the two processes once; each test may have supervisors of its own here."""
    folder = tmp_path_factory.mktemp("rows")
    more = {"TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}
    # Each of these tests may leave a range that reads, and some need slots beside it.
    with running(Cluster(folder, more=more, slots=8)) as started:
        yield started


@pytest.fixture(scope="package")
def overlord(cluster: Cluster) -> Overlord:
    """The overlord of the cluster: the browser's pages are its own."""
    return Overlord("overlord", cluster.port, cluster.children["overlord"], cluster.http)


@pytest.fixture(scope="package")
def published(cluster: Cluster, broker: Broker) -> Published:
    """The supervisor `visits`, after two handoffs."""
    return publish_twice(cluster, broker, "visits")


def publish_twice(cluster: Cluster, broker: Broker, name: str) -> Published:
    """Publish rows in two handoffs, with bad records in the first; it reads on."""
    create_topic(broker.bootstrap, name, partitions=2)
    first = [record(n) for n in range(_FIRST)]
    produce(broker.bootstrap, name, (*first, *_BAD, *_BAD))
    cluster.apply(_spec(broker.bootstrap, name))
    _publish(cluster, broker, name)
    produce(broker.bootstrap, name, (record(n) for n in range(_FIRST, _ROWS)))
    _publish(cluster, broker, name)
    return Published(name, cluster, broker.bootstrap, _ROWS, 2 * len(_BAD))


def publish_hostile(
    cluster: Cluster, broker: Broker, name: str, values: Sequence[str]
) -> Published:
    """Have each value in quarantine, as what it was sent: key, value, name and text of a header."""
    create_topic(broker.bootstrap, name, partitions=1)
    sent = []
    for value in values:
        part = value[:_PART_MAX].encode()
        sent.append(Record(value.encode(), part, ((value[:_PART_MAX], part),)))
    produce(broker.bootstrap, name, sent)
    cluster.apply(_spec(broker.bootstrap, name))
    _publish(cluster, broker, name)
    return Published(name, cluster, broker.bootstrap, 0, len(sent))


def _publish(cluster: Cluster, broker: Broker, name: str) -> None:
    """Have all that the topic has read and handed off, and wait until it is published."""
    ends = ends_of(broker.bootstrap, name)
    wait_until(lambda: cluster.has_read(name, ends))
    path = f"{SUPERVISORS}/{name}/taskGroups/handoff"
    cluster.http.post(path, json={"taskGroupIds": [0]}).raise_for_status()
    wait_until(lambda: cluster.status(name)["committedOffsets"] == ends)


def _spec(bootstrap: str, name: str) -> dict[str, JsonValue]:
    document = spec(bootstrap, name, task_count=1, task_duration="PT1H")
    inner = document["spec"]
    assert isinstance(inner, dict)
    inner["tuningConfig"] = {"type": "kafka", "unfitValues": "quarantine"}
    return document
