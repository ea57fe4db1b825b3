"""Published files of one chunk rewritten as one: the same rows, each once; damage is found."""

import hashlib
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.contract.ingest_spec import Column
from tasks.contract.messages import CompactionInput, FailureCode, SegmentFile
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge.compaction import CompactionJob
from tasks.ports import BatchCancelled, TaskError
from tasks.spark.session import COMPACTING_POOL, FINISHING_POOL, LIVE_POOL, SparkRuntime
from tests.tasks.ingest.merge.compactions import (
    HOUR,
    ID,
    NOON,
    Row,
    at,
    bag,
    folders_below,
    order_of,
    published,
    raw_order_of,
    raw_published,
    rows_in,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.spark

NEW = f"clicks/data/{ID}/segment-00000.parquet"
COLUMNS = {"id": "long", "user": "string"}


def clicks(*offsets: int, partition: int = 0, topic: str | None = None) -> list[Row]:
    """Rows whose times are not in the order of their offsets."""
    named = {} if topic is None else {"__topic": topic}
    return [
        {"__time": at(o * 37 % 3600), "id": o, "user": f"user-{o}"}
        | {"__partition": partition, "__offset": o, **named}
        for o in offsets
    ]


def three(warehouse: Path) -> list[CompactionInput]:
    """Three small files of two partitions."""
    return [
        published(warehouse, 1, [*clicks(0, 1, 2), *clicks(7, partition=1)], COLUMNS),
        published(warehouse, 2, clicks(3, 5, 9), COLUMNS),
        published(warehouse, 3, clicks(8, 12, partition=1), COLUMNS),
    ]


def refused(engine: SparkEngine, *inputs: CompactionInput) -> str:
    """Why these cannot be one."""
    with pytest.raises(TaskError) as failed:
        engine.compact(order_of(*inputs))
    assert failed.value.code is FailureCode.REFUSED
    return str(failed.value)


def test_small_files_become_one_sorted_file_with_each_of_their_rows(
    engine: SparkEngine, tmp_path: Path
) -> None:
    inputs = three(tmp_path)
    before = {some.file.path: (tmp_path / some.file.path).read_bytes() for some in inputs}

    file = engine.compact(order_of(*inputs))

    assert file.path == NEW
    content = (tmp_path / NEW).read_bytes()
    assert (file.size_bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    rows = rows_in(tmp_path, file)
    assert bag(rows) == bag(rows_in(tmp_path, *(some.file for some in inputs)))
    keys = [(row["__time"], row["id"], row["user"]) for row in rows]
    assert keys == sorted(keys)
    assert [(s.topic, s.partition, s.first, s.last, s.rows) for s in file.spans] == [
        ("clicks", 0, 0, 9, 6),
        ("clicks", 1, 7, 12, 3),
    ]
    assert (file.interval_start, file.interval_end, file.rows) == (*HOUR, 9)
    assert (file.time_min, file.time_max) == (keys[0][0], keys[-1][0])
    assert pq.read_schema(tmp_path / NEW).names == ["__time", *COLUMNS, "__partition", "__offset"]
    assert [p.name for p in (tmp_path / NEW).parent.iterdir()] == ["segment-00000.parquet"]
    assert {path: (tmp_path / path).read_bytes() for path in before} == before


def test_what_a_file_does_not_have_is_null_and_what_it_has_narrower_is_widened(
    engine: SparkEngine, tmp_path: Path
) -> None:
    one = {"__time": NOON, "n": 1, "v": 7, "x": 2, "__partition": 0, "__offset": 0}
    two = {"__time": NOON, "n": 0.5, "v": "a", "__partition": 0, "__offset": 1}
    three = {"__time": NOON, "v": '{"a":1}', "late": "b", "__partition": 0, "__offset": 2}
    inputs = [
        published(tmp_path, 1, [one], {"n": "long", "v": "long", "x": "float"}),
        published(tmp_path, 2, [two], {"n": "double", "v": "string"}),
        published(tmp_path, 3, [three], {"v": "json", "late": "string"}),
    ]

    file = engine.compact(order_of(*inputs))

    rows = sorted(rows_in(tmp_path, file), key=lambda row: str(row["__offset"]))
    assert [(r["n"], r["v"], r["x"], r["late"]) for r in rows] == [
        (1.0, "7", 2.0, None),
        (0.5, '"a"', None, None),
        (None, '{"a":1}', None, "b"),
    ]
    kinds = {f.name: f.type for f in pq.read_schema(tmp_path / NEW)}
    assert [kinds[n] for n in ("n", "v", "x")] == [pa.float64(), pa.string(), pa.float32()]


def test_a_column_of_any_name_is_kept(engine: SparkEngine, tmp_path: Path) -> None:
    odd = "ke`y'=$1 ${env:HOME}"
    row: Row = {"__time": NOON, odd: "a", "__count": 4, "ID": 1, "id": 2}
    columns = {odd: "string", "__count": "long", "ID": "long", "id": "long"}
    inputs = [
        published(tmp_path, n, [row | {"__partition": 0, "__offset": n}], columns) for n in (0, 1)
    ]

    file = engine.compact(order_of(*inputs))

    assert bag(rows_in(tmp_path, file)) == bag(rows_in(tmp_path, *(i.file for i in inputs)))


def test_rows_of_a_file_without_topics_get_the_one_of_its_spans(
    engine: SparkEngine, tmp_path: Path
) -> None:
    """Goal: the spec went from one topic to a pattern; equal places stay two records."""
    one, two = "it's", "other"
    inputs = [
        published(tmp_path, 1, clicks(0, 1), COLUMNS, topic=one),
        published(tmp_path, 2, [*clicks(0, topic=one), *clicks(0, 4, topic=two)], COLUMNS),
    ]

    file = engine.compact(order_of(*inputs))

    named = [row | {"__topic": one} for row in rows_in(tmp_path, inputs[0].file)]
    assert bag(rows_in(tmp_path, file)) == bag(named + rows_in(tmp_path, inputs[1].file))
    assert [(s.topic, s.first, s.last, s.rows) for s in file.spans] == [
        (one, 0, 1, 3),
        (two, 0, 4, 2),
    ]


def test_files_of_different_topics_become_one_whose_rows_name_theirs(
    engine: SparkEngine, tmp_path: Path
) -> None:
    inputs = [
        published(tmp_path, n, clicks(0), COLUMNS, topic=topic) for n, topic in enumerate("ab")
    ]

    file = engine.compact(order_of(*inputs))

    assert sorted(str(row["__topic"]) for row in rows_in(tmp_path, file)) == ["a", "b"]
    assert [span.topic for span in file.spans] == ["a", "b"]


def test_what_lies_in_the_folder_is_removed_first(engine: SparkEngine, tmp_path: Path) -> None:
    inputs = three(tmp_path)
    left = tmp_path / f"clicks/data/{ID}/part-0.parquet"
    left.parent.mkdir()
    left.write_bytes(b"half a file")

    file = engine.compact(order_of(*inputs))

    assert file.rows == 9
    assert not left.exists()


def _missing(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _changed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [_missing, _cut, _changed])
def test_a_damaged_input_is_named_and_nothing_is_written(
    engine: SparkEngine, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """Goal: damage is never made into a file whose digest is right."""
    inputs = three(tmp_path)
    damage(tmp_path / inputs[1].file.path)

    with pytest.raises(TaskError, match="clicks/data/task-2/segment-00000") as failed:
        engine.compact(order_of(*inputs))

    assert failed.value.code is FailureCode.READ_FAILED
    assert folders_below(tmp_path) == {"task-1", "task-2", "task-3"}


def _with(some: CompactionInput, **update: object) -> CompactionInput:
    return some.model_copy(update={"file": some.file.model_copy(update=update)})


def test_files_that_cannot_be_one_are_refused(engine: SparkEngine, tmp_path: Path) -> None:
    one, two, other = three(tmp_path)

    assert "no file" in refused(engine)
    assert "listed twice" in refused(engine, one, two, one)
    later = _with(two, interval_end=HOUR[1] + timedelta(hours=1))
    assert "several time chunks" in refused(engine, one, later)
    up = _with(two, path="clicks/../secret.parquet")
    assert "cannot be the path" in refused(engine, one, up)
    own = _with(two, path=f"clicks/data/{ID}/m1/segment-00000.parquet")
    assert "lies in the folder" in refused(engine, one, own)
    assert folders_below(tmp_path) == {"task-1", "task-2", "task-3"}
    assert engine.compact(order_of(one, two, other)).rows == 9


def test_columns_that_were_told_wrongly_are_refused(engine: SparkEngine, tmp_path: Path) -> None:
    """Goal: a value is never lost because a record of its file is wrong."""
    one, two, _ = three(tmp_path)

    fewer = two.model_copy(update={"columns": two.columns[:1]})
    assert "nobody told of: user" in refused(engine, one, fewer)
    other = two.model_copy(update={"columns": (Column(name="id"), Column(name="user"))})
    assert "of other types than was told: id" in refused(engine, one, other)
    with pytest.raises(TaskError, match=r"cannot hold those of .*: id") as failed:
        engine.compact(order_of(one, two).model_copy(update={"columns": (Column(name="user"),)}))
    assert failed.value.code is FailureCode.REFUSED


def test_raw_records_become_one_file_in_the_order_of_their_places(
    engine: SparkEngine, tmp_path: Path
) -> None:
    """Goal: an errors table is compacted, byte by byte; its pages are found by place."""
    inputs = [
        raw_published(tmp_path, 1, [(0, 4), (0, 7), (1, 2)]),
        raw_published(tmp_path, 2, [(0, 8), (1, 3)]),
    ]

    file = engine.compact(raw_order_of(*inputs))

    rows = rows_in(tmp_path, file)
    assert bag(rows) == bag(rows_in(tmp_path, *inputs))
    assert [(row["partition"], row["offset"]) for row in rows] == [
        *((0, 4), (0, 7), (0, 8)),
        *((1, 2), (1, 3)),
    ]
    spans = [(s.partition, s.first, s.last, s.rows) for s in file.spans]
    assert spans == [(0, 4, 8, 3), (1, 2, 3, 2)]
    assert file.path.startswith("clicks__errors/data/")


def test_rows_are_no_raw_records(engine: SparkEngine, tmp_path: Path) -> None:
    one, two, _ = three(tmp_path)

    with pytest.raises(TaskError, match="has no raw records") as failed:
        engine.compact(raw_order_of(one.file, two.file))

    assert failed.value.code is FailureCode.REFUSED


def test_a_file_without_offsets_and_counts_is_refused(engine: SparkEngine, tmp_path: Path) -> None:
    """Goal: a file of raw records that is told to be one of rows, say, is left alone."""
    one, _, _ = three(tmp_path)
    path = tmp_path / "clicks/data/task-9/raw.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"__time": [NOON], "value": [b"{"]}), path)
    content = path.read_bytes()
    raw = _with(
        one,
        path=path.relative_to(tmp_path).as_posix(),
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
    )

    assert "neither offsets nor counts" in refused(engine, one, raw)


class _Lossy(SparkEngine):
    """Plants a fault: a row is lost, doubled or moved on its way."""

    fault = ""

    def _combined(self, work: CompactionJob, folder: Path) -> Path:
        path = super()._combined(work, folder)
        rows = pq.read_table(path, partitioning=None)
        pq.write_table(_FAULTS[self.fault](rows), path)
        return path


def _first(rows: pa.Table, column: str, value: object) -> pa.Table:
    place, kind = rows.schema.get_field_index(column), rows.schema.field(column).type
    values = [value, *rows[column].to_pylist()[1:]]
    return rows.set_column(place, column, pa.array(values, kind))


_FAULTS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "lost": lambda rows: rows.slice(1),
    "doubled": lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]),
    "all lost": lambda rows: rows.slice(rows.num_rows),
    "moved": lambda rows: _first(rows, "__offset", 99),
    "at another time": lambda rows: _first(rows, "__time", NOON - timedelta(seconds=1)),
}


@pytest.mark.parametrize("fault", sorted(_FAULTS))
def test_a_file_that_does_not_hold_what_its_inputs_hold_is_no_result(
    spark: SparkRuntime, tmp_path: Path, fault: str
) -> None:
    engine = _Lossy(spark, str(tmp_path), lambda _: "")
    engine.fault = fault
    inputs = three(tmp_path)

    with pytest.raises(TaskError) as failed:
        engine.compact(order_of(*inputs))

    assert failed.value.code is FailureCode.WRITE_FAILED
    assert folders_below(tmp_path) == {"task-1", "task-2", "task-3"}


def test_a_cancelled_compaction_leaves_no_file_and_can_be_done_again(
    engine: SparkEngine, tmp_path: Path
) -> None:
    inputs = [
        published(tmp_path, n, clicks(*range(n * 200_000, (n + 1) * 200_000)), COLUMNS)
        for n in (0, 1)
    ]
    order = order_of(*inputs, compaction_id="cancelled-while-it-writes")
    folder = tmp_path / "clicks" / "data" / order.compaction_id
    ended: list[BaseException] = []

    def compact() -> None:
        try:
            engine.compact(order)
        except BatchCancelled as cancelled:
            ended.append(cancelled)

    worker = threading.Thread(target=compact)
    worker.start()
    wait_until(lambda: any(folder.rglob("part-*")))  # its job writes
    engine.cancel(order.compaction_id)
    worker.join(30)

    assert not worker.is_alive()
    assert [type(error) for error in ended] == [BatchCancelled]
    assert not folder.exists()
    assert engine.compact(order).rows == 400_000


def test_a_cancel_before_the_job_counts(spark: SparkRuntime, tmp_path: Path) -> None:
    # All tests share one Spark, and it never runs a job of a cancelled name: it is this test's own.
    order = order_of(*three(tmp_path), compaction_id="cancelled-at-once")

    class Hasty(SparkEngine):
        def _combined(self, work: CompactionJob, folder: Path) -> Path:
            self.cancel(order.compaction_id)
            return super()._combined(work, folder)

    with pytest.raises(BatchCancelled):
        Hasty(spark, str(tmp_path), lambda _: "").compact(order)

    assert folders_below(tmp_path) == {"task-1", "task-2", "task-3"}
    assert spark.session.range(3).count() == 3


def test_a_compaction_has_the_least_share_of_the_cores(spark: SparkRuntime, tmp_path: Path) -> None:
    pools = []

    class Telling(SparkEngine):
        def _combined(self, work: CompactionJob, folder: Path) -> Path:
            pools.append(spark.context.getLocalProperty("spark.scheduler.pool"))
            return super()._combined(work, folder)

    Telling(spark, str(tmp_path), lambda _: "").compact(order_of(*three(tmp_path)))

    found = spark.context._jsc.sc().getAllPools()
    weights = {found.apply(n).name(): found.apply(n).weight() for n in range(found.size())}
    assert pools == [COMPACTING_POOL]
    assert weights[COMPACTING_POOL] < weights[FINISHING_POOL] < weights[LIVE_POOL]


def test_a_compacted_file_can_be_compacted_again(engine: SparkEngine, tmp_path: Path) -> None:
    one, two, other = three(tmp_path)
    first: SegmentFile = engine.compact(order_of(one, two))
    again = CompactionInput(file=first, columns=one.columns)

    second = engine.compact(order_of(again, other, compaction_id="compaction-2"))

    files = (one.file, two.file, other.file)
    assert bag(rows_in(tmp_path, second)) == bag(rows_in(tmp_path, *files))
