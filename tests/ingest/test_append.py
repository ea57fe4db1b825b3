"""Large files of batches become segments by their row groups; only the others are rewritten."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract import SegmentFile
from tasks.ingest.chunks import Chunks
from tasks.ingest.engine import SparkEngine
from tasks.ingest.sizes import PART_ROWS_MIN, Target, is_part, packed
from tasks.ingest_spec import Column, Granularity
from tasks.ports import DataFile, MergeJob, MergeResult
from tests.brokers import produce
from tests.ingest.batches import COLUMNS, places_of, read_in, record, spec_for
from tests.ingest.test_sizes import DAY, a_file

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


def counts_of(path: Path, asked: str) -> tuple[object, ...]:
    """What DuckDB counts in one file."""
    with duckdb.connect() as connection:
        query = f"SELECT {asked} FROM read_parquet(?)"  # noqa: S608 -- of this test's own texts
        found = connection.execute(query, [str(path)]).fetchone()
    assert found is not None
    return tuple(found)


def files_of(segments: Sequence[SegmentFile]) -> list[DataFile]:
    return [DataFile(**{f: getattr(s, f) for f in DataFile.model_fields}) for s in segments]


class Story:
    """A topic whose batches end at given offsets, and what a merge makes of them."""

    def __init__(self, broker: Broker, engine: SparkEngine, topic: str, folder: Path) -> None:
        self.engine, self.topic, self.folder = engine, topic, folder
        self.bootstrap = broker.bootstrap

    def merge(
        self, records: Sequence[str], ends: Sequence[int], columns: Sequence[Column] = COLUMNS
    ) -> MergeResult:
        produce(self.bootstrap, self.topic, records)
        made = spec_for(self.bootstrap, columns=columns)
        self.entries = read_in(self.engine, made, self.topic, [0, *ends])
        job = MergeJob(f"task-{self.topic}", 1, made, self.entries)
        merged = self.engine.merge(job)
        journaled = [file for entry in self.entries for file in entry.files]
        segments = files_of(merged.segments)
        assert places_of(self.folder, segments) == places_of(self.folder, journaled)
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
    """Goal: a batch at the border of two days costs that batch's rewriting, not the range's."""
    days = [0] * LARGE + [0, 1] * 500 + [1] * LARGE + [1] * 10
    ends = [LARGE, LARGE + 1_000, 2 * LARGE + 1_000, len(days)]
    records = [record(n, at) for n, at in enumerate(times_of(days))]

    merged = story.merge(records, ends)

    starts = [segment.interval_start for segment in merged.segments]
    assert starts == [START, START + timedelta(days=1)]
    assert [segment.rows for segment in merged.segments] == [LARGE + 500, LARGE + 510]
    for segment in merged.segments:
        meta = pq.read_metadata(tmp_path / segment.path)
        assert max(meta.row_group(g).num_rows for g in range(meta.num_row_groups)) == LARGE
    left = sorted(path.name for path in (tmp_path / merged.segments[0].path).parent.iterdir())
    assert left == [Path(segment.path).name for segment in merged.segments]


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
    chunks, target = Chunks(Granularity.DAY), Target(10 * PART_ROWS_MIN, 2**40)
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
    found = packed(files, Chunks(Granularity.DAY), Target(100, 2**40))
    assert [[file.rows for file in group] for group in found] == groups


def test_files_of_two_chunks_are_never_packed_together() -> None:
    files = [a_file(10, at=DAY + timedelta(days=n % 2, minutes=n)) for n in range(4)]
    found = packed(files, Chunks(Granularity.DAY), Target(100, 2**40))
    assert [[file.time_min.day for file in group] for group in found] == [
        [DAY.day, DAY.day],
        [DAY.day + 1, DAY.day + 1],
    ]
