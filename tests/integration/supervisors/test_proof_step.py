"""`verify` as a step of a flow: its verdict on a table that Spark has written, and on a wrong one.

Slow: records go through Spark and a handoff before they are proven.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import httpx
import pyarrow.parquet
import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import Cluster
from tests.integration.oracle import ends_of, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

TOPIC = "proof-step"
RECORDS = 3_000
NUMBERS = ("verdict", "records", "lost", "duplicated")
FLOW: dict[str, JsonValue] = {
    "flow": TOPIC,
    "steps": [{"name": "prove", "type": "verify", "supervisor": TOPIC}],
    "outputs": {name: f"${{ steps.prove.{name} }}" for name in NUMBERS},
}


def test_a_step_proves_what_spark_has_published_and_fails_for_a_lost_row(
    broker: Broker, cluster: Cluster, tmp_path: Path
) -> None:
    create_topic(broker.bootstrap, TOPIC, partitions=2)
    produce(broker.bootstrap, TOPIC, (record(number) for number in range(RECORDS)))
    cluster.apply(spec(broker.bootstrap, TOPIC, task_count=1, task_duration="PT3S"))
    ends = ends_of(broker.bootstrap, TOPIC)
    wait_until(lambda: cluster.has_read(TOPIC, ends))
    cluster.post(TOPIC, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
    cluster.http.post("/api/v1/flows", json=FLOW).raise_for_status()

    proven = _ended(cluster, "proven")
    file = cluster.files(TOPIC)[0]
    with _without_a_row(file, tmp_path / "kept"):
        lacks = _ended(cluster, "lacks")

    assert proven["state"] == "SUCCESS", proven
    expected = {"verdict": "proven", "records": RECORDS, "lost": 0, "duplicated": 0}
    assert proven["outputs"] == expected
    assert lacks["state"] == "FAILED"
    assert lacks["outputs"] == {}
    [run] = cast("list[dict[str, JsonValue]]", lacks["runs"])
    error = cast("dict[str, str]", run["error"])
    assert error["code"] == "not-proven"
    assert "1 lost, 0 duplicated" in error["message"]
    assert str(lacks["error"]).startswith(f"prove: {TOPIC}: violated")


def _ended(cluster: Cluster, key: str) -> dict[str, JsonValue]:
    """Start the flow, and return its execution once it has ended."""
    started = cluster.http.post(f"/api/v1/flows/{TOPIC}/executions", json={"key": key})
    assert started.status_code == httpx.codes.ACCEPTED, started.text
    seen: dict[str, JsonValue] = {}

    def has_ended() -> bool:
        seen.update(cluster.http.get(f"/api/v1/executions/{TOPIC}:{key}").json())
        return seen["endedAt"] is not None

    wait_until(has_ended)
    return seen


@contextmanager
def _without_a_row(file: Path, kept: Path) -> Iterator[None]:
    """Take the last row out of a file, and put it back: other tests look at all files."""
    shutil.copy2(file, kept)
    try:
        rows = pyarrow.parquet.read_table(file)
        pyarrow.parquet.write_table(rows.slice(0, len(rows) - 1), file)
        yield
    finally:
        shutil.copy2(kept, file)
