"""Columns that hold lists: what is declared, what is discovered, and how the types meet."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.contract.ingest_spec import (
    Column,
    ColumnType,
    JsonFormat,
    RegexFormat,
    RowSpec,
    TextFormat,
    TimestampSpec,
    Transform,
)
from tasks.ingest.formats.json import parse_json
from tasks.ingest.formats.parsed import WantedFields
from tasks.rows.discovery import kinds_of, kinds_sql, stored, type_of, wider
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import Value, of_array
from tasks.rows.sql.text import name
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import Row, decoded, rows_of

pytestmark = pytest.mark.spark

TIME = TimestampSpec(column="t", format="millis")
LISTS: tuple[ColumnType, ...] = ("array<long>", "array<double>", "array<string>")

# The JSON of a value -> what it is as each type, in the order of LISTS; and the types that it
# does not fit into, wholly or in part.
DECLARED: list[tuple[str, list[object], set[ColumnType]]] = [
    ("[1,null,-7]", [[1, None, -7], [1.0, None, -7.0], ["1", None, "-7"]], set()),
    ("[]", [[], [], []], set()),
    ("[null]", [[None], [None], [None]], set()),
    ("null", [None, None, None], set()),
    ("[true,false]", [[1, 0], [1.0, 0.0], ["1", "0"]], set()),
    ("[2.0,1e3]", [[2, 1000], [2.0, 1000.0], ["2", "1000"]], set()),
    ("[1,2.5]", [[1, None], [1.0, 2.5], ["1", "2.5"]], {"array<long>"}),
    ('["a","12"]', [[None, 12], [None, 12.0], ["a", "12"]], {"array<long>", "array<double>"}),
    ('["1.5"]', [[None], [1.5], ["1.5"]], {"array<long>"}),
    ('[1,"",true]', [[1, None, 1], [1.0, None, 1.0], ["1", "", "1"]], {*LISTS[:2]}),
    ("[1,[2]]", [[1, None], [1.0, None], ["1", None]], {*LISTS}),
    ('[{"a":1},"x"]', [[None, None], [None, None], [None, "x"]], {*LISTS}),
    ('{"a":[1]}', [None, None, None], {*LISTS}),
    ("7", [[7], [7.0], ["7"]], set()),
    ("2.5", [[None], [2.5], ["2.5"]], {"array<long>"}),
    ("true", [[1], [1.0], ["1"]], set()),
    ('"x"', [[None], [None], ["x"]], {"array<long>", "array<double>"}),
    ("[1e999]", [[None], [None], ["Infinity"]], {"array<long>", "array<double>"}),
    (f"[{2**63 - 1}]", [[2**63 - 1], [float(2**63)], [f"{2**63 - 1}"]], set()),
    (f"[{2**64}]", [[None], [float(2**64)], ["1.8446744073709552E19"]], {"array<long>"}),
]


def test_a_declared_array_holds_lists_and_scalars_and_counts_what_does_not_fit(
    spark: SparkRuntime,
) -> None:
    values = [f'{{"t":0,"a":{text}}}'.encode() for text, _, _ in DECLARED]
    spec = RowSpec(timestamp=TIME)

    for place, kind in enumerate(LISTS):
        rows = decoded(spark, spec, values, [Column(name="a", type=kind)])

        for row, (text, wanted, lost) in zip(rows, DECLARED, strict=True):
            assert (text, row.columns) == (text, (wanted[place],))
            assert (text, row.bad) == (text, kind in lost)


@pytest.mark.parametrize(
    ("value_format", "line"),
    [
        (TextFormat(type="csv", columns=("t", "a"), delimiter=",", list_delimiter="|"), "0,{}"),
        (TextFormat(type="tsv", columns=("t", "a"), delimiter=";", list_delimiter="|"), "0;{}"),
        (RegexFormat(pattern="(.)=(.*)", columns=("t", "a"), list_delimiter="|"), "0={}"),
    ],
)
def test_lists_of_lines_of_text_are_arrays_and_texts_stay_json(
    spark: SparkRuntime, value_format: TextFormat | RegexFormat, line: str
) -> None:
    spec = RowSpec(value_format=value_format, timestamp=TIME)
    values = [line.format(text).encode() for text in ("1|2.5", "7", "", "x|")]
    wanted: dict[ColumnType, list[tuple[object, bool]]] = {
        "array<string>": [(["1", "2.5"], False), (["7"], False), (None, False), (["x", ""], False)],
        "array<double>": [([1.0, 2.5], False), ([7.0], False), (None, False), ([None] * 2, True)],
        "array<long>": [([1, None], True), ([7], False), (None, False), ([None] * 2, True)],
        "string": [(text, False) for text in ('["1","2.5"]', "7", None, '["x",""]')],
    }

    for kind, expected in wanted.items():
        rows = decoded(spark, spec, values, [Column(name="a", type=kind)])

        assert [(row.columns[0], row.bad) for row in rows] == expected


def test_what_expressions_make_is_stored_as_the_array_that_is_declared(
    spark: SparkRuntime,
) -> None:
    """Goal: a list that only has another name is what it is by its own."""
    expressions = {
        "same": "tags",
        "more": "array_append(tags, 'end')",
        "halves": "map((x) -> x / 2.0, array(n, 3))",
        "one": "n + 1",
        "text": "concat('a', n)",
    }
    transforms = tuple(Transform(name=name, expression=text) for name, text in expressions.items())
    spec = RowSpec(timestamp=TIME, transforms=transforms)
    record = b'{"t":0,"n":4,"tags":[1,2.5,true]}'

    def kept(*kinds: str) -> tuple[tuple[object, ...], bool]:
        columns = [
            Column.model_validate({"name": n, "type": k})
            for n, k in zip(expressions, kinds, strict=True)
        ]
        [row] = decoded(spark, spec, [record], columns)
        return row.columns, row.bad

    double, long, text = "array<double>", "array<long>", "array<string>"
    assert kept(double, text, double, long, text) == (
        ([1.0, 2.5, 1.0], ["1", "2.5", "true", "end"], [2.0, 1.5], [5], ["a4"]),
        False,
    )
    assert kept(long, text, double, long, text)[1]
    assert kept(double, text, long, long, text) == (
        ([1.0, 2.5, 1.0], ["1", "2.5", "true", "end"], [2, None], [5], ["a4"]),
        True,
    )


TYPES: tuple[ColumnType, ...] = ("long", "double", "string", "json", *LISTS)

# The JSON of a value -> the type of a column that has met nothing else, and what it is in a
# column of JSON, where it may have come from a narrower one.
DISCOVERED: dict[str, tuple[ColumnType | None, object]] = {
    "[]": ("array<long>", "[]"),
    "[null]": ("array<long>", "[null]"),
    "[1,-0,null]": ("array<long>", '["1","0",null]'),
    "[true,false]": ("array<long>", '["1","0"]'),
    f"[{2**53 + 1}]": ("array<long>", f'["{2**53 + 1}"]'),
    "[1,2.5]": ("array<double>", '["1","2.5"]'),
    "[2.0,true,null]": ("array<double>", '["2","1",null]'),
    f"[{2**64},1e300,1E-7]": (
        "array<double>",
        '["1.8446744073709552E19","1.0E300","1.0E-7"]',
    ),
    '["a","\\u0001 \\"q\\"",null]': ("array<string>", '["a","\\u0001 \\"q\\"",null]'),
    '["12"]': ("array<string>", '["12"]'),
    '[1,"a",2.5,3.0,true]': ("array<string>", '["1","a","2.5","3","1"]'),
    '[[1],"a"]': ("json", '[[1],"a"]'),
    '[1,{"a":[1,2.50]}]': ("json", '[1,{"a":[1,2.5]}]'),
    '{"a":[1]}': ("json", '{"a":[1]}'),
    "7": ("long", "7"),
    "2.5": ("double", "2.5"),
    '"x"': ("string", '"x"'),
    "null": (None, None),
}


def test_a_discovered_list_has_the_least_type_that_holds_its_elements(
    spark: SparkRuntime,
) -> None:
    rows = _stored(spark, {"kinds": kinds_sql, "json": lambda v: stored(v, "json")})

    for (text, (kind, as_json)), row in zip(DISCOVERED.items(), rows, strict=True):
        assert isinstance(row["kinds"], int)
        assert (text, type_of(row["kinds"]), row["json"]) == (text, kind, as_json)


def test_a_value_is_the_same_whichever_types_it_has_gone_through(spark: SparkRuntime) -> None:
    """Goal: a batch, a file or a table may widen a column at any time, more than once.

    Only a whole number beyond 2^53 that was a double in between is another one.
    """
    grown = [(a, b) for a, b in product(TYPES, TYPES) if _holds(b, a)]
    steps = [(a, b, c) for a, b in grown for c in TYPES if _holds(c, b)]
    assert ("array<long>", "array<string>", "json") in steps
    ways = {f"{a} {a} {b}": (a, a, b) for a, b in grown}
    ways |= {f"{a} {b} {c}": (a, b, c) for a, b, c in steps}
    sql = {f"to {kind}": partial(stored, column=kind) for kind in TYPES} | {
        label: partial(_by_way_of, types=types) for label, types in ways.items()
    }

    for (text, (kind, _)), row in zip(
        DISCOVERED.items(), _stored(spark, {"kinds": kinds_sql, **sql}), strict=True
    ):
        for label, (was, between, column) in ways.items():
            inexact = f"{2**53 + 1}" in text and "array<double>" in (was, between)
            if kind is not None and _holds(was, kind) and not inexact:
                assert (text, label, row[label]) == (text, label, row[f"to {column}"])


def _holds(column: ColumnType, was: ColumnType) -> bool:
    return type_of(kinds_of(column) | kinds_of(was)) == column


def _by_way_of(value: Value, types: tuple[ColumnType, ColumnType, ColumnType]) -> str:
    was, between, column = types
    return wider(wider(stored(value, was), was, between), between, column)


def _stored(spark: SparkRuntime, sql: Mapping[str, Callable[[Value], str]]) -> list[Row]:
    """Return what each SQL of a value gives, for each of DISCOVERED."""
    records = [(n, f'{{"a":{text}}}'.encode()) for n, text in enumerate(DISCOVERED)]
    frame = spark.session.createDataFrame(records, "o long, v binary")
    texts = frame.selectExpr("*", "CAST(v AS STRING) AS s")
    parsed = parse_json(texts, JsonFormat(), WantedFields(values=("a",)))
    selected = (f"{make(parsed.value('a'))} AS {name(label)}" for label, make in sql.items())
    return rows_of(spark, parsed.frame.selectExpr("o", *selected))


def test_elements_may_be_null_in_every_file(spark: SparkRuntime) -> None:
    """Goal: formats tell lists with and without nulls apart; a column's are of one sort."""
    values = {
        "split": of_array(ElementType.STRING, "split(s, ',')"),
        "longs": of_array(ElementType.LONG, "array(1L, 2L)"),
        "doubles": of_array(ElementType.DOUBLE, "array(1D)"),
        "text": Value(string="'x'"),
        "long": Value(long="o"),
        "none": Value(),
    }
    frame = spark.session.createDataFrame([(0, "a,b")], "o long, s string")
    folder = spark.work_dir / "nulls-in-lists"
    selected = [
        f"{stored(value, kind)} AS {name(f'{label} {kind}')}"
        for label, value in values.items()
        for kind in LISTS
    ]

    frame.selectExpr(*selected).write.parquet(folder.as_uri())

    elements = (pa.int64(), pa.float64(), pa.string())
    types: dict[str, pa.DataType] = dict(zip(LISTS, elements, strict=True))
    schema = pq.read_schema(next(folder.glob("*.parquet")))
    assert len(schema) == len(selected)
    for field in schema:
        assert (field.name, field.type) == (field.name, pa.list_(types[field.name.split()[1]]))
