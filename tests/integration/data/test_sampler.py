"""A sample of a real topic, by a real worker: what is shown first is what the table holds then.

Slow: samples wait for a worker with Spark.
"""

import json
from collections.abc import Iterator
from datetime import datetime

import httpx
import pyarrow.parquet as pq
import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK, free_port
from tests.environment.brokers import create_topic, produce, read_all
from tests.integration.cluster import Cluster
from tests.integration.oracle import ends_of, spec
from tests.integration.oracle import record as good
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SAMPLER = "/druid/indexer/v1/sampler"
VALIDATE = "/api/v1/supervisors/validate"
BAD = ("broken", '{"id":"no-time"}', '{"id":"odd","time":"yesterday"}', "[1]", "")
RECORDS = 1_000
"""Of which 1 % are bad."""

Place = tuple[int, int]


def records() -> Iterator[str]:
    for number in range(RECORDS):
        yield BAD[number // 100 % len(BAD)] if number % 100 == 99 else good(number)


def sampled(cluster: Cluster, wanted: dict[str, JsonValue], rows: int) -> dict[str, JsonValue]:
    body = {
        "type": "kafka",
        "spec": wanted,
        "samplerConfig": {"numRows": rows, "timeoutMs": 50_000},
    }
    answer = httpx.post(f"{cluster.url}{SAMPLER}", json=body, timeout=60)
    assert answer.status_code == httpx.codes.OK, answer.text
    found: dict[str, JsonValue] = answer.json()
    return found


def data(found: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    listed = found["data"]
    assert isinstance(listed, list)
    return [each for each in listed if isinstance(each, dict)]


def place(row: dict[str, JsonValue]) -> Place:
    partition, offset = row["partition"], row["offset"]
    assert isinstance(partition, int)
    assert isinstance(offset, int)
    return partition, offset


def in_table(cluster: Cluster, table: str) -> dict[Place, dict[str, object]]:
    rows = {}
    for file in cluster.files(table):
        for row in pq.read_table(file, partitioning=None).to_pylist():
            at = row.pop("__partition"), row.pop("__offset")
            time = row["__time"]
            assert isinstance(time, datetime)
            rows[at] = row | {"__time": int(time.timestamp() * 1000)}
    return rows


def test_a_sample_shows_what_the_table_and_the_quarantine_then_hold(
    broker: Broker, cluster: Cluster
) -> None:
    """Goal: the same rows, the same records refused for the same reasons; nothing was written."""
    topic = "sampled-first"
    create_topic(broker.bootstrap, topic, partitions=3)
    produce(broker.bootstrap, topic, records())
    wanted = spec(broker.bootstrap, topic, task_count=1, task_duration="PT1H")

    before = sampled(cluster, wanted, rows=5_000)
    judged = cluster.http.post(VALIDATE, json=wanted, timeout=60).json()
    assert not (cluster.warehouse / topic).exists()
    cluster.apply(wanted)
    wait_until(lambda: cluster.has_read(topic, ends_of(broker.bootstrap, topic)))
    while_reading = sampled(cluster, wanted, rows=5_000)
    cluster.post(topic, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(topic))

    listed = cluster.tidegate("quarantine", "list", topic, "-o", "json")
    refused = json.loads(listed.stdout)["records"]
    assert (before["numRowsRead"], before["numRowsIndexed"]) == (RECORDS, RECORDS - RECORDS // 100)
    assert {place(r): r["parsed"] for r in data(before) if "parsed" in r} == in_table(
        cluster, topic
    )
    assert {place(r): r["error"] for r in data(before) if r.get("unparseable")} == {
        (r["partition"], r["offset"]): r["reason"] for r in refused
    }
    assert len(refused) == RECORDS // 100
    assert while_reading == before
    assert (judged["valid"], judged["connect"]["reachable"]) == (True, True)
    [found] = judged["connect"]["topics"]
    assert sum(p["latest"] for p in found["partitions"]) == RECORDS


def test_the_newest_records_of_an_unknown_topic_are_shown_as_they_are(
    broker: Broker, cluster: Cluster
) -> None:
    """Goal: a first look needs no more than an address and a topic, and the command shows it."""
    topic = "sampled-raw"
    create_topic(broker.bootstrap, topic, partitions=2)
    produce(broker.bootstrap, topic, (f"line {n}" for n in range(100)))
    source: dict[str, JsonValue] = {
        "topic": topic,
        "consumerProperties": {"bootstrap.servers": broker.bootstrap},
    }
    partial: dict[str, JsonValue] = {"type": "kafka", "ioConfig": source}
    file = cluster.folder / "partial.json"
    file.write_text(json.dumps(partial))

    sample = sampled(cluster, partial, rows=4)
    shown = cluster.tidegate("supervisor", "sample", "-f", str(file), "-n", "4")

    topic_holds = read_all(broker.bootstrap, topic)
    assert [(place(row), row["input"]) for row in data(sample)] == [
        ((p, o), {"raw": topic_holds[p][o].decode()}) for p in (0, 1) for o in (48, 49)
    ]
    assert shown.returncode == 0, shown.stderr
    assert "0:48" in shown.stdout
    assert topic_holds[1][49].decode() in shown.stdout


def test_init_proposes_a_spec_whose_rows_are_those_of_the_sample(
    broker: Broker, cluster: Cluster
) -> None:
    """Goal: types and time as the records have them, whatever the topic's older records were."""
    topic = "init.v1"
    create_topic(broker.bootstrap, topic, partitions=3)
    old = (f'{{"old": {n}, "at": "2026-11-21"}}' for n in range(30))
    new = (
        f'{{"timestamp": "x", "at": "2026-11-21T00:00:{n:02}Z", "price": 1.5, "n": {n}, '
        '"to": null}'
        for n in range(30)
    )
    produce(broker.bootstrap, topic, old)
    produce(broker.bootstrap, topic, new)
    file = cluster.folder / "init.json"
    where = ("--kafka", broker.bootstrap, "--topic", topic, "--data-source", "initiated")

    ended = cluster.tidegate("supervisor", "init", *where, "--records", "27", "-f", str(file))
    shown = cluster.tidegate("supervisor", "sample", "-f", str(file), "-n", "60", "-o", "json")

    assert ended.returncode == 0, ended.stderr
    schema = json.loads(file.read_text())["spec"]["dataSchema"]
    assert schema["timestampSpec"] == {"column": "at", "format": "iso"}
    assert schema["dimensionsSpec"]["dimensions"] == [
        {"type": "string", "name": "timestamp"},
        {"type": "double", "name": "price"},
        {"type": "long", "name": "n"},
        {"type": "string", "name": "to"},
    ]
    assert "to is always null: its column is string" in ended.stderr
    rows = [row["parsed"] for row in json.loads(shown.stdout)["data"] if "n" in row["input"]]
    assert sorted(row["n"] for row in rows) == list(range(30))
    assert {row["timestamp"] for row in rows} == {"x"}


def test_an_empty_and_a_missing_topic_and_a_silent_broker(broker: Broker, cluster: Cluster) -> None:
    create_topic(broker.bootstrap, "sampled-empty", partitions=2)
    nobody = f"{LOOPBACK}:{free_port()}"

    empty = sampled(cluster, spec(broker.bootstrap, "sampled-empty"), rows=10)
    missing = cluster.http.post(
        SAMPLER, json={"type": "kafka", "spec": spec(broker.bootstrap, "sampled-missing")}
    )
    silent = cluster.http.post(VALIDATE, json=spec(nobody, "sampled-silent"))

    assert (empty["data"], empty["numRowsRead"]) == ([], 0)
    assert missing.status_code == httpx.codes.BAD_REQUEST
    assert "sampled-missing does not exist" in missing.json()["error"]
    assert silent.status_code == httpx.codes.OK
    assert (silent.json()["valid"], silent.json()["connect"]["reachable"]) == (True, False)
    assert nobody in silent.json()["connect"]["error"]
