"""Large files of batches become segments by their row groups; only the others are rewritten.

Slow: each case writes, merges and reads files with Spark.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.filters import Selector
from tasks.contract.ingest_spec import Column, Granularity, IngestSpec, Metric, Transform
from tasks.contract.messages import FailureCode, SegmentFile
from tasks.ingest.decode.chunks import Chunks
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge.append import append
from tasks.ingest.merge.sizes import PART_ROWS_MIN, FileTarget, is_part, packed
from tasks.ingest.write import write
from tasks.ports import DataFile, MergeJob, MergeResult, TaskError
from tasks.rows.sql.text import name
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import (
    COLUMNS,
    batch,
    places_of,
    read_in,
    record,
    spec_for,
    table_of,
)
from tests.tasks.ingest.merge.test_sizes import DAY, a_file

NewTopic = Callable[[int], str]

START = datetime(2024, 5, 1, tzinfo=UTC)
DAY_MS = 86_400_000
LARGE = PART_ROWS_MIN + 1_000
"""Rows of a batch that is large enough to be a part as it is."""


def times_of(days: Sequence[int]) -> list[int]:
    """Moments in these days, in milliseconds, not in order."""
    start_ms = int(START.timestamp() * 1000)
    return [start_ms + day * DAY_MS + n * 7_919 % DAY_MS for n, day in enumerate(days)]


def keys_of(path: Path, group: int) -> list[tuple[object, ...]]:
    """What a row group is sorted by, in order."""
    table = pq.ParquetFile(path).read_row_group(group, columns=["__time", "id", "user"])
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def counts_of(path: Path, selection: str) -> tuple[object, ...]:
    """What DuckDB counts in one file."""
    with duckdb.connect() as connection:
        query = f"SELECT {selection} FROM read_parquet(?)"  # noqa: S608 -- of this test's own texts
        found = connection.execute(query, [str(path)]).fetchone()
    assert found is not None
    return tuple(found)


def whole_rows(warehouse: Path, files: Sequence[DataFile | SegmentFile]) -> pa.Table:
    """All rows with all their columns, by their places."""
    return table_of(warehouse, files).sort_by(
        [("__partition", "ascending"), ("__offset", "ascending")]
    )


def files_of(segments: Sequence[SegmentFile]) -> list[DataFile]:
    return [DataFile(**{f: getattr(s, f) for f in DataFile.model_fields}) for s in segments]


class Story:
    """A topic whose batches end at given offsets, and what a merge makes of them."""

    def __init__(self, broker: Broker, engine: SparkEngine, topic: str, folder: Path) -> None:
        self.engine, self.topic, self.folder = engine, topic, folder
        self.bootstrap = broker.bootstrap

    def merge(
        self,
        records: Sequence[str],
        ends: Sequence[int],
        columns: Sequence[Column] = COLUMNS,
        **updates: object,
    ) -> MergeResult:
        return self.merged(self.read(records, ends, columns, **updates))

    def read(
        self,
        records: Sequence[str],
        ends: Sequence[int],
        columns: Sequence[Column] = COLUMNS,
        **updates: object,
    ) -> IngestSpec:
        """Read batches, and return the spec by which that was."""
        produce(self.bootstrap, self.topic, records)
        spec = spec_for(self.bootstrap, columns=columns).model_copy(update=updates)
        self.entries = read_in(self.engine, spec, self.topic, [0, *ends])
        return spec

    def merged(self, spec: IngestSpec) -> MergeResult:
        """Merge what was read: each row is there as it was, once."""
        merged = self.engine.merge(MergeJob(f"task-{self.topic}", 1, spec, self.entries))
        journaled = [file for entry in self.entries for file in entry.files]
        segments = files_of(merged.segments)
        assert places_of(self.folder, segments) == places_of(self.folder, journaled)
        held, wanted = whole_rows(self.folder, segments), whole_rows(self.folder, journaled)
        assert sorted(held.column_names) == sorted(wanted.column_names)
        differing = [n for n in held.column_names if not held[n].equals(wanted[n])]
        assert differing == []
        return merged


@pytest.fixture
def story(broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path) -> Story:
    return Story(broker, engine, new_topic(1), tmp_path)


@pytest.mark.spark
@pytest.mark.kafka
def test_large_batches_become_row_groups_of_one_file_each_sorted(
    story: Story, tmp_path: Path
) -> None:
    records = [record(n, at) for n, at in enumerate(times_of([0] * 3 * LARGE))]

    [segment] = story.merge(records, [LARGE, 2 * LARGE, 3 * LARGE]).segments

    path = tmp_path / segment.path
    read = pq.ParquetFile(path)
    assert [read.metadata.row_group(g).num_rows for g in range(3)] == [LARGE] * 3
    for group in range(3):
        keys = keys_of(path, group)
        assert keys == sorted(keys)
    counted = counts_of(path, "count(*), count(DISTINCT id), max(id)")
    assert counted == (3 * LARGE, 3 * LARGE, 3 * LARGE - 1)
    one = pq.ParquetFile(tmp_path / story.entries[0].files[0].path)
    assert read.schema_arrow.equals(one.schema_arrow, check_metadata=True)


@pytest.mark.spark
@pytest.mark.kafka
def test_what_is_small_or_of_several_chunks_is_rewritten_and_joins_the_rest(
    story: Story, tmp_path: Path
) -> None:
    """Goal: a batch at the border of two days costs that batch's rewriting, not the range's.

    A count is never null, which Spark knows of the rows that it judges, not of those that it reads.
    """
    days = [0] * LARGE + [0, 1] * 500 + [1] * LARGE + [1] * 10
    ends = [LARGE, LARGE + 1_000, 2 * LARGE + 1_000, len(days)]
    records = [record(n, at) for n, at in enumerate(times_of(days))]

    merged = story.merge(records, ends, metrics=(Metric(name="n", of="count"),))

    starts = [segment.interval_start for segment in merged.segments]
    assert starts == [START, START + timedelta(days=1)]
    assert [segment.rows for segment in merged.segments] == [LARGE + 500, LARGE + 510]
    for segment in merged.segments:
        meta = pq.read_metadata(tmp_path / segment.path)
        assert max(meta.row_group(g).num_rows for g in range(meta.num_row_groups)) == LARGE
        counted = counts_of(tmp_path / segment.path, "sum(n), min(n), max(n)")
        assert counted == (segment.rows, 1, 1)
    left = sorted(path.name for path in (tmp_path / merged.segments[0].path).parent.iterdir())
    assert left == [Path(segment.path).name for segment in merged.segments]


NEVER_NULL = (
    Transform(name="always", expression="'a'"),
    Transform(name="worked_out", expression="concat('a', 1 + 2)"),
    Transform(name="either", expression="if(id > 7, 'x', 'y')"),
    Transform(name="without", expression="isnull(user)"),
)
"""What Spark knows, at once or when it has simplified it, to be never null."""
WITH_TRANSFORMS = (*COLUMNS, *(Column(name=transform.name) for transform in NEVER_NULL))


@pytest.mark.spark
@pytest.mark.kafka
def test_every_column_of_a_batch_may_be_null_by_its_type(story: Story, tmp_path: Path) -> None:
    """Goal: one table has one physical schema, whatever Spark knows of a batch's rows."""
    metrics = (
        Metric(name="n", of="count"),
        Metric(name="some", of="count", filter=Selector(dimension="user", value="user-1")),
    )
    rows = [record(n) for n in range(3)]

    story.merge(rows, [3], columns=WITH_TRANSFORMS, transforms=NEVER_NULL, metrics=metrics)

    schema = pq.read_schema(tmp_path / story.entries[0].files[0].path)
    assert [field.name for field in schema if not field.nullable] == []
    assert schema.names[3:-2] == ["always", "worked_out", "either", "without", "n", "some"]


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.parametrize("older", [0, 2])
def test_what_an_older_worker_wrote_with_another_schema_is_rewritten(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: int
) -> None:
    """Goal: the one range that is open during an upgrade is right as well."""
    records = [record(n, at) for n, at in enumerate(times_of([0] * 3 * LARGE))]
    produce(story.bootstrap, story.topic, records)
    updates = {"metrics": (Metric(name="n", of="count"),), "transforms": NEVER_NULL}
    spec = spec_for(story.bootstrap, columns=WITH_TRANSFORMS).model_copy(update=updates)
    entries = []
    for number in range(3):
        with monkeypatch.context() as patched:
            if number == older:
                patched.setattr(write, "_optional", lambda sql, column: f"{sql} AS {name(column)}")
            ranges = {0: (number * LARGE, (number + 1) * LARGE)}
            entries.append(story.engine.read_batch(batch(spec, story.topic, ranges, number=number)))
    story.entries = tuple(entries)

    [segment] = story.merged(spec).segments

    [old_file] = entries[older].files
    assert any(not field.nullable for field in pq.read_schema(tmp_path / old_file.path))
    assert all(field.nullable for field in pq.read_schema(tmp_path / segment.path))
    counted = counts_of(tmp_path / segment.path, "sum(n), count(always), count(either)")
    assert counted == (3 * LARGE, 3 * LARGE, 3 * LARGE)


@pytest.mark.spark
@pytest.mark.parametrize(
    "other",
    [
        pa.schema([pa.field("a", pa.int64(), nullable=False)]),
        pa.schema([("a", pa.int32())]),
        pa.schema([("b", pa.int64())]),
        pa.schema([("a", pa.timestamp("us", "UTC"))]),
        pa.schema([("a", pa.int64()), ("b", pa.int64())]),
    ],
)
def test_files_with_other_schemas_are_never_put_together(
    spark: SparkRuntime, tmp_path: Path, other: pa.Schema
) -> None:
    """Goal: whatever chooses them may be wrong; Parquet's writer compares nothing."""
    one, two, into = (tmp_path / f"{name}.parquet" for name in ("one", "two", "into"))
    pq.write_table(pa.table({"a": pa.array([1, 2], pa.int64())}), one)
    columns = [pa.array([3, 4], pa.int64()).cast(field.type, safe=False) for field in other]
    pq.write_table(pa.table(columns, schema=other), two)

    with pytest.raises(TaskError) as refused:
        append(spark.session, [one, two], into)

    assert refused.value.code is FailureCode.INTERNAL
    assert str(two) in str(refused.value)
    assert not into.exists()


@pytest.mark.spark
@pytest.mark.kafka
def test_a_large_batch_that_lacks_a_column_is_rewritten(story: Story, tmp_path: Path) -> None:
    without = [f'{{"t":{at},"a":"x"}}' for at in times_of([0] * 2 * LARGE)]
    beside = [f'{{"t":{at},"a":"y","b":"z"}}' for at in times_of([0] * LARGE)]

    merged = story.merge(without + beside, [LARGE, 2 * LARGE, 3 * LARGE], columns=())

    [segment] = merged.segments
    counted = counts_of(tmp_path / segment.path, "count(*), count(a), count(b)")
    assert counted == (3 * LARGE, 3 * LARGE, LARGE)
    meta = pq.read_metadata(tmp_path / segment.path)
    assert [meta.row_group(g).num_rows for g in range(meta.num_row_groups)] == [LARGE, 2 * LARGE]


@pytest.mark.spark
@pytest.mark.kafka
def test_a_file_that_finds_no_other_stays_where_it_is(story: Story) -> None:
    """Goal: nothing is copied for nothing; the cleaning goes by what segments name."""
    days = [0] * LARGE + [1] * 5 + [2] * 5
    records = [record(n, at) for n, at in enumerate(times_of(days))]

    merged = story.merge(records, [LARGE, LARGE + 5, LARGE + 6, LARGE + 8, LARGE + 10])

    [large, *small] = merged.segments
    assert large.path == story.entries[0].files[0].path
    assert [segment.rows for segment in small] == [5, 5]


def test_a_part_is_large_and_in_one_chunk_and_no_larger_than_a_file_may_be() -> None:
    chunks, target = Chunks(Granularity.DAY), FileTarget(10 * PART_ROWS_MIN, 2**40)
    assert is_part(a_file(PART_ROWS_MIN), chunks, target)
    assert not is_part(a_file(PART_ROWS_MIN - 1), chunks, target)
    assert not is_part(a_file(PART_ROWS_MIN, lasting=timedelta(days=1)), chunks, target)
    assert not is_part(a_file(11 * PART_ROWS_MIN), chunks, target)


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        ([60, 30], [[60, 30]]),
        ([60, 60, 60], [[60], [60], [60]]),
        ([50, 50, 50, 50], [[50, 50], [50, 50]]),
        ([40, 40, 40, 40, 40], [[40, 40], [40, 40], [40]]),
        ([90, 10, 90, 10], [[90, 10], [90, 10]]),
        ([1] * 101, [[1] * 51, [1] * 50]),
    ],
)
def test_groups_are_alike_and_never_have_too_many_rows(
    rows: list[int], groups: list[list[int]]
) -> None:
    files = [a_file(n, at=DAY + timedelta(minutes=turn)) for turn, n in enumerate(rows)]
    found = packed(files, Chunks(Granularity.DAY), FileTarget(100, 2**40))
    assert [[file.rows for file in group] for group in found] == groups


def test_files_of_two_chunks_are_never_packed_together() -> None:
    files = [a_file(10, at=DAY + timedelta(days=n % 2, minutes=n)) for n in range(4)]
    found = packed(files, Chunks(Granularity.DAY), FileTarget(100, 2**40))
    assert [[file.time_min.day for file in group] for group in found] == [
        [DAY.day, DAY.day],
        [DAY.day + 1, DAY.day + 1],
    ]
