"""The sample stream: steady, unique, and whole when it is told to stop."""

import json
import random
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from supervisor.dev.broker import Broker
from supervisor.dev.sample import SteadyRate, sample_record, sample_spec
from tests.environment.brokers import read_all
from tests.waiting import wait_until

REPOSITORY = Path(__file__).parents[3]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def clicks_of(broker: Broker, topic: str) -> list[dict[str, object]]:
    values = read_all(broker.bootstrap, topic).values()
    return [json.loads(value) for partition in values for value in partition]


def command(broker: Broker, topic: str, *options: str) -> list[str]:
    where = ("--bootstrap", broker.bootstrap, "--topic", topic)
    return [sys.executable, "-m", "supervisor.dev.sample", *where, *options]


def test_a_record_has_what_the_spec_reads_and_some_230_bytes() -> None:
    record = sample_record(random.Random(1), NOON)

    assert record["time"] == "2026-01-01T12:00:00.000Z"
    assert list(record)[:2] == ["id", "time"]
    kinds = {name: type(value) for name, value in record.items() if type(value) is not str}
    assert kinds == {"latency_ms": int, "bytes": int, "price": float}
    assert 200 <= len(json.dumps(record, separators=(",", ":"))) <= 260


def test_the_spec_names_each_field_of_a_record_but_its_time() -> None:
    """Source: the body of Druid's `POST /druid/indexer/v1/supervisor`."""
    sections = sample_spec("host:9092", "visits", task_duration="PT5M")["spec"]
    assert isinstance(sections, dict)
    schema, io = sections["dataSchema"], sections["ioConfig"]
    assert isinstance(schema, dict)
    assert isinstance(io, dict)

    assert schema["dataSource"] == io["topic"] == "visits"
    assert (io["taskCount"], io["taskDuration"]) == (2, "PT5M")
    assert io["consumerProperties"] == {"bootstrap.servers": "host:9092"}
    dimensions = schema["dimensionsSpec"]
    assert isinstance(dimensions, dict)
    entries = dimensions["dimensions"]
    assert isinstance(entries, list)
    names = {entry["name"] if isinstance(entry, dict) else entry for entry in entries}
    assert names == sample_record(random.Random(1), NOON).keys() - {"time"}


def test_the_pace_is_steady_and_makes_up_for_one_second_at_most() -> None:
    pace = SteadyRate(rate_per_s=200)
    steps = [pace.due(1000 + n * 0.05) for n in range(101)]

    assert steps[0] == 0
    assert sum(steps) == pytest.approx(1000, abs=1)
    assert max(steps) <= 11
    assert pace.due(1000 + 5 + 3600) == 200


@pytest.mark.kafka
def test_a_counted_run_makes_so_many_records_and_a_second_one_repeats_no_id(
    broker: Broker,
) -> None:
    for _ in range(2):
        run = subprocess.run(
            command(broker, "counted", "--rate", "0", "--count", "3000"),
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            timeout=120,
            check=True,
        )
        assert run.stdout == "3000 records in counted\n"

    clicks = clicks_of(broker, "counted")
    assert len(clicks) == 6000
    assert len({click["id"] for click in clicks}) == 6000
    assert len(read_all(broker.bootstrap, "counted")) == 6


@pytest.mark.kafka
def test_what_it_made_before_it_was_told_to_stop_is_all_there(broker: Broker) -> None:
    run = subprocess.Popen(
        command(broker, "stopped", "--rate", "2000", "--partitions", "1"),
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "w", "log_level": 3})

    def has_some() -> bool:
        if "stopped" not in consumer.list_topics(timeout=10).topics:
            return False
        try:
            ends = consumer.get_watermark_offsets(TopicPartition("stopped", 0), timeout=10)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION:
                raise
            return False  # the topic is known a moment before its broker leads it
        return ends[1] > 500

    try:
        wait_until(has_some)
        consumer.close()
        run.send_signal(signal.SIGTERM)
        output, _ = run.communicate(timeout=60)
    finally:
        run.kill()

    assert run.returncode == 0
    assert output == f"{len(clicks_of(broker, 'stopped'))} records in stopped\n"
