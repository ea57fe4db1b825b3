"""From release 0.1.0 to this one and back with live ranges, overlord first and worker first.

    overlord first   overlord  0.1.0   this    this    0.1.0   0.1.0
                     worker    0.1.0   0.1.0   this    this    0.1.0
    worker first     overlord  0.1.0   0.1.0   this    this    0.1.0
                     worker    0.1.0   this    this    0.1.0   0.1.0

Each change is one process of a running pair; each range that is open then is read on, handed off
and published by whoever is there afterwards.

Slow: overlord and worker of two releases start in turns, in both orders.
"""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from supervisor.metadata.migrate import newest
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]
THIS = Path(__file__).parents[2]
EARLIER = Path(__file__).parent / "28bbf90.tar.xz"
EARLIER_SCHEMA = "0013"
WORKER = "w1"
PATIENT = {"TIDEGATE_WORKER_TIMEOUT": "PT10M"}
"""No task is replaced while its worker starts: the other release takes its journal up."""


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of the earlier release, which the same Python runs."""
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(EARLIER) as archive:
        archive.extractall(folder, filter="data")
    return folder


@dataclass
class Releases(Cluster):
    """One overlord and one worker, each of either release."""

    earlier: Path = Path()
    of_earlier: set[str] = field(default_factory=lambda: {"overlord", WORKER})

    def tree(self, name: str) -> Path:
        """Return the source of the release that a child is of."""
        return self.earlier if name in self.of_earlier else THIS

    def spawn(self, name: str) -> None:
        """Start a child of its release; Python's own processes find that as well."""
        self.more = {**self.more, "PYTHONPATH": str(self.tree(name))}
        super().spawn(name)

    def change(self, name: str) -> None:
        """Stop a child and start the other release of it."""
        assert self.stop(name) == 0
        back = name not in self.of_earlier
        self.of_earlier ^= {name}
        if name == WORKER:
            self.start_worker(name)
            return
        if back:
            self._goes_back()
        self.start_overlord()

    def _goes_back(self) -> None:
        self.spawn("overlord")
        refused = self.children.pop("overlord")
        wait_until(lambda: not refused.alive())
        assert newest() in refused.log.read_text(), "it does not start on the newer schema"
        self.more = {**self.more, "PYTHONPATH": str(THIS)}
        done = self.tidegate("metadata", "downgrade", "--to", EARLIER_SCHEMA, "--yes")
        assert done.returncode == 0, done.stderr
        assert "lose" in done.stderr


@contextmanager
def _running(cluster: Releases) -> Iterator[Releases]:
    with cluster:
        cluster.start_overlord()
        cluster.start_worker(WORKER)
        yield cluster


def test_the_earlier_release_runs_from_its_own_source(earlier: Path) -> None:
    """Goal: else this release would be compared with itself."""
    code = "import supervisor, tasks; print(supervisor.__file__); print(tasks.__file__)"
    done = subprocess.run(
        (sys.executable, "-c", code),
        env={"PYTHONPATH": str(earlier)},
        cwd=earlier,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert [Path(line).parents[1] for line in done.stdout.split()] == [earlier, earlier]
    assert not (earlier / "supervisor/cli/metadata.py").exists()


@pytest.mark.parametrize(
    ("topic", "first", "second"),
    [("overlord-first", "overlord", WORKER), ("worker-first", WORKER, "overlord")],
    ids=["overlord first", "worker first"],
)
def test_ranges_live_through_an_upgrade_and_the_way_back(
    broker: Broker, earlier: Path, tmp_path: Path, topic: str, first: str, second: str
) -> None:
    """Goal: no record is lost or doubled, and no task fails, in whatever order one goes."""
    create_topic(broker.bootstrap, topic, partitions=2)
    with _running(Releases(tmp_path, earlier=earlier, slots=2, more=PATIENT)) as cluster:
        with streaming(broker.bootstrap, topic, rate_per_s=200) as _:
            document = spec(broker.bootstrap, topic, task_count=1, task_duration="PT5S")
            cluster.apply(document)
            for name in (first, second) * 2:
                _publishes_more(cluster, topic)
                wait_until(lambda: _reads(cluster, topic))
                cluster.change(name)
            _publishes_more(cluster, topic)
        ends = ends_of(broker.bootstrap, topic)
        wait_until(lambda: cluster.has_read(topic, ends))
        cluster.post(topic, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(topic))

        in_table = ids_in_files(cluster.files(topic))
        tasks = cluster.tasks(topic)
        failed = [task["errorMsg"] for task in tasks if task["statusCode"] == "FAILED"]
        verified = cluster.tidegate("verify", topic)

    assert in_table == ids_in_topic(broker.bootstrap, topic)
    assert failed == []
    assert verified.returncode == 0, verified.stdout + verified.stderr


def _publishes_more(cluster: Cluster, topic: str) -> None:
    """Wait until what is open now is published, by its successor's publication at the latest."""
    before = len(cluster.publications(topic))
    wait_until(lambda: len(cluster.publications(topic)) >= before + 2)


def _reads(cluster: Cluster, topic: str) -> bool:
    """Whether some task has journaled rows that are not yet published."""
    tasks = cluster.status(topic)["activeTasks"]
    assert isinstance(tasks, list)
    return any(
        isinstance(task, dict)
        and task["currentOffsets"]
        and task["currentOffsets"] != task["startingOffsets"]
        for task in tasks
    )
