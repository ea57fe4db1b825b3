"""Batches of Avro records whose schemas lie in a registry, from a real broker."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import (
    AvroFormat,
    Column,
    IngestSpec,
    KafkaColumns,
    OneSchema,
    RegistrySchemas,
)
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.registry import Registry
from tasks.ingest.engine import SparkEngine
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.environment.registries import FakeRegistry
from tests.tasks.ingest.batches import batch, rejected, table_of
from tests.tasks.ingest.formats.avros import MISSING_IS_NOON, framed, record_of, written
from tests.tasks.ingest.formats.by_registry import produce_keyed, spec_of, waits_for_its_registry

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]

FIRST = record_of(id="long", user="string")
SECOND = record_of(user=["null", "string"], id="long", more="int")


def by_registry(url: str) -> AvroFormat:
    return AvroFormat(schemas=RegistrySchemas(registry=Registry(urls=(url,))))


def first(number: int) -> bytes:
    return framed(1, written(FIRST, {"id": number, "user": f"u{number}"}))


def second(number: int) -> bytes:
    return framed(2, written(SECOND, {"user": None, "id": number, "more": 7}))


def test_a_schema_is_fetched_when_a_record_names_it(
    broker: Broker,
    engine: SparkEngine,
    new_topic: NewTopic,
    registry: FakeRegistry,
    tmp_path: Path,
) -> None:
    """Goal: two schemas in a batch, one that comes later, one that there is not, one not Avro."""
    topic, spec = new_topic(1), spec_of(broker, by_registry(registry.url))
    registry.register(1, FIRST)
    registry.register(2, SECOND)
    registry.register(3, {"type": "object"}, schemaType="JSON")
    records = [first(0), first(1), second(2), framed(9, b"x"), framed(3, b"x"), b"\0\0", second(6)]
    records.append(framed(2**31, b"x"))  # more than any registry's number: it is not even asked
    produce(broker.bootstrap, topic, records)

    entry = engine.read_batch(batch(spec, topic, {0: (0, 2)}))
    later = engine.read_batch(batch(spec, topic, {0: (2, 8)}, number=1, columns=entry.columns))

    assert (entry.columns, later.columns) == (("id", "user"), ("id", "more", "user"))
    rows = table_of(tmp_path, [*entry.files, *later.files]).to_pylist()
    found = sorted((row["id"], row["user"], row["more"]) for row in rows if row["user"])
    assert found == [("0", "u0", None), ("1", "u1", None)]
    assert [(r["id"], r["more"]) for r in rows if not r["user"]] == [("2", "7"), ("6", "7")]
    assert rejected(tmp_path, later) == [
        (0, 3, 3, "unknown-schema"),
        (0, 4, 4, "unreadable-schema"),
        (0, 5, 5, "not-avro"),
        (0, 7, 7, "unknown-schema"),
    ]
    assert f"/schemas/ids/{2**31}" not in registry.requested
    assert {s.input for s in later.samples} == {
        *("base64:AAAAAAl4", "base64:AAAAAAN4", "base64:AAA=", "base64:AIAAAAB4"),
    }
    assert (
        registry.requested.count("/schemas/ids/1")
        == registry.requested.count("/schemas/ids/2")
        == 1
    )


def test_a_silent_registry_is_waited_for_and_loses_nothing(
    broker: Broker,
    engine: SparkEngine,
    new_topic: NewTopic,
    registry: FakeRegistry,
    tmp_path: Path,
) -> None:
    topic, spec = (
        new_topic(1),
        spec_of(broker, by_registry(registry.url), Column(name="id", type="long")),
    )
    registry.register(1, FIRST)
    produce(broker.bootstrap, topic, [first(n) for n in range(3)])

    rows = waits_for_its_registry(engine, batch(spec, topic, {0: (0, 3)}), registry, tmp_path)

    assert [row["id"] for row in rows] == [0, 1, 2]


def test_keys_may_be_avro_too(
    broker: Broker,
    engine: SparkEngine,
    new_topic: NewTopic,
    registry: FakeRegistry,
    tmp_path: Path,
) -> None:
    topic, spec = (
        new_topic(1),
        spec_of(broker, by_registry(registry.url), Column(name="k"), Column(name="id")),
    )
    registry.register(1, FIRST)
    key = by_registry(f"{registry.url}/keys")
    registry.answers["/keys/schemas/ids/1"] = {"schema": json.dumps(record_of(k="int", z="int"))}
    beside = KafkaColumns(key="k", key_format=key)
    good = framed(1, written(record_of(k="int", z="int"), {"k": 5, "z": 6}))
    keys = [good, good + b"\0", framed(8, b""), None]
    produce_keyed(broker, topic, [(key, first(number)) for number, key in enumerate(keys)])

    wanted = spec.model_copy(update={"kafka_columns": beside})
    entry = engine.read_batch(batch(wanted, topic, {0: (0, 4)}))

    rows = table_of(tmp_path, entry.files).to_pylist()
    assert [(row["k"], row["id"]) for row in rows] == [
        ("5", "0"),
        (None, "1"),
        (None, "2"),
        (None, "3"),
    ]


def test_broken_records_are_told_apart_from_the_others(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: of 4,000 records, one in a hundred broken, each whole one is a row, with its values."""
    topic, dice = new_topic(2), random.Random(7)
    schema = record_of(id="long", price="double", tags={"type": "array", "items": "string"})
    values: dict[int, list[bytes]] = {0: [], 1: []}
    whole: dict[tuple[int, int], tuple[int, float, str]] = {}
    for number in range(4_000):
        partition = number % 2
        tags = [f"t{dice.randrange(9)}" for _ in range(dice.randrange(4))]
        value = written(schema, {"id": number, "price": number / 8, "tags": tags})
        if dice.random() < 0.01:
            value = value[: dice.randrange(1, len(value))] if number % 4 < 2 else value + b"\0"
        else:
            tags_text = json.dumps(tags, separators=(",", ":"))
            whole[partition, len(values[partition])] = (number, number / 8, tags_text)
        values[partition].append(value)
    for partition, held in values.items():
        produce(broker.bootstrap, topic, held, partition=partition)
    columns = (Column(name="id", type="long"), Column(name="price", type="double"))
    spec = IngestSpec(
        data_source="clicks",
        kafka=KafkaClient(bootstrap_servers=broker.bootstrap),
        value_format=AvroFormat(schemas=OneSchema(text=json.dumps(schema))),
        timestamp=MISSING_IS_NOON,
        columns=(*columns, Column(name="tags")),
    )

    entry = engine.read_batch(batch(spec, topic, {0: (0, 2_000), 1: (0, 2_000)}))

    rows = table_of(tmp_path, entry.files).to_pylist()
    rows_by_place = {
        (row["__partition"], row["__offset"]): (row["id"], row["price"], row["tags"])
        for row in rows
    }
    assert len(rows) == len(rows_by_place)
    assert rows_by_place == whole
    assert 20 < entry.counters.unparseable == 4_000 - len(whole)
    assert {reason for *_, reason in rejected(tmp_path, entry)} == {"not-avro"}


def test_the_same_records_are_the_same_rows_whatever_was_read_before(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: replicas agree; Avro's maps come in an order that depends on the record before."""
    schema = record_of(m={"type": "map", "values": "int"})
    small = {f"k{n}": n for n in range(9)}
    records = [{f"g{n}": n for n in range(500)}, small, {}, small]
    spec = IngestSpec(
        data_source="clicks",
        kafka=KafkaClient(bootstrap_servers=broker.bootstrap),
        value_format=AvroFormat(schemas=OneSchema(text=json.dumps(schema))),
        timestamp=MISSING_IS_NOON,
        columns=(Column(name="m"),),
    )
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [written(schema, {"m": held}) for held in records])
    columns_read = []
    for name, cuts in {"one": [(0, 4)], "four": [(0, 1), (1, 2), (2, 3), (3, 4)]}.items():
        engine = SparkEngine(spark, str(tmp_path / name), lambda _: "")
        entries = [
            engine.read_batch(batch(spec, topic, {0: cut}, number=n)) for n, cut in enumerate(cuts)
        ]
        files = [file for entry in entries for file in entry.files]
        columns_read.append(table_of(tmp_path / name, files)["m"].to_pylist())

    assert columns_read[0] == columns_read[1]
    assert columns_read[0][1] == json.dumps(small, separators=(",", ":"))
