"""Expressions worked out by Spark: all of them in one job, over one row of fields."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pyarrow.parquet as pq

from tasks.ingest.spark.text_functions import add_text_functions
from tasks.rows.expression.compile import compile_expression
from tasks.rows.expression.parse import parse
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import ArrayValue, Value, as_double, as_long, as_string, as_truth
from tasks.spark.session import SparkRuntime

_folders = count(1)

_SCHEMA = (
    "x bigint, y double, s string, arr array<string>, nums array<bigint>, reals array<double>, "
    "js string, l bigint, d double, t string, a array<string>, ip string, nan double, inf double"
)
JSON = (
    '{"a":1,"b":"two","c":[1,2,3],"d":{"e":2.5,"f":null},"g":true,"h":["p","q"],'
    '"i j":5,"k":"12","m":[{"n":7},{"n":8}],"o":false,"q":"say \\"hi\\""}'
)
_ROW = (
    *(3, 2.5, "foo", ["a", "b", "c"], [1, 2, 3, 2], [1.5, 2.5], JSON),
    *(7, 1.25, "12", ["p", "q"], "192.168.1.5", math.nan, math.inf),
)


def fields(name: str) -> Value:
    """What a name stands for; `any_…` have the texts of a field whose type is known per row."""
    known = {
        "x": Value(long="x"),
        "y": Value(double="y"),
        "s": Value(string="s"),
        "n": Value(),
        "ln": Value(long="nullif(x, 3)"),
        "dn": Value(double="nullif(y, 2.5D)"),
        "sn": Value(string="nullif(s, 'foo')"),
        "arr": Value(array=ArrayValue(ElementType.STRING, "arr")),
        "nums": Value(array=ArrayValue(ElementType.LONG, "nums")),
        "reals": Value(array=ArrayValue(ElementType.DOUBLE, "reals")),
        "an": Value(array=ArrayValue(ElementType.LONG, "nullif(nums, nums)")),
        "js": Value(json="js"),
        "ip": Value(string="ip"),
        "nan": Value(double="nan"),
        "inf": Value(double="inf"),
        "any_long": _any("l"),
        "any_double": _any("d"),
        "any_text": _any("t"),
        "any_word": _any("s"),
        "any_array": _any("a"),
        "any_null": _any(""),
    }
    return known[name]


def _any(held: str) -> Value:
    kinds = {"l": "bigint", "d": "double", "t": "string", "s": "string", "a": "array<string>"}

    def view(column: str) -> str:
        return column if column == held else f"nullif({column}, {column})"

    assert not held or held in kinds
    return Value(
        number=f"number_{held}",  # as a batch has it
        long=view("l"),
        double=view("d"),
        string=view("s" if held == "s" else "t"),
        array=ArrayValue(ElementType.STRING, view("a")),
    )


def work_out(spark: SparkRuntime, expressions: Sequence[str]) -> list[object]:
    """Work out expressions, in their order.

    A long is an int, a double a float, an array (kind, elements), nested data a dict of `json`.
    """
    values = [compile_expression(parse(text), fields) for text in expressions]
    return [_read(text) for text in select(spark, [_tagged(value) for value in values])]


def as_the_end(spark: SparkRuntime, expressions: Sequence[str], form: str) -> list[object]:
    """Work out expressions as one type, as who writes a column does."""
    forms = {"string": as_string, "long": as_long, "double": as_double, "truth": as_truth}
    values = [compile_expression(parse(text), fields) for text in expressions]
    return select(spark, [forms[form](value) for value in values])


def select(spark: SparkRuntime, columns: Sequence[str]) -> list[object]:
    """Select columns of SQL from one row, in one job."""
    add_text_functions(spark.session)
    numbers = [
        f"{as_double(replace(_any(held), number=None))} AS number_{held}"
        for held in ("", "l", "d", "t", "s", "a")
    ]
    frame = spark.session.createDataFrame([_ROW], _SCHEMA).selectExpr("*", *numbers)
    folder = spark.work_dir / f"expressions-{next(_folders)}"
    named = [f"{sql} AS c{place}" for place, sql in enumerate(columns)]
    frame.selectExpr(*named).write.parquet(folder.as_uri())
    (row,) = pq.read_table(folder).to_pylist()
    return [row[f"c{place}"] for place in range(len(columns))]


def _tagged(value: Value) -> str:
    """Tell type and value of what is there, and whether more than one is."""
    parts = [("json", value.json), ("text", value.string)]
    numbers = [("long", value.long), ("double", value.double)]
    parts += [(name, sql and f"CAST({sql} AS STRING)") for name, sql in numbers]
    if value.array:
        parts.append((value.array.kind.value, f"to_json({value.array.sql})"))
    held = ", ".join(f"concat('{name} ', {sql})" for name, sql in parts if sql)
    return f"concat_ws('\\u001e', {held or 'CAST(NULL AS STRING)'})"


def _read(tagged: object) -> object:
    assert isinstance(tagged, str)
    if not tagged:
        return None
    assert "\x1e" not in tagged, f"more than one: {tagged}"
    name, text = tagged.split(" ", 1)
    match name:
        case "long":
            return int(text)
        case "double":
            return float(text)
        case "text":
            return text
        case "json":
            return {"json": json.loads(text)}
        case _:
            return name, json.loads(text)


def same(answer: object, wanted: object) -> bool:
    """Whether both are of one type and equal; doubles to the last bits, NaN equals NaN."""
    if isinstance(answer, float) and isinstance(wanted, float):
        if math.isnan(answer) or math.isnan(wanted):
            return math.isnan(answer) and math.isnan(wanted)
        if answer == 0 == wanted:
            return math.copysign(1, answer) == math.copysign(1, wanted)
        return answer == wanted or math.isclose(answer, wanted, rel_tol=4e-16)
    return type(answer) is type(wanted) and answer == wanted
