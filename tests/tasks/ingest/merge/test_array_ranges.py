"""Lists over ranges, rollups and compactions: the same table, however a topic was divided."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from supervisor.cli.table.duck import run_query
from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Column, ColumnType, IngestSpec, Metric
from tasks.contract.messages import CompactionInput
from tasks.ingest.engine import SparkEngine
from tasks.ports import MergeJob, MergeResult
from tasks.rows.discovery import common
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.supervisor.cli.table.tables import table_files
from tests.tasks.ingest.batches import batch, spec_for, table_of
from tests.tasks.ingest.decode.test_discovery import ingested, typed
from tests.tasks.ingest.merge.compactions import NOON, order_of, published, rows_in

pytestmark = pytest.mark.spark

NewTopic = Callable[[int], str]

VALUES: dict[str, list[object]] = {
    "longs": [[], [1, None], [True], None],
    "doubles": [[3], [None], [2.5, 1e300], [1e-7, 12345678.5]],
    "texts": [[2.0, -1], [0.125, 1e22], ["x", False], []],
    "json": [[1, 2], [1.0, 0.5], ["x", None], 7],
}
STORED: dict[str, list[object]] = {
    "longs": [[], [1, None], [1], None],
    "doubles": [[3.0], [None], [2.5, 1e300], [1e-7, 12345678.5]],
    "texts": [["2", "-1"], ["0.125", "1.0E22"], ["x", "0"], []],
    "json": ['["1","2"]', '["1","0.5"]', '["x",null]', "7"],
}
TYPES: dict[str, ColumnType] = {
    "longs": "array<long>",
    "doubles": "array<double>",
    "texts": "array<string>",
    "json": "json",
}
NAMES = sorted(VALUES)


@pytest.mark.parametrize("cuts", [[2, 4], [1, 2, 3, 4]], ids=str)
def test_ranges_that_end_anywhere_make_the_same_table(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path, cuts: list[int]
) -> None:
    """Goal: of published ranges nothing is known but types; compaction and DuckDB widen by them."""
    topic = new_topic(1)
    records = [{"t": 0} | {name: VALUES[name][n] for name in NAMES} for n in range(4)]
    produce(broker.bootstrap, topic, [json.dumps(record) for record in records])

    ranges = [_read(spark, tmp_path, typed(broker), topic, span) for span in _spans(cuts)]

    columns = common(merged.columns for merged in ranges)
    assert {column.name: column.type for column in columns} == TYPES
    assert _queried(tmp_path, ranges, columns) == [STORED[name] for name in NAMES]
    files = [(merged.segments[0], merged.columns) for merged in ranges]
    inputs = [CompactionInput(file=file, columns=had) for file, had in files]
    order = order_of(*inputs, compaction_id=f"c-{topic}")
    compacted = SparkEngine(spark, str(tmp_path), lambda _: "").compact(order)
    table = table_of(tmp_path, [compacted]).sort_by("__offset")
    assert [table[name].to_pylist() for name in NAMES] == [STORED[name] for name in NAMES]
    assert [table.schema.field(name).type for name in NAMES] == [
        pa.list_(pa.float64()),
        pa.string(),
        pa.list_(pa.int64()),
        pa.list_(pa.string()),
    ]


def _spans(cuts: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip((0, *cuts), cuts, strict=False))


def _read(
    spark: SparkRuntime, warehouse: Path, spec: IngestSpec, topic: str, span: tuple[int, int]
) -> MergeResult:
    """Read a range by a worker that has read nothing before."""
    engine = SparkEngine(spark, str(warehouse), lambda _: "")
    work = replace(batch(spec, topic, {0: span}), task_id=f"task-{topic}-{span[0]}")
    entry = engine.read_batch(work)
    return engine.merge(MergeJob(work.task_id, 1, spec, (entry,)))


def _queried(
    warehouse: Path, ranges: Sequence[MergeResult], columns: Sequence[Column]
) -> list[list[object]]:
    """What `tidegate query` finds of NAMES, in the order of offsets."""
    files = ((merged.segments[0].path, number) for number, merged in enumerate(ranges))
    table = table_files(warehouse, columns, [merged.columns for merged in ranges], files)
    sql = f"SELECT {', '.join(NAMES)} FROM clicks ORDER BY __offset"  # noqa: S608 -- our own names
    rows = run_query(sql, [table], None, None).rows
    return [list(column) for column in zip(*rows, strict=True)]


def test_rows_with_equal_arrays_are_rolled_up(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: lists are alike if their elements are, also if they came in batches of other types."""
    topic = new_topic(1)
    lists = ["[1,2]", "[1,2]", "[2,1]", "[]", "null", "[1.0,2]", "[null]", "[]", "[0.5]"]
    produce(broker.bootstrap, topic, [f'{{"t":0,"a":{text}}}' for text in lists])
    count = Metric(name="rows", of="count")
    spec = typed(broker).model_copy(update={"rollup": True, "metrics": (count,)})

    _, merged = ingested(engine, spec, topic, [4, 9])

    rows = table_of(tmp_path, merged.segments).to_pylist()
    assert sorted(((row["a"], row["rows"]) for row in rows), key=str) == [
        (None, 1),
        ([0.5], 1),
        ([1.0, 2.0], 3),
        ([2.0, 1.0], 1),
        ([None], 1),
        ([], 2),
    ]
    assert merged.columns[0] == Column(name="a", type="array<double>")


def test_a_declared_array_goes_from_topic_to_file(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: rows are sorted by their lists, and what does not fit is counted."""
    topic = new_topic(1)
    lists = ['["b"]', '["a","c"]', "[]", "null", '["a",{}]', '"a"']
    produce(broker.bootstrap, topic, [f'{{"t":0,"tags":{text}}}' for text in lists])
    spec = spec_for(broker.bootstrap, columns=[Column(name="tags", type="array<string>")])

    entries, merged = ingested(engine, spec, topic, [1, 2, 6])

    assert [entry.counters.processed_with_error for entry in entries] == [0, 0, 1]
    [segment] = merged.segments
    assert [row["tags"] for row in rows_in(tmp_path, segment)] == [
        None,
        [],
        ["a"],
        ["a", None],
        ["a", "c"],
        ["b"],
    ]
    schema = pq.read_schema(tmp_path / segment.path)
    assert schema.field("tags").type == pa.list_(pa.string())


def test_a_column_that_was_json_or_a_scalar_before_is_json_when_arrays_join_it(
    engine: SparkEngine, tmp_path: Path
) -> None:
    place = {"__time": NOON, "__partition": 0}
    inputs = [
        published(tmp_path, 1, [place | {"a": "[1]", "__offset": 0}], {"a": "json"}),
        published(tmp_path, 2, [place | {"a": [1, None], "__offset": 1}], {"a": "array<long>"}),
        published(tmp_path, 3, [place | {"a": ['"'], "__offset": 2}], {"a": "array<string>"}),
    ]

    file = engine.compact(order_of(*inputs))

    table = table_of(tmp_path, [file]).sort_by("__offset")
    assert table["a"].to_pylist() == ["[1]", '["1",null]', '["\\""]']
