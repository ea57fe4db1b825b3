"""Each format through a real broker: rows exact, broken records kept, over a handoff and a kill."""

import os
from collections import Counter
from collections.abc import Iterable
from datetime import UTC
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.brokers import create_topic, produce, read_all
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.formats import FORMATS, Format, Row, is_bad, row
from tests.integration.oracle import bad_in_files, bad_in_topic, ends_of
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]
RECORDS = int(os.environ.get("TIDEGATE_TEST_RECORDS", "4000"))
"""Of each format; by hand 100,000."""


def spec_of(bootstrap: str, each: Format) -> dict[str, JsonValue]:
    """A spec that reads one format."""
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": each.name,
                "timestampSpec": {"column": "time", "format": "iso"},
                "dimensionsSpec": {
                    "dimensions": [
                        *("id", "user"),
                        {"type": "long", "name": "amount"},
                        {"type": "double", "name": "price"},
                    ]
                },
                "granularitySpec": {"segmentGranularity": "HOUR", "rollup": False},
            },
            "ioConfig": {
                "topic": each.name,
                "inputFormat": dict(each.input_format),
                "consumerProperties": {"bootstrap.servers": bootstrap},
                "taskCount": 1,
                "taskDuration": "PT1H",
                "useEarliestOffset": True,
            },
        },
    }


def rows_in(files: Iterable[Path]) -> Counter[Row]:
    """What a reader that is not Spark finds."""
    found: Counter[Row] = Counter()
    for file in files:
        columns = pq.read_table(file, columns=["id", "__time", "user", "amount", "price"]).columns
        name, at, *rest = (column.to_pylist() for column in columns)
        found.update(zip(name, (t.replace(tzinfo=UTC) for t in at), *rest, strict=True))
    return found


def send(broker: Broker, numbers: range) -> None:
    for each in FORMATS:
        produce(broker.bootstrap, each.name, (each.record(n) for n in numbers))


def all_read(cluster: Cluster, broker: Broker) -> None:
    """Wait until every task has journaled what its topic holds."""
    ends = {each.name: ends_of(broker.bootstrap, each.name) for each in FORMATS}
    within_s = 120 + RECORDS / 100
    wait_until(lambda: all(cluster.has_read(n, end) for n, end in ends.items()), within_s=within_s)


@pytest.mark.timeout(3_600)
def test_each_format_gives_its_rows_and_keeps_what_is_broken(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: one of a hundred records is broken; a handoff, and a kill -9 in mid-batch."""
    for each in FORMATS:
        create_topic(broker.bootstrap, each.name, partitions=2)
    with running(Cluster(tmp_path, slots=len(FORMATS))) as cluster:
        for each in FORMATS:
            cluster.apply(spec_of(broker.bootstrap, each))
        send(broker, range(RECORDS // 2))
        all_read(cluster, broker)
        for each in FORMATS:
            asked = {"taskGroupIds": [0]}
            answer = cluster.http.post(f"{SUPERVISORS}/{each.name}/taskGroups/handoff", json=asked)
            assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        send(broker, range(RECORDS // 2, RECORDS))
        cluster.kill("w1")
        cluster.start_worker("w1")
        all_read(cluster, broker)
        for each in FORMATS:
            cluster.post(each.name, "suspend")
        wait_until(
            lambda: all(cluster.is_suspended_and_quiet(each.name) for each in FORMATS),
            within_s=180,
        )
        for each in FORMATS:
            _is_exact(cluster, broker, each)


def _is_exact(cluster: Cluster, broker: Broker, each: Format) -> None:
    """Compare a table, and its errors, with what the topic holds, byte for byte."""
    sent = Counter(
        value for found in read_all(broker.bootstrap, each.name).values() for value in found
    )
    assert sent == Counter(each.record(n) for n in range(RECORDS))

    assert rows_in(cluster.files(each.name)) == Counter(
        row(n) for n in range(RECORDS) if not is_bad(n)
    ), each.name
    bad = bad_in_topic(broker.bootstrap, each.name)
    assert bad.total() == sum(is_bad(n) for n in range(RECORDS))
    assert bad_in_files(cluster.files(f"{each.name}__errors")) == bad, each.name
    publications = cluster.publications(each.name)
    assert len(publications) >= 2
    assert sum(int(str(p["rejected"])) for p in publications) == bad.total()
    shown = cluster.http.get(f"{SUPERVISORS}/{each.name}/parseErrors").json()
    assert shown, "samples are shown to people"
    verified = cluster.tidegate("verify", each.name)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "proven" in verified.stdout
