"""How many files a merge writes: each about as large as was asked for, and none for nothing."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Granularity, Metric, Truncation
from tasks.contract.messages import OffsetSpan, SegmentFile
from tasks.ingest.decode.chunks import TIME_MAX, TIME_MIN, Chunks
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge.sizes import FileChunks, FileTarget, Layout, divided, fullest, may_stay
from tasks.machine.state import rows_by_chunk
from tasks.ports import DataFile, MergeJob
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import places_of, read_in, spec_for, table_of

NewTopic = Callable[[int], str]

DAY = datetime(2024, 5, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
TARGET_BYTES = 64 * 1024


def a_file(
    rows: int, *, at: datetime = DAY, lasting: timedelta = timedelta(0), size: int = 1
) -> DataFile:
    span = OffsetSpan(topic="clicks", partition=0, first=0, last=rows - 1, rows=rows)
    return DataFile(
        path="clicks/data/task/b0-1/part-0.parquet",
        rows=rows,
        size_bytes=size,
        sha256="0" * 64,
        time_min=at,
        time_max=at + lasting,
        spans=(span,),
    )


@pytest.mark.parametrize(
    ("files", "stay"),
    [
        ([], True),
        ([a_file(1)], True),
        ([a_file(1), a_file(1, at=DAY + timedelta(days=1))], True),
        ([a_file(1, lasting=timedelta(days=1))], False),
        ([a_file(40), a_file(50)], True),
        ([a_file(30)] * 3, False),
        ([a_file(60)] * 4, True),
        ([a_file(20)] * 12, False),
        ([a_file(101)], False),
        ([a_file(1, size=1_400)], True),
        ([a_file(1, size=1_600)], False),
        ([a_file(1, size=900)] * 5, True),
        ([a_file(1, size=200)] * 5, False),
    ],
)
def test_files_stay_if_each_is_in_one_chunk_and_neither_too_large_nor_one_of_too_many(
    files: list[DataFile], stay: bool
) -> None:
    assert may_stay(files, Chunks(Granularity.DAY), FileTarget(100, 1_000)) is stay


def rows_of(segments: Sequence[SegmentFile]) -> Counter[str]:
    """Start of a time chunk -> rows, as published files have them."""
    rows: Counter[str] = Counter()
    for segment in segments:
        rows[segment.interval_start.isoformat()] += segment.rows
    return rows


def a_parquet(folder: Path, times: Sequence[datetime]) -> DataFile:
    """A file on disk with rows of these times, as a batch describes it."""
    file = a_file(len(times), at=min(times), lasting=max(times) - min(times))
    (path := folder / file.path).parent.mkdir(parents=True, exist_ok=True)
    stored = pa.array(times, pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"__time": stored}), path, row_group_size=3)
    return file


def test_the_rows_of_each_time_chunk_are_counted_over_all_files(tmp_path: Path) -> None:
    """Goal: to the microsecond, in any order, and also where a file alone tells nothing."""
    last = timedelta(microseconds=1)
    times = [DAY + HOUR, DAY, DAY + HOUR - last, DAY - last, DAY + 5 * HOUR, DAY, DAY + HOUR]
    alone = a_file(40, at=DAY, lasting=HOUR - last).model_copy(update={"path": "not there"})

    chunk_rows = fullest([a_parquet(tmp_path, times), alone], Chunks(Granularity.HOUR), tmp_path)

    starts = {-1: 1, 0: 43, 1: 2, 5: 1}
    assert chunk_rows == {(DAY + n * HOUR).isoformat(): rows for n, rows in starts.items()}


def test_times_at_both_ends_of_the_calendar_are_counted(tmp_path: Path) -> None:
    """Goal: the last chunk has its own last microsecond."""
    times = [TIME_MIN, DAY, TIME_MAX, TIME_MAX]

    [day, year] = (
        fullest([a_parquet(tmp_path, times)], Chunks(of), tmp_path)
        for of in (Granularity.DAY, Granularity.ALL)
    )

    assert sorted(day.values()) == [1, 1, 2]
    assert year == {TIME_MIN.isoformat(): 4}


def test_of_very_many_chunks_the_fullest_are_told(tmp_path: Path) -> None:
    """Goal: a line of the journal is bounded, whatever the records say."""
    times = [DAY + n * HOUR for n in range(1_500)] + [DAY + 1_499 * HOUR] * 3

    chunk_rows = fullest([a_parquet(tmp_path, times)], Chunks(Granularity.HOUR), tmp_path)

    assert len(chunk_rows) == 1_000
    assert chunk_rows[(DAY + 1_499 * HOUR).isoformat()] == 4


def held_of(files: Sequence[dict[datetime, int]], size: int = 530_000) -> list[FileChunks]:
    """Files with so many rows in which hour, each of `size` bytes."""
    chunks = []
    for number, rows in enumerate(files):
        file = a_file(sum(rows.values()), size=size)
        chunks.append(FileChunks(file.model_copy(update={"path": f"part-{number}.parquet"}), rows))
    return chunks


def written_by(layout: Layout, held: Sequence[FileChunks]) -> list[Counter[datetime]]:
    """How many rows of which hour each task writes, counted file by file."""
    written = []
    for part in layout.parts:
        rows: Counter[datetime] = Counter()
        for each in (h for h in held if h.file in part.files):
            for hour, number in each.rows.items():
                if (part.since or DAY) <= hour < (part.until or DAY + 300 * HOUR):
                    rows[hour] += number
        written.append(rows)
    return written


def test_a_small_chunk_is_written_by_one_task_however_many_a_large_one_needs() -> None:
    """Goal: late rows of many hours do not become a file of each hour for each task."""
    hours = [DAY + n * HOUR for n in range(200)]
    large = hours[150]
    held = held_of([{**dict.fromkeys(hours, 2), large: 5_000} for _ in range(12)])

    layout = divided(held, FileTarget(10**9, 1_000_000), cores=4)

    tasks = Counter(hour for rows in written_by(layout, held) for hour in rows)
    assert tasks == {**dict.fromkeys(hours, 1), large: 6}  # it has 5.9 MB
    assert [len(part.files) for part in layout.parts] == [12, 2, 2, 2, 2, 2, 2, 12]
    assert layout.rows_max == 10_000  # of each of the six tasks: no file has a rest


def test_equal_chunks_are_shared_out_between_the_cores() -> None:
    """Goal: each task reads what lies near, and none waits for the others."""
    held = held_of([{DAY + n * HOUR: 400_000} for n in range(24)], size=10)

    layout = divided(held, FileTarget(10**9, 10**9), cores=3)

    assert [len(part.files) for part in layout.parts] == [8, 8, 8]
    assert {part.since for part in layout.parts} == {None}  # whole files: nothing is left out


def test_a_chunk_with_wider_rows_gets_more_files() -> None:
    """Goal: what lies in one chunk is known by its own files."""
    narrow = held_of([{DAY: 1_000}] * 4, size=100_000)
    wide = held_of([{DAY + HOUR: 1_000}] * 4, size=900_000)

    found = divided([*narrow, *wide], FileTarget(10**9, 1_000_000), cores=1)

    assert [len(part.files) for part in found.parts] == [4, 1, 1, 1, 1]


def test_idle_cores_are_used_while_each_has_a_million_rows() -> None:
    held = held_of([{DAY: 500_000}] * 7, size=10)

    found = divided(held, FileTarget(5_000_000, 10**9), cores=8)

    assert [len(part.files) for part in found.parts] == [3, 2, 2]


@given(
    st.lists(
        st.dictionaries(st.integers(0, 9), st.integers(1, 3_000_000), min_size=1),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 5_000_000),
    st.integers(1, 2**30),
    st.integers(1, 8),
)
def test_each_row_is_written_by_one_task(
    files: list[dict[int, int]], rows_max: int, size: int, cores: int
) -> None:
    held = held_of([{DAY + n * HOUR: rows for n, rows in some.items()} for some in files])

    layout = divided(held, FileTarget(rows_max, size), cores)

    written: Counter[datetime] = Counter()
    for rows in written_by(layout, held):
        written.update(rows)
    assert written == sum((Counter(each.rows) for each in held), Counter())
    assert layout.rows_max <= rows_max


def noisy(rows: Sequence[datetime]) -> list[str]:
    """Records of these times, each of some 100 bytes that nothing makes smaller."""
    random = Random(7)
    return [
        f'{{"t":{int(at.timestamp() * 1000)},"id":{n},"user":"{random.randbytes(100).hex()}"}}'
        for n, at in enumerate(rows)
    ]


@pytest.mark.spark
@pytest.mark.kafka
def test_late_rows_of_many_hours_become_one_file_each_beside_a_large_hour(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: 200 late hours are 200 files, whatever the hour that is read now needs."""
    topic = new_topic(1)
    hours = [DAY + n * HOUR for n in range(201)]
    large = hours[120]
    times = [hours[n // 20] if n % 20 == 0 else large for n in range(4_020)]
    times += [hour + timedelta(minutes=59) for hour in hours]
    produce(broker.bootstrap, topic, noisy(times))
    spec = spec_for(broker.bootstrap, granularity=Granularity.HOUR, segment_bytes=TARGET_BYTES)
    entries = read_in(engine, spec, topic, [*range(0, 4_221, 603), 4_221])

    segments = engine.merge(MergeJob(f"task-{topic}", 1, spec, entries)).segments

    journaled = rows_by_chunk(entries)
    assert journaled == rows_of(segments), "the merge counts the same chunks"
    files = Counter(segment.interval_start for segment in segments)
    sizes = [segment.size_bytes for segment in segments if segment.interval_start == large]
    assert files == {**dict.fromkeys(hours, 1), large: len(sizes)}
    assert len(sizes) >= sum(sizes) // TARGET_BYTES
    assert max(sizes) <= 1.5 * TARGET_BYTES
    assert min(sizes) >= 0.5 * TARGET_BYTES
    written = [DataFile(**{f: getattr(s, f) for f in DataFile.model_fields}) for s in segments]
    assert places_of(tmp_path, written) == Counter((0, offset) for offset in range(4_221))
    assert sorted(table_of(tmp_path, written)["id"].to_pylist()) == list(range(4_221))


@pytest.mark.spark
@pytest.mark.kafka
def test_one_large_file_of_one_hour_is_divided(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, noisy([DAY] * 3_000))
    spec = spec_for(broker.bootstrap, segment_bytes=TARGET_BYTES)
    entries = read_in(engine, spec, topic, [0, 3_000])
    [whole] = entries[0].files

    segments = engine.merge(MergeJob(f"task-{topic}", 1, spec, entries)).segments

    sizes = [segment.size_bytes for segment in segments]
    assert len(sizes) == round(whole.size_bytes / TARGET_BYTES) > 3
    assert max(sizes) <= 1.25 * TARGET_BYTES
    assert sum(segment.rows for segment in segments) == 3_000


@pytest.mark.spark
@pytest.mark.kafka
def test_rolled_up_rows_are_divided_by_what_is_left_of_them(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    """Goal: a rollup to little is one file, one to nearly as much is several."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, noisy([DAY] * 3_000))
    spec = spec_for(broker.bootstrap, segment_bytes=TARGET_BYTES).model_copy(
        update={
            "rollup": True,
            "truncation": Truncation(period="PT1H"),
            "metrics": (Metric(name="n", of="count"),),
        }
    )
    few = spec.model_copy(
        update={
            "columns": (),
            "metrics": (Metric(name="u", of="any", type="string", field="user"),),
        }
    )
    several = engine.merge(
        MergeJob(f"task-{topic}", 1, spec, read_in(engine, spec, topic, [0, 1_500, 3_000]))
    ).segments
    one = engine.merge(
        MergeJob(f"task-{topic}", 2, few, read_in(engine, few, topic, [0, 1_500, 3_000]))
    ).segments

    assert [segment.rows for segment in one] == [1]
    assert sum(segment.rows for segment in several) == 3_000
    assert len(several) > 3
    assert max(segment.size_bytes for segment in several) <= 1.5 * TARGET_BYTES
