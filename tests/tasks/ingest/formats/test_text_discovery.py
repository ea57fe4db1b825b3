"""Columns of texts that nobody declared: nested values and nulls are skipped, as in Druid.

Source: Druid's `JSONFlattenerMaker`, `AvroFlattenerMaker` and `ProtobufFlattenerMaker`: without
`useSchemaDiscovery` root fields are discovered record by record, if they are neither objects nor
null nor lists with objects or lists in them; of a Protobuf message no list is.

Slow: each format is a plan of Spark of its own.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import (
    Column,
    Discovery,
    IngestSpec,
    JsonFormat,
    JsonPath,
    Metric,
    Transform,
)
from tasks.ingest.engine import SparkEngine
from tasks.ports import MergeJob
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch, read_in, spec_for, table_of
from tests.tasks.ingest.formats import avros, protobufs
from tests.tasks.ingest.formats.avros import record_of, written

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]
Values = Mapping[str, Sequence[object]]

HELD: Values = {
    "text": ["x", '{"k":1}', "[[1]]", "", None],
    "number": [1, 2.5, None, -7, 2**53 + 1],
    "truth": [True, None, False, True, None],
    "list": [[1, "x", None], [], ["{"], None, [True, 2.5]],
    "turns": ["{", {"k": 1}, [[1]], [1, {"k": 1}], "[1]"],
    "late": [{"k": 1}, [{}], None, [1, 2], 7],
    "object": [{"k": 1}, {"k": 2}, {}, {"text": "x"}, None],
    "deep": [[[1]], [{"k": 1}], [1, ["x"]], [None, {}], [[]]],
    "nothing": [None] * 5,
}
"""Field -> its values, a record each."""

FOUND: Values = {
    "late": [None, None, None, "[1,2]", "7"],
    "list": ['[1,"x",null]', "[]", '["{"]', None, "[true,2.5]"],
    "number": ["1", "2.5", None, "-7", "9007199254740993"],
    "text": ["x", '{"k":1}', "[[1]]", "", None],
    "truth": ["true", None, "false", "true", None],
    "turns": ["{", None, None, None, "[1]"],
}
RECORDS = [{"t": 0} | {name: values[n] for name, values in HELD.items()} for n in range(5)]


def found_by(
    spark: SparkRuntime, warehouse: Path, spec: IngestSpec, topic: str, bounds: Sequence[int]
) -> Values:
    """Return the columns of the records between bounds, a batch between each two of them."""
    engine = SparkEngine(spark, str(warehouse), lambda _: "")
    entries = read_in(engine, spec, topic, bounds)
    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, entries))
    table = table_of(warehouse, merged.segments).sort_by("__offset")
    return {name: table[name].to_pylist() for name in table.column_names if name[:2] != "__"}


def test_nested_values_and_nulls_make_no_columns_however_a_topic_is_divided(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a column that others made of texts is null where a record has a nested value."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [json.dumps(record) for record in RECORDS])
    spec = spec_for(broker.bootstrap, columns=())

    for bounds in ([0, 5], [0, 1, 2, 3, 4, 5], [0, 4, 5]):
        assert found_by(spark, tmp_path / f"{len(bounds)}", spec, topic, bounds) == FOUND


def test_what_a_spec_names_keeps_its_nested_values(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: listed columns, fields of a flattenSpec, and what transforms look at."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [json.dumps(RECORDS[0])])
    inner = JsonPath(name="inner", path="$.deep[0]")
    spec = spec_for(
        broker.bootstrap,
        columns=(Column(name="object"), Column(name="looked")),
        discovery=Discovery.TEXTS,
    )
    looked = Transform(name="looked", expression="json_value(late, '$.k')")
    spec = spec.model_copy(
        update={
            "typed": ("deep",),
            "value_format": JsonFormat(paths=(inner,)),
            "transforms": (looked,),
        }
    )

    columns = found_by(spark, tmp_path / "all", spec, topic, [0, 1])
    roots = spec.model_copy(update={"value_format": JsonFormat(roots=("t", "object", "late"))})
    named = found_by(spark, tmp_path / "roots", roots, topic, [0, 1])

    assert (columns["object"], columns["looked"], columns["inner"]) == (['{"k":1}'], ["1"], ["[1]"])
    assert columns["deep"] == ["[[1]]"]
    assert {"late", "nothing"}.isdisjoint(columns)
    assert (named["object"], named["late"]) == (['{"k":1}'], ['{"k":1}'])


def test_rows_that_differ_in_nested_values_alone_are_rolled_up(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: what is no column is no part of what rows must have alike."""
    topic = new_topic(1)
    held = [{"k": 1}, {"k": 2}, [[1]], None, {"k": 1}]
    produce(broker.bootstrap, topic, [json.dumps({"t": 0, "a": "x", "o": o}) for o in held])
    count = Metric(name="rows", of="count")
    spec = spec_for(broker.bootstrap, columns=())
    spec = spec.model_copy(update={"rollup": True, "metrics": (count,)})

    entries = read_in(engine, spec, topic, [0, 2, 5])
    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, entries))

    [row] = table_of(tmp_path, merged.segments).to_pylist()
    assert (row["a"], row["rows"], "o" in row) == ("x", 5, False)


def test_a_range_in_which_an_object_is_a_column_already_is_read_on(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: an earlier version, which made columns of objects, has begun it."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, ['{"t":0,"a":"x","o":{"k":1}}', '{"t":0,"a":"y","o":"z"}'])
    spec = spec_for(broker.bootstrap, columns=())

    entry = engine.read_batch(batch(spec, topic, {0: (0, 2)}, number=1, columns=("a", "o")))
    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, (entry,)))

    table = table_of(tmp_path, merged.segments).sort_by("__offset")
    assert (table["a"].to_pylist(), table["o"].to_pylist()) == (["x", "y"], [None, "z"])


def test_types_are_discovered_of_nested_values_too(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [json.dumps(record) for record in RECORDS])
    spec = spec_for(broker.bootstrap, columns=(), discovery=Discovery.TYPES)

    columns = found_by(spark, tmp_path, spec, topic, [0, 5])

    assert columns.keys() == HELD.keys() - {"nothing"}
    assert columns["object"] == ['{"k":1}', '{"k":2}', "{}", '{"text":"x"}', None]


MAP = {"type": "map", "values": "int"}
CLICK = record_of(
    a="string",
    either=["null", "string", MAP],
    lists={"type": "array", "items": "int"},
    object=MAP,
    objects=["null", {"type": "array", "items": MAP}],
    truth="boolean",
)


def test_fields_of_avro_that_can_only_be_nested_are_no_columns(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: the schema tells which fields may be columns, each value what it is.

    Other than in Druid a field of several types is one, and true and false are.
    """
    topic = new_topic(1)
    same = {"a": "x", "lists": [1], "object": {"k": 1}, "objects": [{"k": 1}], "truth": True}
    eithers: list[object] = ["{", {"k": 1}, None]
    values = [written(CLICK, same | {"either": either}) for either in eithers]
    produce(broker.bootstrap, topic, values)
    rows = avros.rows_by(CLICK)
    spec = spec_for(broker.bootstrap, columns=()).model_copy(
        update={"value_format": rows.value_format, "timestamp": rows.timestamp}
    )

    columns = found_by(spark, tmp_path, spec, topic, [0, 3])

    assert columns == {
        "a": ["x"] * 3,
        "either": ["{", None, None],
        "lists": ["[1]"] * 3,
        "truth": ["true"] * 3,
    }


def test_no_list_of_a_protobuf_message_is_discovered_as_text(
    broker: Broker, spark: SparkRuntime, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    message = protobufs.Every(
        an_int32=7, a_bool=True, a_string="[", texts=["x"], doubles=[0.5], by_text={"k": 1}
    )
    message.inner.x = 1
    produce(broker.bootstrap, topic, [message.SerializeToString()])
    rows = protobufs.EVERY_ROWS
    spec = spec_for(broker.bootstrap, columns=()).model_copy(
        update={"value_format": rows.value_format, "timestamp": rows.timestamp}
    )

    columns = found_by(spark, tmp_path / "texts", spec, topic, [0, 1])
    listed = spec.model_copy(update={"columns": (Column(name="texts"),)})
    named = found_by(spark, tmp_path / "listed", listed, topic, [0, 1])

    assert columns == {"aBool": ["true"], "aString": ["["], "anInt32": ["7"]}
    assert named == {**columns, "texts": ['["x"]']}
