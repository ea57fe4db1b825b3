"""From journaled files to segments: the same rows, each file in one time chunk, sorted."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Granularity, IngestSpec
from tasks.contract.messages import OffsetSpan
from tasks.contract.offsets import TopicPartition
from tasks.ingest.decode.observed import Kept, ObservedRecords
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge.merge import check_rewritten
from tasks.ingest.write.write import check_rows
from tasks.ports import DataFile, JournalEntry, MergeJob, TaskError
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import (
    paths_below,
    places_of,
    read_in,
    record,
    rejected,
    spec_for,
    table_of,
)

NewTopic = Callable[[int], str]

DAY = datetime(2024, 5, 1, tzinfo=UTC)
DAY_MS = int(DAY.timestamp() * 1000)
HOUR_MS = 3_600_000


def merge_job(spec: IngestSpec, topic: str, entries: tuple[JournalEntry, ...]) -> MergeJob:
    return MergeJob(task_id=f"task-{topic}", incarnation=1, spec=spec, entries=entries)


@pytest.mark.spark
@pytest.mark.kafka
def test_a_merge_keeps_each_row_and_gives_each_chunk_a_sorted_file(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    times = [DAY_MS + (n * 37 % 48) * HOUR_MS for n in range(300)]  # two days, not in order
    produce(broker.bootstrap, topic, [record(n, t) for n, t in enumerate(times)])
    spec = spec_for(broker.bootstrap)
    entries = read_in(engine, spec, topic, [0, 100, 200, 300])

    merged = engine.merge(merge_job(spec, topic, entries))

    starts = [segment.interval_start for segment in merged.segments]
    assert starts == [DAY, DAY + timedelta(days=1)]
    for segment in merged.segments:
        content = (tmp_path / segment.path).read_bytes()
        assert segment.sha256 == hashlib.sha256(content).hexdigest()
        table = pq.read_table(tmp_path / segment.path)  # with the inference of partitions
        assert table.column_names == ["__time", "id", "user", "__partition", "__offset"]
        keys = list(zip(table["__time"].to_pylist(), table["id"].to_pylist(), strict=True))
        assert keys == sorted(keys)
        assert segment.interval_start <= segment.time_min <= segment.time_max
        assert segment.time_max < segment.interval_end
    files = [DataFile(**{f: getattr(s, f) for f in DataFile.model_fields}) for s in merged.segments]
    journaled = [file for entry in entries for file in entry.files]
    assert places_of(tmp_path, files) == places_of(tmp_path, journaled)
    assert sorted(table_of(tmp_path, files)["id"].to_pylist()) == list(range(300))
    assert not [p for p in paths_below(tmp_path) if "=" in p or "/_" in p or p.endswith(".crc")]


@pytest.mark.spark
@pytest.mark.kafka
def test_a_merge_run_again_gives_the_same_segments(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: after a crash between merge and publish it is simply run again."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [*(record(n, DAY_MS) for n in range(30)), "x", "x"])
    spec = spec_for(broker.bootstrap, granularity=Granularity.ALL)
    entries = read_in(engine, spec, topic, [0, 10, 20, 31, 32])

    first = engine.merge(merge_job(spec, topic, entries))
    left = tmp_path / first.segments[0].path
    left.with_name("segment-00099.parquet").write_bytes(b"half a file")
    second = engine.merge(merge_job(spec, topic, entries))

    assert second == first
    assert [segment.rows for segment in first.segments] == [30]
    assert first.rejects is not None
    whole = entries[0].model_copy(update={"rejects": first.rejects})
    assert rejected(tmp_path, whole) == [(0, 30, 31, "not-json")]  # joined over two batches
    assert not left.with_name("segment-00099.parquet").exists()


@pytest.mark.spark
@pytest.mark.kafka
def test_files_that_are_few_and_whole_become_segments_as_they_are(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(n, DAY_MS) for n in range(20)])
    spec = spec_for(broker.bootstrap)
    entries = read_in(engine, spec, topic, [0, 20])
    before = paths_below(tmp_path)

    merged = engine.merge(merge_job(spec, topic, entries))

    assert [segment.path for segment in merged.segments] == [entries[0].files[0].path]
    assert paths_below(tmp_path) == before


@pytest.mark.spark
@pytest.mark.kafka
def test_more_rows_than_a_segment_may_have_are_split(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(n, DAY_MS) for n in range(100)])
    spec = spec_for(broker.bootstrap, segment_rows_max=40)
    entries = read_in(engine, spec, topic, list(range(0, 101, 10)))

    merged = engine.merge(merge_job(spec, topic, entries))

    rows = [segment.rows for segment in merged.segments]
    assert sum(rows) == 100
    assert max(rows) <= 40
    assert len(rows) <= 5


@pytest.mark.spark
@pytest.mark.kafka
def test_a_column_that_came_late_is_null_in_earlier_rows(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, ['{"t":0,"b":"1"}'] * 2 + ['{"t":1,"a":"2"}'] * 2)
    spec = spec_for(broker.bootstrap, columns=())
    entries = read_in(engine, spec, topic, [0, 1, 2, 3, 4])

    [segment] = engine.merge(merge_job(spec, topic, entries)).segments

    table = pq.read_table(tmp_path / segment.path)
    assert table.column_names == ["__time", "a", "b", "__partition", "__offset"]
    assert table["a"].to_pylist() == [None, None, "2", "2"]
    assert table["b"].to_pylist() == ["1", "1", None, None]


@pytest.mark.spark
@pytest.mark.kafka
def test_nothing_read_is_nothing_to_publish(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    topic = new_topic(1)

    merged = engine.merge(merge_job(spec_for(broker.bootstrap), topic, ()))

    assert (merged.segments, merged.rejects) == ((), None)


@pytest.mark.spark
@pytest.mark.kafka
def test_dropped_batches_leave_no_file_and_may_be_dropped_again(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [record(0), record(1), "x"])
    spec = spec_for(broker.bootstrap)
    kept, dropped = read_in(engine, spec, topic, [0, 1, 3])

    for _ in range(2):
        engine.drop(f"task-{topic}", [dropped])

    assert paths_below(tmp_path) == {kept.files[0].path, "clicks/README.txt"}
    assert not (tmp_path / dropped.files[0].path).parent.exists()


def a_file(rows: int, *, at: datetime = DAY, lasting: timedelta = timedelta(0)) -> DataFile:
    span = OffsetSpan(topic="clicks", partition=0, first=0, last=rows - 1, rows=rows)
    return DataFile(
        path="clicks/data/task/b0-1/part-0.parquet",
        rows=rows,
        size_bytes=1,
        sha256="0" * 64,
        time_min=at,
        time_max=at + lasting,
        spans=(span,),
    )


def test_a_merge_that_lost_or_doubled_a_row_is_refused() -> None:
    old = [a_file(10)]
    check_rewritten(old, [a_file(10)])

    for new in ([a_file(9)], [a_file(10), a_file(1)], []):
        with pytest.raises(TaskError, match="merge"):
            check_rewritten(old, new)


def test_a_batch_whose_files_differ_from_what_was_observed_is_refused() -> None:
    """Goal: also the silent empty answer of an observation after a cancelled job (rule P21)."""
    at = TopicPartition("clicks", 0)
    seen = ObservedRecords(10, 0, 0, {at: Kept(10, 0, 9)}, (), (), ())
    check_rows(seen, [a_file(10)], {at: 0}, {at: 10})

    wrong: list[tuple[list[DataFile], ObservedRecords, int]] = [
        ([a_file(9)], seen, 10),
        ([], seen, 10),
        ([a_file(10)], replace(seen, kept={}, records=0), 10),
        ([a_file(10)], replace(seen, records=11), 10),
        ([a_file(10)], seen, 9),
    ]
    for files, observed, end in wrong:
        with pytest.raises(TaskError):
            check_rows(observed, files, {at: 0}, {at: end})
