"""A handoff is seen live: each of its steps is held until the open pages show it.

Slow: it has a Spark worker of its own, which stands still twice.
"""

import signal
from collections.abc import Iterator

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from supervisor.dev.broker import Broker
from tests.browser.watch import Watch
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.oracle import ends_of, record, spec
from tests.integration.overlords import Overlord
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

_NAME = "seen-live"
_ROWS = 200
_MORE = {
    "TIDEGATE_SUPERVISOR_PERIOD": "PT1S",
    "TIDEGATE_WORKER_TIMEOUT": "PT10M",  # one that stands still is not replaced
    "TIDEGATE_PAUSE_TIMEOUT": "PT10M",
    "TIDEGATE_PAUSE_LEASE": "PT30M",
    "TIDEGATE_FAILPOINTS": "worker:before:Merge:stop",
}


@pytest.fixture(scope="module")
def cluster(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An overlord, and a worker that stands still before its first merge."""
    with running(Cluster(tmp_path_factory.mktemp("live"), more=_MORE)) as started:
        yield started
        started.children["w1"].signal(signal.SIGCONT)


@pytest.fixture(scope="module")
def overlord(cluster: Cluster) -> Overlord:
    """The overlord of this cluster, in the place of that of the other tests."""
    return Overlord("overlord", cluster.port, cluster.children["overlord"], cluster.http)


@pytest.fixture
def read(cluster: Cluster, broker: Broker) -> str:
    """A supervisor whose task has read all of its topic, and published nothing."""
    create_topic(broker.bootstrap, _NAME, partitions=1)
    produce(broker.bootstrap, _NAME, (record(n) for n in range(_ROWS)))
    cluster.apply(spec(broker.bootstrap, _NAME, task_count=1, task_duration="PT1H"))
    wait_until(lambda: cluster.has_read(_NAME, ends_of(broker.bootstrap, _NAME)))
    return _NAME


def test_a_handoff_is_seen_step_by_step_without_reload(
    watch: Watch, cluster: Cluster, read: str
) -> None:
    overview, timeline = (
        _opened(watch, f"/ui/supervisors/{read}/{tab}") for tab in ("overview", "timeline?as=table")
    )
    group = overview.get_by_role("region", name="Groups").locator("tbody tr")
    ranges = timeline.get_by_role("table", name="Ranges").locator("tbody tr")
    expect(group).to_contain_text("reading")
    _expect_only(ranges, "reading")

    cluster.freeze("w1")  # the order to pause does not reach it
    path = f"{SUPERVISORS}/{read}/taskGroups/handoff"
    cluster.http.post(path, json={"taskGroupIds": [0]}).raise_for_status()

    ending = ranges.last
    expect(ending).to_contain_text("pausing")
    expect(group.filter(has_text="pausing")).to_have_count(1)

    cluster.children["w1"].signal(signal.SIGCONT)
    wait_until(lambda: _is_stopped(cluster))

    expect(ending).to_contain_text("finishing")
    expect(group.filter(has_text="publishing")).to_have_count(1)
    assert cluster.publications(read) == []

    cluster.children["w1"].signal(signal.SIGCONT)

    expect(ending).to_contain_text("published")
    expect(ranges).to_have_count(2)
    expect(ranges.first).to_contain_text("reading")
    expect(group).to_have_count(1)
    expect(group).to_contain_text("reading")
    assert len(cluster.publications(read)) == 1
    for page in (overview, timeline):
        assert page.evaluate("window.isTheSame"), "it was loaded anew"


def _opened(watch: Watch, address: str) -> Page:
    """Open a page that a reload would change."""
    page = watch.context.new_page()
    page.goto(address)
    page.evaluate("() => { window.isTheSame = true; }")
    return page


def _expect_only(ranges: Locator, word: str) -> None:
    expect(ranges).to_have_count(1)
    expect(ranges).to_contain_text(word)


def _is_stopped(cluster: Cluster) -> bool:
    pid = cluster.children["w1"].pid
    return pid is not None and psutil.Process(pid).status() == psutil.STATUS_STOPPED
