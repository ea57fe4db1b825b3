"""What tests of formats whose schemas lie in a registry share."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import BinaryFormat, Column, Discovery, IngestSpec
from tasks.contract.kafka_client import KafkaClient
from tasks.ingest.engine import SparkEngine
from tasks.ports import BatchJob, SchemasUnavailable
from tests.environment.registries import FakeRegistry
from tests.tasks.ingest.batches import paths_below, table_of
from tests.tasks.ingest.formats.avros import MISSING_IS_NOON


def spec_of(broker: Broker, form: BinaryFormat, *columns: Column) -> IngestSpec:
    """A spec of these columns; of none: all fields are, as texts."""
    return IngestSpec(
        data_source="clicks",
        kafka=KafkaClient(bootstrap_servers=broker.bootstrap),
        value_format=form,
        timestamp=MISSING_IS_NOON,
        columns=columns,
        discovery=Discovery.NOTHING if columns else Discovery.TEXTS,
    )


def produce_keyed(
    broker: Broker, topic: str, records: Iterable[tuple[bytes | None, bytes]]
) -> None:
    """Send keys and values to a topic of one partition."""
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for key, value in records:
        producer.produce(topic, value, key)
    assert producer.flush(30) == 0


def waits_for_its_registry(
    engine: SparkEngine, job: BatchJob, registry: FakeRegistry, warehouse: Path
) -> list[dict[str, object]]:
    """Make sure that a batch that meets a silent registry leaves nothing; return its rows then."""
    registry.fault = (503, b"")
    with pytest.raises(SchemasUnavailable, match=r"registry does not answer: http.*: 503"):
        engine.read_batch(job)
    assert not [path for path in paths_below(warehouse) if "/data/" in path]

    registry.fault = None
    rows: list[dict[str, object]] = table_of(warehouse, engine.read_batch(job).files).to_pylist()
    return rows
