"""Batches of other formats from a real broker: rows, rejects, counts, and what a merge keeps."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer

from supervisor.dev.broker import Broker
from tasks.contract.filters import Selector
from tasks.contract.ingest_spec import (
    Column,
    IngestSpec,
    KafkaColumns,
    TextFormat,
    TimestampSpec,
    Transform,
)
from tasks.ingest.engine import SparkEngine
from tasks.ports import MergeJob
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch, rejected, spec_for, table_of

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]

BROKEN, KEYLESS = 3, 4


def test_keys_headers_and_times_come_from_the_broker(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    send(broker.bootstrap, topic, 6)
    spec = spec_with_kafka_fields(broker.bootstrap)
    entries = [engine.read_batch(batch(spec, topic, {0: (n, n + 2)}, number=n)) for n in (0, 2, 4)]

    assert [rejected(tmp_path, entry) for entry in entries] == [
        [(0, 1, 1, "filtered")],
        [(0, 3, 3, "not-json")],
        [(0, 5, 5, "filtered")],
    ]
    counted = [entry.counters for entry in entries]
    counts = [(c.processed, c.unparseable, c.thrown_away) for c in counted]
    assert counts == [(1, 0, 1), (1, 1, 0), (1, 0, 1)]
    assert [s.reason for entry in entries for s in entry.samples] == ["not-json"]
    job = MergeJob(task_id=f"task-{topic}", incarnation=1, spec=spec, entries=tuple(entries))
    [segment] = engine.merge(job).segments
    rows = pq.read_table(tmp_path / segment.path, partitioning=None).to_pylist()
    assert [tuple(row.values())[1:-2] for row in rows] == [
        ('{"n":0}', "t-0", "key-0", topic, 1),
        ('{"n":2}', "t-2", "key-2", topic, 1),
        ('{"n":4}', "t-4", None, topic, 1),
    ]
    assert [int(row["__time"].timestamp() * 1000) % 10 for row in rows] == [0, 2, 4]


def test_lines_name_their_own_columns(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: without dimensions a table has the columns that the format names, in every batch."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, ["1700000000000,x,1", "1700000000000,,2", "soon,y,3"])
    spec = spec_for(broker.bootstrap, columns=()).model_copy(
        update={
            "value_format": TextFormat(type="csv", columns=("t", "b", "a"), delimiter=","),
            "excluded": ("__time", "t"),
        }
    )

    first = engine.read_batch(batch(spec, topic, {0: (0, 1)}))
    second = engine.read_batch(batch(spec, topic, {0: (1, 3)}, number=1, columns=first.columns))

    assert first.columns == second.columns == ("a", "b")
    rows = table_of(tmp_path, first.files + second.files).sort_by("__offset").to_pylist()
    assert [(row["a"], row["b"]) for row in rows] == [("1", "x"), ("2", None)]
    assert rejected(tmp_path, second) == [(0, 2, 2, "bad-timestamp")]


def send(bootstrap: str, topic: str, number: int) -> None:
    """Records with keys, headers and times of their own; record 3 is broken, 4 has no key."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 3})
    for n in range(number):
        producer.produce(
            topic,
            value=b"{" if n == BROKEN else b'{"a":{"n":%d}}' % n,
            key=None if n == KEYLESS else b"key-%d" % n,
            headers=[("trace", b"t-%d" % n)],
            timestamp=1_700_000_000_000 + n,
            partition=0,
        )
    assert producer.flush(30) == 0


def spec_with_kafka_fields(bootstrap: str) -> IngestSpec:
    """Keys, headers and times as columns; only even records are wanted."""
    return spec_for(
        bootstrap,
        columns=(
            Column(name="a", type="json"),
            Column(name="h.trace"),
            Column(name="kafka.key"),
            Column(name="kafka.topic"),
            Column(name="even", type="long"),
        ),
    ).model_copy(
        update={
            "kafka_columns": KafkaColumns(
                timestamp="kafka.timestamp",
                topic="kafka.topic",
                header_prefix="h.",
                key="kafka.key",
            ),
            "timestamp": TimestampSpec(column="kafka.timestamp", format="millis"),
            "transforms": (
                Transform(name="even", expression="json_value(a, '$.n', 'LONG') % 2 == 0"),
            ),
            "filter": Selector(dimension="even", value=1),
        }
    )
