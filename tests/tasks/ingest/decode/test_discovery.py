"""Columns that nobody declared: their types come from the records, however these are divided.

Slow: each story takes several batches of Spark, each with columns of its own.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Column, Discovery, IngestSpec, Metric, Transform
from tasks.ingest.engine import SparkEngine
from tasks.ports import JournalEntry, MergeJob, MergeResult
from tasks.rows.discovery import DOUBLE, LONG, TEXT
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch, spec_for, table_of

pytestmark = [pytest.mark.spark, pytest.mark.long]

NewTopic = Callable[[int], str]

KEYS: dict[str, list[object]] = {
    "long": [1, None, -7, 2**53 + 1, True],
    "double": [1, 2.5, None, 1e300, -0.0],
    "string": ["x", "12", None, "", "true"],
    "json": [{"a": [1, 2.5]}, [1, 2], None, [], {}],
    "longs": [[1, None], [], None, [True], [2**53 + 1]],
    "doubles": [[1], [], [2.5, None], [None], [2.0]],
    "texts": [[1], [], [2.5, 3.0], None, ["a", False]],
    "either": [[1], [2.0], ["x", 3], 4, []],
    "mixed": [1, "1", 2.5, [True, "x"], 3.0],
    "none": [None] * 5,
}
"""Field -> its values, a record each."""

STORED: dict[str, list[object]] = {
    "double": [1.0, 2.5, None, 1e300, 0.0],
    "doubles": [[1.0], [], [2.5, None], [None], [2.0]],
    "either": ['["1"]', '["2"]', '["x","3"]', "4", "[]"],
    "json": ['{"a":[1,2.5]}', '["1","2"]', None, "[]", "{}"],
    "long": [1, None, -7, 2**53 + 1, 1],
    "longs": [[1, None], [], None, [1], [2**53 + 1]],
    "mixed": ["1", '"1"', "2.5", '["1","x"]', "3"],
    "string": ["x", "12", None, "", "true"],
    "texts": [["1"], [], ["2.5", "3"], None, ["a", "0"]],
}


def typed(broker: Broker, columns: Sequence[Column] = ()) -> IngestSpec:
    return spec_for(broker.bootstrap, columns=columns, discovery=Discovery.TYPES)


def ingested(
    engine: SparkEngine, spec: IngestSpec, topic: str, cuts: Sequence[int]
) -> tuple[list[JournalEntry], MergeResult]:
    """Read partition 0 in batches that end at `cuts`, and merge them."""
    entries: list[JournalEntry] = []
    for number, (start, end) in enumerate(zip((0, *cuts), cuts, strict=False)):
        last = entries[-1] if entries else None
        columns, kinds = (last.columns, last.kinds) if last else ((), {})
        job = batch(spec, topic, {0: (start, end)}, number=number, columns=columns, kinds=kinds)
        entries.append(engine.read_batch(job))
    return entries, engine.merge(MergeJob(f"task-{topic}", 1, spec, tuple(entries)))


def test_columns_get_the_types_of_their_values(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: one batch, a batch per record, and anything between make the same table."""
    topic = new_topic(1)
    records = [{"t": 0} | {key: values[n] for key, values in KEYS.items()} for n in range(5)]
    produce(broker.bootstrap, topic, [json.dumps(record) for record in records])
    types = {
        "long": pa.int64(),
        "double": pa.float64(),
        "longs": pa.list_(pa.int64()),
        "doubles": pa.list_(pa.float64()),
        "texts": pa.list_(pa.string()),
    }
    exceptions = {"mixed": "json", "either": "json"}
    exceptions |= {"longs": "array<long>", "doubles": "array<double>", "texts": "array<string>"}

    for cuts in ([5], [1, 2, 3, 4, 5], [2, 5]):
        warehouse = tmp_path / f"{len(cuts)}"
        engine = SparkEngine(spark, str(warehouse), lambda _: "")
        entries, merged = ingested(engine, typed(broker), topic, cuts)

        table = table_of(warehouse, merged.segments).sort_by("__offset")
        assert [c for c in table.column_names if not c.startswith("__")] == sorted(STORED)
        for name, values in STORED.items():
            assert (name, table[name].to_pylist()) == (name, values)
            assert table.schema.field(name).type == types.get(name, pa.string())
        assert {c.name: c.type for c in merged.columns} == {
            name: exceptions.get(name, name) for name in STORED
        }
        assert [e.counters.processed_with_error for e in entries] == [0] * len(cuts)


def test_listed_columns_come_first_and_keep_their_types(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: beside them others are discovered, as texts or with types, or only those of type auto.

    Of JSON that stays JSON nothing changes but blanks: `[1,2]` is no `["1","2"]`.
    """
    topic = new_topic(1)
    records = [
        {"t": 0, "z": 1, "n": 7, "tags": [1, 2]},
        {"t": 0, "z": "x", "n": 2.5, "tags": ["a", {"b": None}], "more": True},
    ]
    produce(broker.bootstrap, topic, [json.dumps(record) for record in records])
    listed = (Column(name="z", type="long"), Column(name="tags", type="json"))
    tags: list[object] = ["[1,2]", '["a",{"b":null}]']
    wanted: dict[Discovery, dict[str, list[object]]] = {
        Discovery.NOTHING: {"z": [1, None], "tags": tags, "n": [7.0, 2.5]},
        Discovery.TEXTS: {"z": [1, None], "tags": tags, "more": [None, "true"], "n": [7.0, 2.5]},
        Discovery.TYPES: {"z": [1, None], "tags": tags, "more": [None, 1], "n": [7.0, 2.5]},
    }

    for discovery, columns in wanted.items():
        spec = spec_for(broker.bootstrap, columns=listed, discovery=discovery)
        spec = spec.model_copy(update={"typed": ("n",)})
        [entry], merged = ingested(engine, spec, topic, [2])

        table = table_of(tmp_path, merged.segments).sort_by("__offset")
        own = ("__time", "__partition", "__offset")
        assert {c: table[c].to_pylist() for c in table.column_names if c not in own} == columns
        assert [c for c in table.column_names if c not in own] == list(columns)
        assert entry.counters.processed_with_error == 1


@pytest.mark.parametrize("discovery", [Discovery.TEXTS, Discovery.TYPES])
def test_a_field_that_a_transform_hides_is_a_column_of_the_records_that_have_it(
    broker: Broker,
    spark: SparkRuntime,
    new_topic: NewTopic,
    tmp_path: Path,
    discovery: Discovery,
) -> None:
    """Goal: not of those that happen to be read together with one that has it.

    Of texts a null is no field: Druid's `JSONFlattenerMaker` skips it without `keepNullColumns`.
    """
    topic = new_topic(1)
    null = "4!" if discovery is Discovery.TYPES else None
    records = ['{"t":0,"a":1}', '{"t":0,"a":2,"made":"x"}', '{"t":0,"a":3}']
    produce(broker.bootstrap, topic, [*records, '{"t":0,"a":4,"made":null,"fresh":1}'])
    transform = Transform(name="made", expression="concat(a, '!')")
    unnamed = Transform(name="unnamed", expression="a")
    spec = spec_for(broker.bootstrap, columns=(), discovery=discovery)
    spec = spec.model_copy(update={"transforms": (transform, unnamed)})

    for cuts in ([4], [1, 2, 3, 4], [3, 4]):
        warehouse = tmp_path / f"{len(cuts)}"
        entries, merged = ingested(
            SparkEngine(spark, str(warehouse), lambda _: ""), spec, topic, cuts
        )

        table = table_of(warehouse, merged.segments).sort_by("__offset")
        assert table["made"].to_pylist() == [None, "2!", None, null]
        assert {c.name for c in merged.columns} == {"a", "fresh", "made"}
        assert sum(entry.counters.processed for entry in entries) == 4


def test_rows_are_rolled_up_by_the_types_that_columns_have_in_the_end(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a long of one batch and a double of the next are the same value."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [f'{{"t":0,"n":{n}}}' for n in ("1", "1", "1.0", "2.5")])
    count = Metric(name="rows", of="count")
    spec = typed(broker).model_copy(update={"rollup": True, "metrics": (count,)})

    _, merged = ingested(engine, spec, topic, [2, 4])

    assert merged.columns == (Column(name="n", type="double"), Column(name="rows", type="long"))
    table = table_of(tmp_path, merged.segments)
    assert sorted(zip(table["n"].to_pylist(), table["rows"].to_pylist(), strict=True)) == [
        (1.0, 3),
        (2.5, 1),
    ]


def test_the_first_batch_of_a_range_knows_what_the_last_range_has_met(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: its first records tell the columns of the very first one; a type does not shrink."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [f'{{"t":0,"n":{n},"s":"x"}}' for n in range(1_500)])
    spec = typed(broker)

    [entry], _ = ingested(engine, spec, topic, [1_500])

    assert entry.kinds == {"n": LONG, "s": TEXT}
    assert table_of(tmp_path, entry.files)["n"].type == pa.int64()
    assert entry.counters.processed == 1_500

    produce(broker.bootstrap, topic, ['{"t":0,"n":0.5,"new":1}', '{"t":0,"n":7}'])
    _, late = (engine.read_batch(batch(spec, topic, {0: (1_500 + n, 1_501 + n)})) for n in (0, 1))

    assert late.kinds == {"n": LONG | DOUBLE, "new": LONG, "s": TEXT}
    rows = table_of(tmp_path, late.files).to_pylist()
    assert [(row["n"], row["new"], row["s"]) for row in rows] == [(7.0, None, None)]


OWN = ("", "__offset", "__OFFSET", "__topic", "__count", "__at", "__of_users", "__each_users")


@pytest.mark.parametrize("rollup", [False, True])
@pytest.mark.parametrize("discovery", [Discovery.TYPES, Discovery.TEXTS])
def test_a_field_that_no_column_can_be_named_after_is_counted(
    broker: Broker,
    engine: SparkEngine,
    new_topic: NewTopic,
    discovery: Discovery,
    rollup: bool,
) -> None:
    """Goal: what a table has of its own hides no field's value, and none is lost in silence."""
    topic = new_topic(1)
    records: list[dict[str, object]] = [{"t": n, "a": "x", name: n} for n, name in enumerate(OWN)]
    records += [{"t": 100, "a": "x"}, {"t": 101, "a": "x", "__op": "c", "ignored": 1}]
    produce(broker.bootstrap, topic, [json.dumps(record) for record in records])
    spec = spec_for(broker.bootstrap, columns=(), discovery=discovery)
    spec = spec.model_copy(update={"rollup": rollup, "excluded": ("ignored",)})

    entries, merged = ingested(engine, spec, topic, [5, len(records)])

    assert {column.name for column in merged.columns} == {"a", "__op"}
    assert sum(entry.counters.processed for entry in entries) == 2
    assert sum(entry.counters.processed_with_error for entry in entries) == len(OWN)

    silenced = spec.model_copy(update={"excluded": ("ignored", *OWN)})
    [entry], _ = ingested(engine, silenced, topic, [len(records)])
    assert entry.counters.processed_with_error == 0
