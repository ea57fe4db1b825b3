"""What becomes of each record: a row, or a reason why not.  The same bytes give the same result.

    value ──► UTF-8? ──► one JSON object, nothing behind it? ──► a time? ──► row
      └ null-value   └ empty · not-json · not-an-object   └ no-timestamp · bad-timestamp

Each rule is SQL text over a frame of `p` (partition), `o` (offset), `v` (the value's bytes); no
rule looks at a clock, a locale or the machine.  JSON is strict (RFC 8259): NaN, single quotes,
trailing commas, a byte order mark and more than one value in a record are `not-json`, and so is
nesting deeper than 1,000.  Of duplicate keys the last counts.
"""

from collections.abc import Iterable, Sequence
from enum import Enum

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import StringType, StructField, StructType

from tasks.contract import Column, TimestampSpec
from tasks.ingest.sql import ERROR_COLUMN, REASON_COLUMN, name, text, texts
from tasks.ingest.transform import as_time, as_value

OWN_COLUMNS = ("__time", "__partition", "__offset", "__topic")
"""Columns that we add; a field of that name is never a column."""


class RejectReason(Enum):
    """Why a record became no row; values are as they appear in files and reports."""

    NULL_VALUE = "null-value"
    EMPTY = "empty"
    NOT_JSON = "not-json"
    NOT_AN_OBJECT = "not-an-object"
    NO_TIMESTAMP = "no-timestamp"
    BAD_TIMESTAMP = "bad-timestamp"

    @property
    def code(self) -> int:
        """The number that stands for it inside a job, from 1."""
        return list(RejectReason).index(self) + 1


_SPACE = " \t\r\n"  # what JSON takes for blank
_STRICT = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false", "mode": "PERMISSIVE"}

_BLANK = f"trim(BOTH {text(_SPACE)} FROM s) = ''"
_OPENS = f"(startswith(s, '{{') OR startswith(trim(LEADING {text(_SPACE)} FROM s), '{{'))"
# Spark reads the first JSON value and ignores the rest of the record.  Put into an array before a
# mark, the mark is the second element only if the record is one value and nothing else.
_WHOLE = "get_json_object(concat('[', s, ',\"end\"]'), '$[1]') <=> 'end'"
# Cheaper, and true for most: the first closing brace is the last byte.
_FLAT = "octet_length(substring_index(s, '}', 1)) = octet_length(s) - 1"


def decode(
    records: DataFrame, timestamp: TimestampSpec, columns: Sequence[Column], *, known: Iterable[str]
) -> DataFrame:
    """Turn records (`p`, `o`, `v`) into judged rows; one pass, no job is run.

    The result has `p`, `o`, `s` (the value as text), `size` (bytes), `t` (time), `c0`, `c1`, …
    (the columns, in order), `bad` (a value did not fit), `reason` (0: a row) and `unknown` (an
    array of a row's top-level keys that `known` does not name; null if it names all, and always
    null when `known` is empty: then the columns are declared).
    """
    fields = sorted({column.name for column in columns} | {timestamp.column})
    corrupt = _unused("corrupt", fields)
    schema = StructType([StructField(f, StringType()) for f in [*fields, corrupt]])
    parsed = records.selectExpr("p", "o", "v", "CAST(v AS STRING) AS s").select(
        "p",
        "o",
        "v",
        "s",
        fn.from_json("s", schema, _STRICT | {"columnNameOfCorruptRecord": corrupt}).alias("j"),
    )
    judged = parsed.selectExpr(
        *("p", "o", "v", "s", "j"),
        f"j.{name(timestamp.column)} AS x",
        f"{_judge(f'j.{name(corrupt)}')} AS r",
        *(f"{as_value(f'j.{name(c.name)}', c.type)} AS c{n}" for n, c in enumerate(columns)),
    )
    typed = judged.selectExpr(
        *("p", "o", "s", "r", "x"),
        "coalesce(octet_length(v), 0) AS size",
        f"{as_time('x', timestamp)} AS t",
        *(f"c{n}" for n in range(len(columns))),
        f"{_misfit(columns)} AS misfit",
        f"{_unknown_keys(sorted(known))} AS unknown",
    )
    return typed.selectExpr(
        *("p", "o", "s", "size", "t"),
        *(f"c{n}" for n in range(len(columns))),
        f"(misfit OR unknown IS NOT NULL) AS {ERROR_COLUMN}",
        f"{_with_time()} AS {REASON_COLUMN}",
        "CASE WHEN t IS NOT NULL THEN unknown END AS unknown",
    )


def _judge(corrupt: str) -> str:
    """Judge the record's form: 0, or the number of a reason."""
    empty, not_json = RejectReason.EMPTY.code, RejectReason.NOT_JSON.code
    return (
        f"CASE WHEN v IS NULL THEN {RejectReason.NULL_VALUE.code} "
        f"WHEN NOT is_valid_utf8(s) THEN {not_json} "
        f"WHEN j IS NULL OR {corrupt} IS NOT NULL OR NOT {_OPENS} THEN "
        f"CASE WHEN {_BLANK} THEN {empty} WHEN {_OPENS} THEN {not_json} "
        f"WHEN {_WHOLE} THEN {RejectReason.NOT_AN_OBJECT.code} ELSE {not_json} END "
        f"WHEN NOT ({_FLAT}) AND NOT ({_WHOLE}) THEN {not_json} ELSE 0 END"
    )


def _with_time() -> str:
    no, bad = RejectReason.NO_TIMESTAMP.code, RejectReason.BAD_TIMESTAMP.code
    return (
        "CASE WHEN r <> 0 THEN r WHEN t IS NOT NULL THEN 0 "
        f"WHEN x IS NULL OR trim(x) = '' THEN {no} ELSE {bad} END"
    )


def _misfit(columns: Sequence[Column]) -> str:
    """Tell whether a value is there and its typed column is null; a text always fits."""
    tests = [
        f"(j.{name(column.name)} IS NOT NULL AND c{number} IS NULL)"
        for number, column in enumerate(columns)
        if column.type != "string"
    ]
    return " OR ".join(tests) or "false"


def _unknown_keys(known: Sequence[str]) -> str:
    if not known:
        return "CAST(NULL AS ARRAY<STRING>)"
    found = f"filter(json_object_keys(s), k -> k NOT IN ({texts(known)}))"
    return f"CASE WHEN r = 0 THEN nullif({found}, CAST(array() AS ARRAY<STRING>)) END"


def _unused(wanted: str, taken: Sequence[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
