"""Values at and beyond the bounds of their columns, whichever way they came there.

Goal: what does not fit is null, counted once, and no row where the spec asks for that; no number
is ever made up, and no record spoils what others come to.
"""

import json
from collections.abc import Sequence
from typing import Literal

import pytest

from tasks.contract.filters import Selector
from tasks.contract.ingest_spec import (
    Column,
    ColumnType,
    Metric,
    RowSpec,
    TimestampSpec,
    Transform,
    UnfitValues,
)
from tasks.rows.discovery import DOUBLE, LONG, TEXT
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import NOON, Decoded, decoded

pytestmark = pytest.mark.spark

MILLIS = int(NOON.timestamp() * 1000)
TIME = TimestampSpec(column="t", format="millis")
LOST = "lost"
LARGEST = 2**63 - 1
LEAST = -(2**63)

# How JSON writes a value, and what a long of a transform `x` is; `LOST`: null, and counted.
LONGS: list[tuple[str, object]] = [
    ("1", 1),
    ("1.9", 1),
    ("-1.9", -1),
    ('"12"', 12),
    ("null", None),
    (str(LARGEST), LARGEST),
    (f'"{LARGEST}"', LARGEST),
    (str(LEAST), LEAST),
    (f'"{LEAST}"', LEAST),
    ("9223372036854775808", LOST),
    ("18446744073709551615", LOST),
    ('"9223372036854775808"', LOST),
    ('"18446744073709551615"', LOST),
    ("-9223372036854775809", LOST),
    ('"-9223372036854775809"', LOST),
    ("1e18", 10**18),
    ("1e30", LOST),
    ('"1e30"', LOST),
    ('"NaN"', LOST),
    ('"Infinity"', LOST),
    ('"-Infinity"', LOST),
    ("1e999", LOST),
    ("[1e30]", LOST),
    ('"many"', LOST),
    ('{"a":1}', LOST),
]

# The same of a double.
DOUBLES: list[tuple[str, object]] = [
    ("1", 1.0),
    ("1.5", 1.5),
    ("-0.0", 0.0),
    ("null", None),
    ("1e308", 1e308),
    ("18446744073709551615", 2.0**64),
    ('"NaN"', LOST),
    ('"Infinity"', LOST),
    ('"-Infinity"', LOST),
    ("1e999", LOST),
    ('["NaN"]', LOST),
]

# The same of a float.
FLOATS: list[tuple[str, object]] = [
    ("1.5", 1.5),
    ("1e30", 1.0000000150474662e30),
    ("1e300", LOST),
    ("-1e300", LOST),
    ('"NaN"', LOST),
]

Number = Literal["long", "double", "float"]
BOUNDS: list[tuple[Number, list[tuple[str, object]]]] = [
    ("long", LONGS),
    ("double", DOUBLES),
    ("float", FLOATS),
]


def records(values: Sequence[tuple[str, object]]) -> list[bytes]:
    return [f'{{"t":{MILLIS},"x":{text}}}'.encode() for text, _ in values]


def rows(values: Sequence[tuple[str, object]]) -> list[Decoded]:
    return [
        Decoded(None, NOON, (None,), bad=True) if wanted is LOST else Decoded(None, NOON, (wanted,))
        for _, wanted in values
    ]


def judged(values: Sequence[tuple[str, object]]) -> list[str | None]:
    return ["unfit-value" if wanted is LOST else None for _, wanted in values]


@pytest.mark.parametrize(("kind", "values"), BOUNDS)
def test_what_a_transform_makes_fits_its_column_or_is_null_and_counted(
    spark: SparkRuntime, kind: Number, values: list[tuple[str, object]]
) -> None:
    transforms = (Transform(name="k", expression="nvl(x, null)"),)
    spec = RowSpec(timestamp=TIME, transforms=transforms)
    columns = [Column(name="k", type=kind)]

    decoded_rows = decoded(spark, spec, records(values), columns)

    assert list(zip(values, decoded_rows, strict=True)) == list(
        zip(values, rows(values), strict=True)
    )
    judging = spec.model_copy(update={"unfit_values": UnfitValues.QUARANTINE})
    decoded_rows = decoded(spark, judging, records(values), columns)
    assert [row.reason for row in decoded_rows] == judged(values)


@pytest.mark.parametrize(("kind", "values"), BOUNDS)
def test_what_a_metric_is_of_fits_it_or_is_null_and_counted(
    spark: SparkRuntime, kind: Number, values: list[tuple[str, object]]
) -> None:
    """Goal: of a field, of a transform and of an expression; each aggregation takes the same."""
    transforms = (Transform(name="y", expression="nvl(x, null)"),)
    every = Selector(dimension="t", value=str(MILLIS))
    metrics = (
        Metric(name="sum", of="sum", type=kind, field="x"),
        Metric(name="most", of="max", type=kind, field="y"),
        Metric(name="least", of="min", type=kind, expression="nvl(x, null)"),
        Metric(name="last", of="last", type=kind, field="x", filter=every),
    )
    spec = RowSpec(timestamp=TIME, transforms=transforms, metrics=metrics, rollup=True)
    shown = [Column(name=metric.name, type=kind) for metric in metrics]

    decoded_rows = decoded(spark, spec, records(values), [], measures=len(shown))

    wanted = [
        Decoded(row.reason, row.time, row.columns * len(shown), row.bad) for row in rows(values)
    ]
    assert list(zip(values, decoded_rows, strict=True)) == list(zip(values, wanted, strict=True))


def test_what_is_worked_out_is_judged_as_what_is_passed_on(spark: SparkRuntime) -> None:
    """Goal: also the parts of an expression that are made longs on the way."""
    transforms = (
        Transform(name="product", expression="x * 1"),
        Transform(name="cast", expression="cast(x, 'LONG')"),
        Transform(name="both", expression="bitwiseOr(x, 0)"),
        Transform(name="several", expression="cast(array(x), 'ARRAY<LONG>')"),
    )
    spec = RowSpec(timestamp=TIME, transforms=transforms)
    longs = [Column(name=name, type="long") for name in ("product", "cast", "both")]
    columns = [*longs, Column(name="several", type="array<long>")]
    odd = ['"NaN"', "1e30", '"Infinity"', "9223372036854775808", '"18446744073709551615"']

    decoded_rows = decoded(spark, spec, records([(text, LOST) for text in odd]), columns)

    nothing = (None, None, None, [None])
    assert [(text, row.columns, row.bad) for text, row in zip(odd, decoded_rows, strict=True)] == [
        (text, nothing, True) for text in odd
    ]


def test_numbers_that_are_none_become_no_time(spark: SparkRuntime) -> None:
    """Goal: a row of 1970 for a NaN would be a record in the wrong place."""
    moved = Transform(name="__time", expression="s * 1000")
    spec = RowSpec(timestamp=TIME.model_copy(update={"missing_value": NOON}), transforms=(moved,))
    odd = ('"NaN"', "1e30", '"Infinity"', '"-Infinity"', "null", "18446744073709551615")
    held = [f'{{"t":{MILLIS},"s":{text}}}'.encode() for text in odd]
    held += [f'{{"s":{text}}}'.encode() for text in odd]  # the time that they lack is `NOON`
    held += [b'{"s":1714564800}', json.dumps({"t": "soon", "s": 1}).encode()]

    decoded_rows = decoded(spark, spec, held, [])

    none = ["bad-timestamp"] * len(odd)
    assert [row.reason for row in decoded_rows] == [*none, *none, None, "bad-timestamp"]
    assert decoded_rows[-2].time == NOON


# How JSON writes a value, and what a transform's column holds of it that has grown to a type.
GROWN: list[tuple[ColumnType, int, list[tuple[str, object]]]] = [
    ("double", LONG | DOUBLE, [("1.5", 1.5), ('"NaN"', LOST), ("1e999", LOST)]),
    ("json", LONG | DOUBLE | TEXT, [("1.5", "1.5"), ('"NaN"', LOST), ("1e999", LOST)]),
]


@pytest.mark.parametrize(("kind", "kinds", "values"), GROWN)
def test_a_column_with_the_type_of_its_values_takes_no_number_that_is_none(
    spark: SparkRuntime, kind: ColumnType, kinds: int, values: list[tuple[str, object]]
) -> None:
    """Goal: whatever type the column has grown to, so that no division of a topic shows."""
    transforms = (Transform(name="k", expression="cast(x, 'DOUBLE')"),)
    spec = RowSpec(timestamp=TIME, transforms=transforms)

    decoded_rows = decoded(
        spark, spec, records(values), [Column(name="k", type=kind)], kinds={"k": kinds}
    )

    assert list(zip(values, decoded_rows, strict=True)) == list(
        zip(values, rows(values), strict=True)
    )


def test_a_field_that_no_double_holds_is_counted_in_a_column_of_its_values(
    spark: SparkRuntime,
) -> None:
    held: list[tuple[str, object]] = [("1.5", 1.5), ("1e999", LOST), ("-1e999", LOST)]
    column = Column(name="x", type="double")

    decoded_rows = decoded(
        spark, RowSpec(timestamp=TIME), records(held), [column], kinds={"x": DOUBLE}
    )

    assert decoded_rows == rows(held)


# How JSON writes an id that doubles cannot tell from others.
IDS = ("18446744073709551615", "18446744073709551614", "9007199254740993.0", "9007199254740992.0")


def test_ids_that_are_passed_on_stay_apart(spark: SparkRuntime) -> None:
    """Goal: a whole number beyond 64 bits, or with a point, is never another one of them."""
    names = ("whole", "text", "nested", "several")
    transforms = (
        Transform(name="whole", expression="nvl(x, 0)"),
        Transform(name="text", expression="if(x > 5, x, 'few')"),
        Transform(name="nested", expression="x"),
        Transform(name="several", expression="concat(x, '!')"),
    )
    types: tuple[ColumnType, ...] = ("long", "string", "json", "string")
    columns = [Column(name=n, type=kind) for n, kind in zip(names, types, strict=True)]

    decoded_rows = decoded(
        spark,
        RowSpec(timestamp=TIME, transforms=transforms),
        records([(text, None) for text in IDS]),
        columns,
    )

    plain = [text.removesuffix(".0") for text in IDS]
    assert [row.columns for row in decoded_rows] == [
        (int(number) if int(number) <= LARGEST else None, number, number, f"{number}!")
        for number in plain
    ]
