"""Errors files of bad records, and what a topic has of them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

from supervisor.adapters.kafka.replays import MARK, ORIGIN
from supervisor.dev.broker import Broker

LATELY = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)
HEADERS = [{"key": "h", "value": b"\xff"}, {"key": "h", "value": None}]
_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

Found = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]


def errors_file(path: Path, offsets: Sequence[int], reason: str = "not-json") -> Path:
    """An errors file with records of partition 3 of the topic `origin`."""
    number = len(offsets)
    table = pa.table(
        {
            "__time": pa.array([LATELY] * number, pa.timestamp("us", tz="UTC")),
            "topic": pa.array(["origin"] * number),
            "partition": pa.array([3] * number, pa.int32()),
            "offset": pa.array(offsets, pa.int64()),
            "reason": pa.array([reason] * number),
            "key": pa.array([None if n % 2 else b"k" for n in offsets], pa.binary()),
            "value": pa.array([b"\xff%d" % n for n in offsets], pa.binary()),
            "headers": pa.array([HEADERS if n % 2 else None for n in offsets], _TYPE),
        }
    )
    pq.write_table(table, path)
    return path


def in_topic(broker: Broker, topic: str) -> list[tuple[Found, int]]:
    """Each committed record of a topic of one partition, and its time in milliseconds."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "tests-replay",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    records = []
    try:
        while (message := consumer.poll(20)) is not None and message.error() is None:
            headers: object = message.headers() or []
            assert isinstance(headers, list)
            content = (message.key(), message.value(), headers)
            records.append((content, message.timestamp()[1]))
    finally:
        consumer.close()
    return records


def wanted(number: int, mark: str = "") -> Found:
    """The record as it was, and the headers of a replay."""
    kept = [("h", b"\xff"), ("h", None)] if number % 2 else []
    key = None if number % 2 else b"k"
    ours = [(ORIGIN, b"origin:3:%d" % number), *([(MARK, mark.encode())] if mark else [])]
    return key, b"\xff%d" % number, [*kept, *ours]
