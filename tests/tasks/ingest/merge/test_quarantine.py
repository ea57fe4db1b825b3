"""Records that cannot be read are kept as they are: each once, and nothing else."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import BadRecords, Granularity, TextFormat
from tasks.contract.kafka_client import SaslMechanism, SecretRef
from tasks.contract.messages import FailureCode, OffsetSpan, SegmentFile
from tasks.contract.offsets import Offsets
from tasks.contract.offsets import TopicPartition as Place
from tasks.ingest.decode.observed import Reject
from tasks.ingest.engine import SparkEngine
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.merge.quarantine import check_raw
from tasks.ports import BatchCancelled, BatchJob, DataFile, JournalEntry, MergeJob, TaskError
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch, paths_below, record, rejected, spec_for

HOUR_MS = 3_600_000
LATELY_MS = int(time.time() * 1000) - 10 * HOUR_MS
"""Older records would be deleted by age while the test runs."""
ODD: list[tuple[bytes | None, bytes, list[tuple[str, str | bytes | None]]]] = [
    (b"k", b"{", [("h", b"\x00\xff"), ("h", None), ("other", b"")]),
    (None, b"", []),
    (b"", b"no json", [("h", b"1")]),
    (b"\xff\xfe", b"[1]", []),
    (None, b'{"id":1}', []),
    (None, b"\xff\xfe\x00", []),
]
"""(key, value, headers) of records that become no row."""

NewTopic = Callable[[int], str]
Raw = tuple[str, int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]
kafka = pytest.mark.kafka
spark = pytest.mark.spark


def send_odd(bootstrap: str, topic: str, partition: int, first: int = 0) -> None:
    """Send ODD, each an hour after the other, with a good record behind each."""
    producer = Producer({"bootstrap.servers": bootstrap})
    for number, (key, value, headers) in enumerate(ODD):
        at = LATELY_MS + number * HOUR_MS
        producer.produce(topic, value, key, partition=partition, headers=headers, timestamp=at)
        producer.produce(topic, record(first + number), partition=partition, timestamp=at)
    assert producer.flush(30) == 0


def broken_by_another_reader(
    bootstrap: str, ends: Mapping[tuple[str, int], int], good: Callable[[bytes | None], bool]
) -> list[Raw]:
    """Each record that is no row, as librdkafka reads it."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "tests", "isolation.level": "read_committed"}
    )
    raws: list[Raw] = []
    try:
        consumer.assign([TopicPartition(topic, p, 0) for topic, p in ends])
        left = sum(ends.values())
        while left:
            message = consumer.poll(10)
            assert message is not None
            assert message.error() is None
            left -= 1
            if not good(message.value()):
                raws.append(_raw(message))
    finally:
        consumer.close()
    return sorted(raws, key=lambda raw: raw[:3])


def _raw(message: Message) -> Raw:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    headers: object = message.headers() or []
    assert isinstance(headers, list)
    return topic, partition, offset, message.key(), message.value(), headers


def raw_in(warehouse: Path, files: Sequence[DataFile | SegmentFile]) -> list[Raw]:
    """Every record that files hold, sorted."""
    raws: list[Raw] = []
    for file in files:
        table = pq.read_table(warehouse / file.path, partitioning=None)
        for row in table.to_pylist():
            headers = [(h["key"], h["value"]) for h in row["headers"] or []]
            place = (row["topic"], row["partition"], row["offset"])
            raws.append((*place, row["key"], row["value"], headers))
    return sorted(raws, key=lambda raw: raw[:3])


def is_row(value: bytes | None) -> bool:
    return value is not None and b'"user"' in value


@spark
@kafka
def test_each_bad_record_is_kept_as_it_was_sent(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: key, value, headers and time, byte by byte; a tombstone is no bad record."""
    topic = new_topic(2)
    send_odd(broker.bootstrap, topic, 0)
    send_odd(broker.bootstrap, topic, 1, 100)
    tombstone = Producer({"bootstrap.servers": broker.bootstrap})
    tombstone.produce(topic, None, b"gone", partition=1)
    assert tombstone.flush(30) == 0
    spec = spec_for(broker.bootstrap)

    entry = engine.read_batch(batch(spec, topic, {0: (0, 12), 1: (0, 13)}))

    wanted = broken_by_another_reader(
        broker.bootstrap, {(topic, 0): 12, (topic, 1): 13}, lambda v: v is None or is_row(v)
    )
    assert len(wanted) == 12
    assert raw_in(tmp_path, entry.quarantine) == wanted
    assert (entry.counters.unparseable, entry.counters.thrown_away) == (12, 1)
    [file] = entry.quarantine
    rows = pq.read_table(tmp_path / file.path).to_pylist()
    runs = rejected(tmp_path, entry)
    reasons = {(p, o): why for p, first, last, why in runs for o in range(first, last + 1)}
    assert reasons.pop((1, 12)) == "null-value"
    assert {(row["partition"], row["offset"]): row["reason"] for row in rows} == reasons
    sent = [int(row["__time"].timestamp() * 1000) for row in rows if row["partition"] == 0]
    assert sent == [LATELY_MS + n * HOUR_MS for n in range(len(ODD))]


@spark
@kafka
def test_batches_of_several_topics_are_merged_chunk_by_chunk_and_cleaned_away(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a range of many batches ends in few files; what is dropped leaves nothing."""
    one, two = sorted((new_topic(1), new_topic(1)))
    send_odd(broker.bootstrap, one, 0)
    send_odd(broker.bootstrap, two, 0)
    several = {"topic_column": True, "segment_granularity": Granularity.HOUR}
    spec = spec_for(broker.bootstrap).model_copy(update=several)
    cuts = [(0, 0), (1, 2), (6, 2), (6, 11), (12, 12)]
    jobs = [
        BatchJob("task-several", 1, n, spec, _at(one, two, a), _at(one, two, b), ())
        for n, (a, b) in enumerate(pairwise(cuts))
    ]

    entries = [engine.read_batch(job) for job in jobs]
    merged = engine.merge(MergeJob("task-several", 1, spec, tuple(entries)))

    wanted = broken_by_another_reader(broker.bootstrap, {(one, 0): 12, (two, 0): 12}, is_row)
    assert raw_in(tmp_path, [file for e in entries for file in e.quarantine]) == wanted
    assert raw_in(tmp_path, merged.quarantine) == wanted
    hours = [file.interval_start for file in merged.quarantine]
    assert len(set(hours)) == len(hours) == len(ODD)
    assert merged.rejects is not None
    assert merged.rejects.quarantined == len(wanted)
    engine.drop("task-several", entries)
    left = {file.path for file in (*merged.segments, *merged.quarantine)}
    assert paths_below(tmp_path) == left | {merged.rejects.path, "clicks/README.txt"}


@spark
@kafka
def test_lines_that_do_not_fit_are_kept_and_a_spec_that_drops_keeps_none(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: every format takes the same way."""
    topic = new_topic(1)
    lines = [f"{LATELY_MS},1,one", '"', f"{LATELY_MS},2,two", "never,3,three", ""]
    produce(broker.bootstrap, topic, lines)
    csv = TextFormat(type="csv", columns=("t", "id", "user"), delimiter=",")
    spec = spec_for(broker.bootstrap).model_copy(update={"value_format": csv})
    dropping = spec.tuning.model_copy(update={"bad_records": BadRecords.DROP})

    kept = engine.read_batch(batch(spec, topic, {0: (0, 5)}))
    spec = spec.model_copy(update={"tuning": dropping})
    dropped = engine.read_batch(batch(spec, topic, {0: (0, 5)}, number=1))
    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, (dropped,)))

    assert [raw[4] for raw in raw_in(tmp_path, kept.quarantine)] == [b'"', b"never,3,three", b""]
    assert kept.counters == dropped.counters
    assert rejected(tmp_path, kept) == rejected(tmp_path, dropped)
    assert (dropped.quarantine, merged.quarantine) == ((), ())
    assert merged.rejects is not None
    assert merged.rejects.quarantined is None


@spark
@kafka
def test_a_journal_that_an_earlier_release_began_does_not_say_that_it_keeps_all(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: an upgrade in the middle of a range is told as it is, and loses nothing that it had."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, ["no json", record(1), "no json either"])
    spec = spec_for(broker.bootstrap)
    before, since = (
        engine.read_batch(batch(spec, topic, {0: (first, end)}, number=n))
        for n, (first, end) in enumerate(((0, 2), (2, 3)))
    )
    written = before.model_dump(mode="json")
    del written["quarantine"]
    del written["rejects"]["quarantined"]
    reopened = JournalEntry.model_validate(written)

    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, (reopened, since)))

    assert [raw[2] for raw in raw_in(tmp_path, merged.quarantine)] == [2]
    assert merged.rejects is not None
    assert (merged.rejects.records, merged.rejects.quarantined) == (2, None)


@spark
@kafka
def test_a_cancel_between_the_two_reads_leaves_no_file(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, ["no json", record(1)])
    job = batch(spec_for(broker.bootstrap), topic, {0: (0, 2)})
    environments: list[str] = []
    # The engine looks up secrets before each read: a handy moment.
    login = {
        "sasl_mechanism": SaslMechanism.PLAIN,
        "sasl_username": "u",
        "sasl_password": SecretRef(environment="TIDEGATE_SECRET_X"),
    }
    client = job.spec.kafka.model_copy(update=login)

    def cancelled_at_the_second(reference: SecretRef) -> str:
        environments.append(reference.environment)
        if len(environments) == 2:
            engine.cancel(job.task_id)
        return ""

    engine = SparkEngine(spark, str(tmp_path), cancelled_at_the_second)
    job = batch(job.spec.model_copy(update={"kafka": client}), topic, {0: (0, 2)})

    with pytest.raises(BatchCancelled):
        engine.read_batch(job)

    assert len(environments) == 2
    assert paths_below(tmp_path) == {"clicks/README.txt"}


def test_records_that_are_not_all_there_when_they_are_read_again_fail_the_batch() -> None:
    """Goal: compaction between the two reads is told, never passed over."""
    bad = [Reject(Place("t", 0), offset, RejectReason.NOT_JSON) for offset in (3, 5, 9)]
    file = a_file(rows=3, first=3, last=9)

    check_raw([file], bad)
    for other in (
        a_file(rows=2, first=3, last=9),
        a_file(rows=3, first=3, last=8),
        a_file(rows=3, first=4, last=9),
    ):
        with pytest.raises(TaskError, match="read again") as caught:
            check_raw([other], bad)
        assert caught.value.code is FailureCode.WRITE_FAILED


def a_file(*, rows: int, first: int, last: int) -> DataFile:
    span = OffsetSpan(topic="t", partition=0, first=first, last=last, rows=rows)
    now = datetime.now(UTC)
    return DataFile(
        path="a", rows=rows, size_bytes=1, sha256="", time_min=now, time_max=now, spans=(span,)
    )


def _at(one: str, two: str, offsets: tuple[int, int]) -> Offsets:
    return {Place(one, 0): offsets[0], Place(two, 0): offsets[1]}
