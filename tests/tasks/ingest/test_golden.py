"""Specs as Druid's own pages and console give them: taken as they are, and the rows they make.

The rows are read by pyarrow.  Each file of `golden/` has a spec, records (`sent`, where they are
more than a value of JSON), and the rows that they are; a field that a row does not have is null
in it, and records that are no row have none.

Slow: each spec of Druid's is a batch of Spark with a plan of its own.
"""

import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

import pytest
from confluent_kafka import Producer
from pydantic import JsonValue

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from supervisor.dev.broker import Broker
from tasks.contract.kafka_client import KafkaClient
from tasks.ingest.engine import SparkEngine
from tasks.ports import MergeJob
from tests.tasks.ingest.batches import batch, table_of

pytestmark = pytest.mark.spark

NewTopic = Callable[[int], str]

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
PLACE = {"__partition", "__offset"}


class Sent(TypedDict):
    """A record of a golden file."""

    value: NotRequired[JsonValue]
    base64: NotRequired[str]
    key: NotRequired[str]
    headers: NotRequired[list[tuple[str, str | bytes | None]]]


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_spec_of_druids_makes_the_rows_that_are_expected(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path, file: Path
) -> None:
    golden = json.loads(file.read_text())
    topic = new_topic(1)
    sent = golden.get("sent") or [{"value": record} for record in golden["records"]]
    send(broker.bootstrap, topic, sent)
    read = read_spec(golden["spec"])
    client = KafkaClient(bootstrap_servers=broker.bootstrap)
    spec = ingest_spec(read.spec).model_copy(update={"kafka": client})

    entry = engine.read_batch(batch(spec, topic, {0: (0, len(sent))}))
    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, (entry,)))

    assert list(read.warnings) == golden.get("warnings", [])
    rows = [
        {name: value for name, value in row.items() if value is not None and name not in PLACE}
        for row in table_of(tmp_path, merged.segments).to_pylist()
    ]
    for row in rows:
        row["__time"] = row["__time"].isoformat()
        assert ("kafka.timestamp" in row) == (spec.kafka_columns is not None)
        row.pop("kafka.timestamp", None)  # when it was sent
        row |= {name: json.loads(row[name]) for name in golden["json"] if name in row}
    wanted = json.loads(json.dumps(golden["rows"]).replace("<topic>", topic))
    assert sorted(rows, key=_time_of) == sorted(wanted, key=_time_of)


def send(bootstrap: str, topic: str, sent: Sequence[Sent]) -> None:
    """Send records: values are JSON, texts as they are, or bytes as base64."""
    producer = Producer({"bootstrap.servers": bootstrap})
    for record in sent:
        value = record.get("value")
        text = value if value is None or isinstance(value, str) else json.dumps(value)
        bytes_of = base64.b64decode(record["base64"]) if "base64" in record else text
        headers: list[tuple[str, str | bytes | None]] = [
            (name, header) for name, header in record.get("headers", [])
        ]
        producer.produce(topic, bytes_of, record.get("key"), headers=headers)
    assert producer.flush(30) == 0


def _time_of(row: dict[str, object]) -> str:
    return str(row["__time"])
