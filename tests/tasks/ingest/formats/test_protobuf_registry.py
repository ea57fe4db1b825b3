"""Batches of Protobuf messages whose schemas lie in a registry, from a real broker.

Source: Confluent's documentation, "Wire format": a byte 0, the schema's number in four bytes, where
the message stands in the schema's file, the message.
"""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import (
    Column,
    KafkaColumns,
    ProtobufFormat,
    RegistrySchemas,
)
from tasks.contract.registry import Registry
from tasks.ingest.engine import SparkEngine
from tests.environment.brokers import produce
from tests.environment.registries import FakeRegistry
from tests.tasks.ingest.batches import batch, rejected, table_of
from tests.tasks.ingest.formats.by_registry import produce_keyed, spec_of, waits_for_its_registry
from tests.tasks.ingest.formats.protobufs import Every, held

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]


def by_registry(url: str) -> ProtobufFormat:
    return ProtobufFormat(schemas=RegistrySchemas(registry=Registry(urls=(url,), binary=True)))


def framed(number: int, body: bytes, places: bytes = b"\0") -> bytes:
    return struct.pack(">bI", 0, number) + places + body


def every(number: int) -> bytes:
    """A message of the schema that `register_every` registers, framed."""
    return framed(1, Every(an_int64=number, a_string=f"u{number}").SerializeToString())


def register_every(registry: FakeRegistry) -> None:
    """As number 1: with an import from the registry, and those that no registry has."""
    files = {file.name: file.SerializeToString() for file in held("every").file}
    registry.register_file(1, files["every.proto"], ("shop/money.proto", files["shop/money.proto"]))


def two_messages() -> FileDescriptorProto:
    """A file of two messages, the second with one in it."""
    file = FileDescriptorProto(name="default", package="two", syntax="proto3")
    inner = file.message_type.add(name="A").field.add(name="a", number=1, label=1)
    inner.type = inner.TYPE_INT32
    second = file.message_type.add(name="B")
    within = second.nested_type.add(name="C").field.add(name="c", number=1, label=1)
    within.type = within.TYPE_STRING
    return file


def test_a_schema_is_fetched_when_a_record_names_it(
    broker: Broker,
    engine: SparkEngine,
    new_topic: NewTopic,
    registry: FakeRegistry,
    tmp_path: Path,
) -> None:
    """Goal: descriptors and sources in a batch, messages by their place, all that may be wrong."""
    topic, spec = new_topic(1), spec_of(broker, by_registry(registry.url))
    register_every(registry)
    registry.register_file(2, two_messages().SerializeToString())
    registry.register(3, {"type": "object"}, schemaType="JSON")
    registry.register_source(4, 'syntax = "proto2"; message A { optional B b = 1; }')
    registry.answers["/schemas/ids/3?format=serialized"] = registry.answers["/schemas/ids/3"]
    missing = FileDescriptorProto(name="m", dependency=["far/away.proto"])
    registry.register_file(5, missing.SerializeToString())
    registry.register_source(6, 'syntax = "proto3"; message First {} message A { int32 a = 2; }')
    records = [
        *(every(0), framed(2, b"\x08\x05"), framed(2, b"\n\x01x", b"\x04\x02\0")),  # B.C
        framed(2, b"\x08\x06", b"\x02\0"),  # A, by one step
        *(framed(2, b"", b"\x02\x04"), framed(2, b"", b"\x04\x02"), framed(2, b"", b"\x01")),
        *(framed(2, b"", b""), framed(2, b"", b"\xff\xff\xff\xff\xff\xff"), framed(2, b"\x08")),
        *(framed(3, b""), framed(4, b""), framed(5, b""), framed(9, b""), b"\0\0", b"", b"\1" * 9),
        *(every(17), framed(6, b"\x10\x09", b"\x02\x02")),
    ]
    produce(broker.bootstrap, topic, records)

    entry = engine.read_batch(batch(spec, topic, {0: (0, len(records))}))

    rows = table_of(tmp_path, entry.files).to_pylist()
    found = [(row["__offset"], row["anInt64"], row["a"], row["c"]) for row in rows]
    assert sorted(found) == [
        (0, None, None, None),  # proto3: a zero is not sent
        (1, None, "5", None),
        (2, None, None, "x"),
        (3, None, "6", None),
        (17, "17", None, None),
        (18, None, "9", None),
    ]
    assert rejected(tmp_path, entry) == [
        (0, 4, 9, "not-protobuf"),
        (0, 10, 12, "unreadable-schema"),
        (0, 13, 13, "unknown-schema"),
        (0, 14, 14, "not-protobuf"),
        (0, 15, 15, "empty"),
        (0, 16, 16, "not-protobuf"),
    ]
    assert registry.requested.count("/schemas/ids/1?format=serialized") == 1


def test_a_silent_registry_is_waited_for_and_loses_nothing(
    broker: Broker,
    engine: SparkEngine,
    new_topic: NewTopic,
    registry: FakeRegistry,
    tmp_path: Path,
) -> None:
    topic = new_topic(1)
    spec = spec_of(broker, by_registry(registry.url), Column(name="anInt64", type="long"))
    register_every(registry)
    produce(broker.bootstrap, topic, [every(n) for n in range(1, 4)])

    rows = waits_for_its_registry(engine, batch(spec, topic, {0: (0, 3)}), registry, tmp_path)

    assert [row["anInt64"] for row in rows] == [1, 2, 3]


def test_keys_may_be_protobuf_too(
    broker: Broker,
    engine: SparkEngine,
    new_topic: NewTopic,
    registry: FakeRegistry,
    tmp_path: Path,
) -> None:
    topic = new_topic(1)
    register_every(registry)
    registry.register_file(2, two_messages().SerializeToString())
    spec = spec_of(broker, by_registry(registry.url), Column(name="k"), Column(name="anInt64"))
    beside = KafkaColumns(key="k", key_format=by_registry(registry.url))
    wanted = spec.model_copy(update={"kafka_columns": beside})
    keys = [framed(2, b"\x08\x05"), framed(2, b"\x08"), framed(8, b""), None]
    produce_keyed(broker, topic, [(key, every(number)) for number, key in enumerate(keys, 1)])

    entry = engine.read_batch(batch(wanted, topic, {0: (0, 4)}))

    rows = table_of(tmp_path, entry.files).to_pylist()
    assert [(row["k"], row["anInt64"]) for row in rows] == [
        ("5", "1"),
        (None, "2"),
        (None, "3"),
        (None, "4"),
    ]
