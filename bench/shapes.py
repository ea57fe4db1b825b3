"""The shapes that records and tables come in, each with the bare job that does the same.

A bare job decodes into the same columns, in the way that Spark's own documentation shows, and
judges, counts and syncs nothing.
"""

import base64
import csv
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import fastavro
from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from pydantic import JsonValue
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.avro.functions import from_avro

from bench.bare import COLUMNS, SCHEMA
from bench.records import Record, as_json

Document = dict[str, JsonValue]

NAMES: list[JsonValue] = [name.split(" ", maxsplit=1)[0] for name in SCHEMA.split(", ")]
_FLAT = SCHEMA.replace("TIMESTAMP", "STRING")
_PATTERN = "^" + r"\|".join([r"([^|]+)"] * 6 + [r"(\d+)", r"(\d+)", r"([\d.]+)"]) + "$"
_AVRO: Document = {
    "type": "record",
    "name": "Click",
    "fields": [
        {"name": str(name), "type": kind}
        for name, kind in zip(NAMES, ["string"] * 6 + ["long", "long", "double"], strict=True)
    ],
}
_PARSED = fastavro.parse_schema(dict(_AVRO))
_OPTIONAL = FieldDescriptorProto.LABEL_OPTIONAL
_KINDS = [FieldDescriptorProto.TYPE_STRING] * 6
_KINDS += [FieldDescriptorProto.TYPE_INT64] * 2 + [FieldDescriptorProto.TYPE_DOUBLE]
_FILES = FileDescriptorSet()
_FILES.file.add(name="click.proto", syntax="proto2").message_type.add(name="Click").field.extend(
    FieldDescriptorProto(name=name, json_name=name, number=n, type=kind, label=_OPTIONAL)
    for n, (name, kind) in enumerate(zip(map(str, NAMES), _KINDS, strict=True), start=1)
)


@dataclass(frozen=True)
class Shape:
    """One kind of records or of table, and how anybody would make it."""

    name: str
    told: str
    """What is done, for the page."""
    bare_told: str
    write: Callable[[Record], bytes]
    decoded: Callable[[DataFrame], DataFrame]
    """The frame of Kafka's records -> rows with `__time`, as the bare job makes them."""
    input_format: Document = field(default_factory=lambda: {"type": "json"})
    schema: Document = field(default_factory=dict)
    """Members of the dataSchema that take the place of the sample's."""


def _separated(by: str) -> Callable[[Record], bytes]:
    def write(record: Record) -> bytes:
        held = io.StringIO()
        csv.writer(held, delimiter=by, lineterminator="").writerow(record.values())
        return held.getvalue().encode()

    return write


def _avro(record: Record) -> bytes:
    held = io.BytesIO()
    fastavro.schemaless_writer(held, _PARSED, record)
    return held.getvalue()


def _protobuf(record: Record) -> bytes:
    written: bytes = _click()(**record).SerializeToString()
    return written


@cache
def _click() -> Any:  # noqa: ANN401 -- a class whose fields are made now
    pool = DescriptorPool()
    pool.Add(_FILES.file[0])
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Click"))


def _rows(records: DataFrame, parsed: Column) -> DataFrame:
    """Spread a struct `j` as all formats do: the time cast, then the columns."""
    held = records.select(parsed.alias("j"), "partition", "offset")
    columns = (f"j.{column} AS {column}" for column in COLUMNS)
    return held.selectExpr(
        "CAST(j.time AS TIMESTAMP) AS __time",
        *columns,
        "partition AS __partition",
        "offset AS __offset",
    )


def _text() -> Column:
    return fn.col("value").cast("string")


def _from_json(records: DataFrame) -> DataFrame:
    return _rows(records, fn.from_json(_text(), SCHEMA))


def _from_separated(by: str) -> Callable[[DataFrame], DataFrame]:
    return lambda records: _rows(records, fn.from_csv(_text(), _FLAT, {"sep": by}))


def _from_regex(records: DataFrame) -> DataFrame:
    kinds = dict(each.split(" ") for each in _FLAT.split(", "))
    parts = (
        fn.regexp_extract(_text(), _PATTERN, number + 1).cast(kind).alias(name)
        for number, (name, kind) in enumerate(kinds.items())
    )
    return _rows(records, fn.struct(*parts))


def _from_avro(records: DataFrame) -> DataFrame:
    return _rows(records, from_avro(fn.col("value"), json.dumps(_AVRO)))


def _from_protobuf(records: DataFrame) -> DataFrame:
    held, names = _FILES.SerializeToString(), [str(name) for name in NAMES]
    kinds: dict[bytes, Any] = {}

    def read(value: bytes) -> tuple[object, ...]:
        # Sent to Spark's workers as it is, so what it needs it imports there.
        if held not in kinds:
            # Spark puts its own jars before Python's packages; one has a folder google/protobuf.
            sys.path[:] = [path for path in sys.path if not path.endswith(".jar")]
            from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

            pool = descriptor_pool.DescriptorPool()
            file = descriptor_pb2.FileDescriptorSet.FromString(held).file[0]
            pool.AddSerializedFile(file.SerializeToString())
            kinds[held] = message_factory.GetMessageClass(pool.FindMessageTypeByName("Click"))
        message = kinds[held].FromString(value)
        return tuple(getattr(message, name) for name in names)

    records.sparkSession.sparkContext.pythonExec = sys.executable  # where Protobuf is installed
    return _rows(records, fn.udf(read, _FLAT)(fn.col("value")))


def _rolled(records: DataFrame, *more: Column) -> DataFrame:
    rows = _from_json(records)
    known = fn.count("*").alias("clicks"), fn.sum("bytes").alias("bytes"), fn.max("latency_ms")
    return (
        rows.groupBy(fn.date_trunc("minute", "__time").alias("__time"), "page", "country", "device")
        .agg(*known, *more)
        .coalesce(1)
        .sortWithinPartitions("__time", "page", "country", "device")
    )


def _with_sketch(records: DataFrame) -> DataFrame:
    return _rolled(records, fn.hll_sketch_agg("user", 12).alias("users"))


def _rollup(*more: JsonValue) -> Document:
    return {
        "dimensionsSpec": {"dimensions": ["page", "country", "device"]},
        "metricsSpec": [
            {"type": "count", "name": "clicks"},
            {"type": "longSum", "name": "bytes", "fieldName": "bytes"},
            {"type": "longMax", "name": "slowest", "fieldName": "latency_ms"},
            *more,
        ],
        "granularitySpec": {
            "segmentGranularity": "HOUR",
            "queryGranularity": "MINUTE",
            "rollup": True,
        },
    }


SHAPES = (
    Shape(
        "format-csv",
        "lines of csv",
        "`from_csv`",
        _separated(","),
        _from_separated(","),
        input_format={"type": "csv", "columns": NAMES},
    ),
    Shape(
        "format-tsv",
        "lines of tsv",
        "`from_csv`",
        _separated("\t"),
        _from_separated("\t"),
        input_format={"type": "tsv", "columns": NAMES},
    ),
    Shape(
        "format-regex",
        "texts that a pattern of nine groups matches",
        "`regexp_extract`, once for each column",
        _separated("|"),
        _from_regex,
        input_format={"type": "regex", "pattern": _PATTERN, "columns": NAMES},
    ),
    Shape(
        "format-kafka",
        "JSON values of the format `kafka`, whose topic and time become columns as well",
        "`from_json` of the value alone",
        as_json,
        _from_json,
        input_format={"type": "kafka", "valueFormat": {"type": "json"}},
    ),
    Shape(
        "format-avro",
        "Avro of one inline schema",
        "`from_avro`",
        _avro,
        _from_avro,
        input_format={
            "type": "avro_stream",
            "avroBytesDecoder": {"type": "schema_inline", "schema": _AVRO},
        },
    ),
    Shape(
        "format-protobuf",
        "Protobuf of one inline descriptor",
        "a function in Python: PySpark has no jar for it",
        _protobuf,
        _from_protobuf,
        input_format={
            "type": "protobuf",
            "protoBytesDecoder": {
                "type": "inline",
                "descriptorString": base64.b64encode(_FILES.SerializeToString()).decode(),
            },
        },
    ),
    Shape(
        "discovery",
        "JSON whose columns and types are discovered",
        "`from_json` with the schema given",
        as_json,
        _from_json,
        schema={"dimensionsSpec": {"useSchemaDiscovery": True}},
    ),
    Shape(
        "rollup",
        "JSON rolled up by minute and three columns, with count, sum and max",
        "one `groupBy` over the decoded records",
        as_json,
        _rolled,
        schema=_rollup(),
    ),
    Shape(
        "rollup-hll",
        "JSON rolled up as in `rollup`, with an HLL sketch of users besides",
        "one `groupBy` with `hll_sketch_agg`",
        as_json,
        _with_sketch,
        schema=_rollup({"type": "HLLSketchBuild", "name": "users", "fieldName": "user"}),
    ),
    Shape(
        "rollup-theta",
        "JSON rolled up as in `rollup`, with a theta sketch of users besides",
        "one `groupBy` with `hll_sketch_agg`, for Spark has no aggregate that makes theta sketches",
        as_json,
        _with_sketch,
        schema=_rollup({"type": "thetaSketch", "name": "users", "fieldName": "user"}),
    ),
)
