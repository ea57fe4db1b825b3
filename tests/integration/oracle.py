"""The oracle for data: the multiset of record ids, against an independent reader of the topic."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition
from pydantic import JsonValue

from tests.environment.brokers import produce, read_all


def ids_in_topic(bootstrap: str, topic: str) -> Counter[str]:
    """Return id -> how often the topic has it, committed records only."""
    values = read_all(bootstrap, topic)
    rows = (value for found in values.values() for value in found if not value.startswith(_BROKEN))
    return Counter(json.loads(value)["id"] for value in rows)


def bad_in_topic(bootstrap: str, topic: str) -> Counter[tuple[int, int, bytes]]:
    """Return (partition, offset, value) of each record that `streaming` broke, once."""
    return Counter(
        (partition, offset, value)
        for partition, found in read_all(bootstrap, topic).items()
        for offset, value in enumerate(found)  # no transaction: no offset is left out
        if value.startswith(_BROKEN)
    )


def bad_in_files(files: Iterable[Path]) -> Counter[tuple[int, int, bytes]]:
    """Return (partition, offset, value) -> how often files of an errors table have it."""
    bad_records: Counter[tuple[int, int, bytes]] = Counter()
    for file in files:
        columns = pq.read_table(file, columns=["partition", "offset", "value"]).columns
        bad_records.update(zip(*(column.to_pylist() for column in columns), strict=True))
    return bad_records


def ends_of(bootstrap: str, topic: str) -> dict[str, int]:
    """Return partition number as text -> where a topic ends now."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "tests-ends"})
    try:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        return {
            str(number): consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=30)[
                1
            ]
            for number in partitions
        }
    finally:
        consumer.close()


def ids_in_files(files: Iterable[Path]) -> Counter[str]:
    """Return id -> how often the files have it."""
    ids: Counter[str] = Counter()
    for file in files:
        ids.update(pq.read_table(file, columns=["id"]).column("id").to_pylist())
    return ids


_BROKEN = b"broken"


def record(number: int, prefix: str = "r") -> str:
    """Return the JSON of one record with an id of its own."""
    hour = number % 24
    value = {
        "id": f"{prefix}-{number}",
        "time": f"2026-01-{1 + number % 2:02d}T{hour:02d}:00:00.000Z",
        "user": f"user-{number % 97}",
        "amount": number % 1000,
        "price": number / 100,
        "text": "x" * 100,
    }
    return json.dumps(value, separators=(",", ":"))


def spec(
    bootstrap: str,
    topic: str,
    *,
    task_count: int = 2,
    replicas: int = 1,
    task_duration: str = "PT20S",
) -> dict[str, JsonValue]:
    """Return a supervisor spec for such records."""
    numbers: list[JsonValue] = [
        {"type": "long", "name": "amount"},
        {"type": "double", "name": "price"},
    ]
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": topic,
                "timestampSpec": {"column": "time", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["id", "user", "text", *numbers]},
                "granularitySpec": {"segmentGranularity": "DAY", "rollup": False},
            },
            "ioConfig": {
                "topic": topic,
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": bootstrap},
                "taskCount": task_count,
                "replicas": replicas,
                "taskDuration": task_duration,
                "useEarliestOffset": True,
            },
        },
    }


def _sent(number: int, bad_every: int | None, make: Callable[[int], str]) -> str:
    is_bad = bad_every is not None and number % bad_every == 0
    return f"{_BROKEN.decode()} {number}" if is_bad else make(number)


@contextmanager
def streaming(
    bootstrap: str,
    topic: str,
    *,
    rate_per_s: int,
    total: int | None = None,
    bad_every: int | None = None,
    make: Callable[[int], str] = record,
) -> Iterator[Event]:
    """Produce records at a steady rate while the body runs, in a thread.

    Every `bad_every`-th cannot be read.  The event is set when `total` records are sent; without
    it, when the body ends.
    """
    stop, done = Event(), Event()
    errors: list[BaseException] = []

    def run() -> None:
        sent, began = 0, time.monotonic()
        try:
            while not stop.is_set() and (total is None or sent < total):
                due = int((time.monotonic() - began) * rate_per_s) - sent
                due = min(due, 20_000, total - sent if total is not None else due)
                if due > 0:
                    values = (_sent(sent + n, bad_every, make) for n in range(due))
                    produce(bootstrap, topic, values)
                    sent += due
                stop.wait(0.2)
        except BaseException as error:  # noqa: BLE001 -- handed to the test's own thread below
            errors.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=run, name="producer", daemon=True)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive(), "the producer did not end"
        assert not errors, errors
