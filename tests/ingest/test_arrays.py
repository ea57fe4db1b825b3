"""Columns that hold lists: what is declared, what is discovered, and how the types meet."""

from collections.abc import Callable

import pytest

from tasks.ingest_spec import (
    Column,
    ColumnType,
    RowSpec,
    TimestampSpec,
)
from tasks.spark_session import SparkRuntime
from tests.ingest.decoding import decoded

pytestmark = pytest.mark.spark

NewTopic = Callable[[int], str]

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
    spec = RowSpec(timestamp=TimestampSpec(column="t", format="millis"))

    for place, kind in enumerate(LISTS):
        rows = decoded(spark, spec, values, [Column(name="a", type=kind)])

        for row, (text, wanted, lost) in zip(rows, DECLARED, strict=True):
            assert (text, row.columns) == (text, (wanted[place],))
            assert (text, row.bad) == (text, kind in lost)
