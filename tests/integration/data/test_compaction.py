"""A table is compacted while it grows, and no reader ever sees a row twice or none.

Slow: files have to become many before few are made of them, with kills between.
"""

from collections import Counter
from pathlib import Path
from threading import Event, Thread
from typing import Self

import httpx
import pytest

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import (
    bad_in_files,
    bad_in_topic,
    ends_of,
    ids_in_files,
    ids_in_topic,
    spec,
    streaming,
)
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

TOPIC = "shops"
ERRORS = f"{TOPIC}__errors"
DIES = {"TIDEGATE_FAILPOINTS": "compact:written:kill;compaction:in-transaction:kill"}
"""The worker once its file lies on disk, the overlord in the midst of the swap; each once."""


class Reader:
    """Reads the published list again and again, as whoever queries the table does."""

    def __init__(self, cluster: Cluster) -> None:
        """Begin with nothing seen."""
        self._cluster = cluster
        self._ended = Event()
        self._seen: Counter[str] = Counter()
        self.looks = 0
        self.wrong: list[str] = []
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(60)

    def _run(self) -> None:
        with httpx.Client(base_url=self._cluster.url, timeout=30) as http:
            while not self._ended.wait(0.2):
                try:
                    answer = http.get(f"/api/v1/datasources/{TOPIC}/files")
                except httpx.HTTPError:
                    continue  # the overlord has just been killed
                if answer.status_code == httpx.codes.OK:
                    self._look([Path(file["uri"]) for file in answer.json()["files"]])

    def _look(self, files: list[Path]) -> None:
        ids = ids_in_files(files)
        if ids and max(ids.values()) > 1:
            self.wrong.append(f"{ids.total() - len(ids)} rows twice")
        if gone := self._seen - ids:
            self.wrong.append(f"{len(gone)} rows gone")
        self._seen = ids
        self.looks += 1


def statuses(cluster: Cluster, table: str = TOPIC) -> list[str]:
    """What became of each compaction, oldest first."""
    answer = cluster.http.get("/api/v1/compactions", params={"dataSource": table, "limit": "1000"})
    assert answer.status_code == httpx.codes.OK, answer.text
    return [each["status"] for each in answer.json()["compactions"]][::-1]


def compact(cluster: Cluster, table: str = TOPIC, wait_s: int = 120) -> int:
    """Compact all there is, as a user would; return the exit code."""
    ran = cluster.tidegate("compaction", "run", table, "--wait", str(wait_s))
    return ran.returncode


def compact_all(cluster: Cluster, table: str) -> None:
    """Compact until there is a file for each of two days, and nothing goes on."""
    wait_until(
        lambda: compact(cluster, table) == 0 and len(cluster.files(table)) <= 2, within_s=300
    )
    wait_until(lambda: "RUNNING" not in statuses(cluster, table))


def test_small_files_become_few_under_a_reader_and_through_kills(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: 30,000 records over two days, compacted while they are read and afterwards.

    One in a hundred cannot be read: the errors table is compacted as well.
    """
    create_topic(broker.bootstrap, TOPIC, partitions=2)
    more = dict(DIES)
    with running(Cluster(tmp_path, more=more)) as cluster, Reader(cluster) as reader:
        more.clear()  # who is started again, lives on
        flow = streaming(broker.bootstrap, TOPIC, rate_per_s=500, total=30_000, bad_every=100)
        with flow as sent:
            wanted = spec(broker.bootstrap, TOPIC, task_count=1, task_duration="PT4S")
            cluster.apply(wanted)
            wait_until(lambda: len(cluster.publications(TOPIC)) >= 2)
            cluster.http.post(f"/api/v1/datasources/{TOPIC}/compact", json={})
            wait_until(lambda: not cluster.children["w1"].alive())
            cluster.children.pop("w1")
            cluster.start_worker("w1")
            wait_until(lambda: "FAILED" in statuses(cluster))
            cluster.http.post(f"/api/v1/datasources/{TOPIC}/compact", json={})
            wait_until(lambda: not cluster.children["overlord"].alive())
            cluster.children.pop("overlord")
            cluster.start_overlord()
            wait_until(lambda: "SUCCESS" in statuses(cluster))
            wait_until(sent.is_set)
        ends = ends_of(broker.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        before = [len(cluster.files(table)) for table in (TOPIC, ERRORS)]
        quarantined = cluster.tidegate("quarantine", "list", TOPIC, "-o", "json")

        for table in (TOPIC, ERRORS):
            compact_all(cluster, table)

        files, raw = cluster.files(TOPIC), cluster.files(ERRORS)
        listed = cluster.tidegate("quarantine", "list", TOPIC, "-o", "json")
        verified = cluster.tidegate("verify", TOPIC)
        wait_until(cluster.is_settled)
        inventory = cluster.tidegate("verify", "--files")

    assert ids_in_files(files) == ids_in_topic(broker.bootstrap, TOPIC)
    assert bad_in_files(raw) == bad_in_topic(broker.bootstrap, TOPIC)
    assert (listed.stdout, listed.returncode) == (quarantined.stdout, 0)
    assert min(before) > 2 >= len(files)
    assert len(raw) <= 2, "all were sent on one day, or before and after midnight"
    assert (reader.wrong, reader.looks > 20) == ([], True)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "proven" in verified.stdout
    assert inventory.returncode == 0, inventory.stdout + inventory.stderr
