"""The shapes that records and tables come in, each with the bare job that does the same.

A bare job decodes into the same columns, in the way that Spark's own documentation shows, and
judges, counts and syncs nothing.
"""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import fastavro
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


def _rolled(records: DataFrame) -> DataFrame:
    rows = _from_json(records)
    return (
        rows.groupBy(fn.date_trunc("minute", "__time").alias("__time"), "page", "country", "device")
        .agg(fn.count("*").alias("clicks"), fn.sum("bytes").alias("bytes"), fn.max("latency_ms"))
        .coalesce(1)
        .sortWithinPartitions("__time", "page", "country", "device")
    )


_ROLLUP: Document = {
    "dimensionsSpec": {"dimensions": ["page", "country", "device"]},
    "metricsSpec": [
        {"type": "count", "name": "clicks"},
        {"type": "longSum", "name": "bytes", "fieldName": "bytes"},
        {"type": "longMax", "name": "slowest", "fieldName": "latency_ms"},
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
        schema=_ROLLUP,
    ),
)
