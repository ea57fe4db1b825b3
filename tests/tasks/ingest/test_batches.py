"""One batch over a real topic: every committed record is one row or one reject, on disk.

Slow: each test is a batch of Spark; one has more columns than are allowed.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Column
from tasks.ingest.engine import SparkEngine
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import (
    batch,
    paths_below,
    places_of,
    record,
    rejected,
    spec_for,
    table_of,
)

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]


def places_by_another_reader(
    bootstrap: str, topic: str, ends: dict[int, int]
) -> Counter[tuple[int, int]]:
    """(partition, offset) of each committed record, as librdkafka reads them."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "tests-places",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    places: Counter[tuple[int, int]] = Counter()
    try:
        consumer.assign([TopicPartition(topic, p, 0) for p in ends])
        while any(
            position.offset < ends[position.partition]
            for position in consumer.position([TopicPartition(topic, p) for p in ends])
        ):
            message = consumer.poll(5)
            if message is not None:
                assert message.error() is None
                partition, offset = message.partition(), message.offset()
                assert partition is not None
                assert offset is not None
                places[partition, offset] += 1
    finally:
        consumer.close()
    return places


def in_transaction(bootstrap: str, topic: str, numbers: range, *, commit: bool) -> None:
    """Send records to both partitions of a topic in one transaction, then end it."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"tests-{topic}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in numbers:
        producer.produce(topic, record(number), partition=number % 2)
    assert producer.flush(30) == 0
    if commit:
        producer.commit_transaction(30)
    else:
        producer.abort_transaction(30)


def test_a_batch_holds_each_committed_record_once_and_no_aborted_one(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: also where the range ends on a transaction's marker, which no reader ever sees."""
    topic = new_topic(2)
    in_transaction(broker.bootstrap, topic, range(100), commit=True)
    in_transaction(broker.bootstrap, topic, range(100, 200), commit=False)
    in_transaction(broker.bootstrap, topic, range(200, 300), commit=True)
    # In each partition 50 records and a marker, thrice: offsets 0 to 152, the last a marker.
    ranges = {0: (0, 153), 1: (0, 153)}

    entry = engine.read_batch(batch(spec_for(broker.bootstrap), topic, ranges))

    expected = places_by_another_reader(broker.bootstrap, topic, {0: 153, 1: 153})
    assert places_of(tmp_path, entry.files) == expected
    assert len(expected) == 200
    ids = sorted(table_of(tmp_path, entry.files)["id"].to_pylist())
    assert ids == [*range(100), *range(200, 300)]
    assert (entry.counters.processed, entry.counters.unparseable) == (200, 0)
    assert entry.end == batch(spec_for(broker.bootstrap), topic, ranges).end


def test_an_aborted_range_is_an_entry_without_files(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(2)
    in_transaction(broker.bootstrap, topic, range(20), commit=False)

    entry = engine.read_batch(batch(spec_for(broker.bootstrap), topic, {0: (0, 11), 1: (3, 3)}))

    assert (entry.files, entry.rejects) == ((), None)
    assert not any("b0-1" in path for path in paths_below(tmp_path))


def test_ranges_that_touch_share_no_row(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(n) for n in range(100)])
    spec = spec_for(broker.bootstrap)

    entries = [
        engine.read_batch(batch(spec, topic, {0: (start, start + 40)}, number=number))
        for number, start in enumerate((10, 50))
    ]

    files = [file for entry in entries for file in entry.files]
    assert places_of(tmp_path, files) == Counter({(0, n): 1 for n in range(10, 90)})


def test_files_are_as_the_entry_says(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: sizes, digests, spans and bounds are of the files; and nothing else lies there."""
    topic = new_topic(2)
    produce(broker.bootstrap, topic, [record(n, 1_700_000_000_000 + n) for n in range(60)])

    entry = engine.read_batch(batch(spec_for(broker.bootstrap), topic, {0: (0, 30), 1: (5, 30)}))

    [file] = entry.files  # a small batch is one file, whatever the number of partitions
    content = (tmp_path / file.path).read_bytes()
    assert (file.size_bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert file.path.startswith(f"clicks/data/task-{topic}/b0-1/")
    table = pq.read_table(tmp_path / file.path, partitioning=None)
    assert table.column_names == ["__time", "id", "user", "__partition", "__offset"]
    assert table.num_rows == file.rows == 55
    times = table["__time"].to_pylist()
    assert (file.time_min, file.time_max) == (min(times), max(times))
    spans = [(s.topic, s.partition, s.first, s.last, s.rows) for s in file.spans]
    assert spans == [(topic, 0, 0, 29, 30), (topic, 1, 5, 29, 25)]
    assert paths_below(tmp_path) == {file.path, "clicks/README.txt"}


def test_every_offset_is_a_row_or_a_reject_with_its_reason(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Source: rule P25."""
    topic = new_topic(1)
    broken: list[str | bytes] = [
        "x",
        "x",
        "",
        "[1]",
        '{"id":1}',
        '{"t":"soon"}',
        b'{"t":\xff}',
        "x",
    ]
    produce(broker.bootstrap, topic, [record(0), *broken, record(9)])
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, None, key=b"gone", partition=0)
    assert producer.flush(30) == 0

    entry = engine.read_batch(batch(spec_for(broker.bootstrap), topic, {0: (0, 11)}))

    assert places_of(tmp_path, entry.files) == Counter({(0, 0): 1, (0, 9): 1})
    assert rejected(tmp_path, entry) == [
        (0, 1, 2, "not-json"),
        (0, 3, 3, "empty"),
        (0, 4, 4, "not-an-object"),
        (0, 5, 5, "no-timestamp"),
        (0, 6, 6, "bad-timestamp"),
        (0, 7, 8, "not-json"),
        (0, 10, 10, "null-value"),
    ]
    assert entry.rejects is not None
    assert entry.rejects.records == 9
    counters = entry.counters
    assert (counters.processed, counters.unparseable, counters.thrown_away) == (2, 8, 1)
    assert counters.processed_bytes == len(record(0)) + len(record(9)) + sum(map(len, broken))
    samples = {(s.offset, s.reason, s.input) for s in entry.samples}
    assert {(1, "not-json", "x"), (8, "not-json", "x"), (4, "not-an-object", "[1]")} <= samples


def test_a_batch_of_rejects_alone_has_them_raw_a_rejects_file_and_no_data(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, ["x" * 2_000] * 50)

    entry = engine.read_batch(batch(spec_for(broker.bootstrap), topic, {0: (0, 50)}))

    assert entry.files == ()
    assert rejected(tmp_path, entry) == [(0, 0, 49, "not-json")]
    assert [sample.input for sample in entry.samples] == ["x" * 500] * 2
    assert paths_below(tmp_path) == {
        f"clicks/data/task-{topic}/b0-1/rejects.parquet",
        f"clicks/data/task-{topic}/b0-1/errors-00000.parquet",
        "clicks/README.txt",
    }


def test_a_value_that_does_not_fit_is_counted_by_row(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    columns = (Column(name="a", type="long"), Column(name="b", type="double"))
    values = ['{"t":0,"a":1,"b":1}', '{"t":0,"a":"x","b":"y"}', '{"t":0}', '{"t":0,"a":[]}']
    produce(broker.bootstrap, topic, values)

    spec = spec_for(broker.bootstrap, columns=columns)
    entry = engine.read_batch(batch(spec, topic, {0: (0, 4)}))

    rows = table_of(tmp_path, entry.files).sort_by("__offset")
    assert rows["a"].to_pylist() == [1, None, None, None]
    assert rows["b"].to_pylist() == [1.0, None, None, None]
    assert (entry.counters.processed, entry.counters.processed_with_error) == (2, 2)


def test_without_declared_columns_every_key_becomes_one(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a key met late in a batch has its value in each row; columns only grow.

    A field of a reserved name makes no column, and its record counts.
    """
    topic = new_topic(1)
    values = ['{"t":0,"b":1}'] * 40 + ['{"t":0,"a":"1","__time":5,"secret":1}']
    produce(broker.bootstrap, topic, [*values, '{"t":0,"a":"2"}', '{"only":"rejected"}'])
    spec = spec_for(broker.bootstrap, columns=()).model_copy(update={"excluded": ("secret",)})

    first = engine.read_batch(batch(spec, topic, {0: (0, 40)}))
    second = engine.read_batch(batch(spec, topic, {0: (40, 43)}, number=1, columns=first.columns))

    assert (first.columns, second.columns) == (("b",), ("a", "b"))
    rows = table_of(tmp_path, second.files)
    assert rows.column_names == ["__time", "a", "b", "__partition", "__offset"]
    assert rows["a"].to_pylist() == ["1", "2"]
    assert second.counters.processed_with_error == 1
    assert rejected(tmp_path, second) == [(0, 42, 42, "no-timestamp")]


def test_columns_beyond_the_limit_are_left_out_and_counted(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    many = ",".join(f'"k{n:04d}":{n}' for n in range(1_005))
    produce(broker.bootstrap, topic, [f'{{"t":0,{many}}}', '{"t":0,"k0001":"1"}'])

    spec = spec_for(broker.bootstrap, columns=())
    entry = engine.read_batch(batch(spec, topic, {0: (0, 2)}))

    assert entry.columns == tuple(f"k{n:04d}" for n in range(1_000))
    assert (entry.counters.processed, entry.counters.processed_with_error) == (1, 1)
    assert table_of(tmp_path, entry.files).num_columns == 1_003


def test_what_a_crash_left_in_the_batch_folder_is_gone(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(0)])
    left = tmp_path / "clicks" / "data" / f"task-{topic}" / "b0-1" / "part-00000-old.parquet"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half a file")

    entry = engine.read_batch(batch(spec_for(broker.bootstrap), topic, {0: (0, 1)}))

    assert paths_below(tmp_path) == {entry.files[0].path, "clicks/README.txt"}
