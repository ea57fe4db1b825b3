"""Types of discovered columns: the sum of what was met, whoever met which part of it."""

from functools import reduce
from operator import or_

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from tasks.contract.ingest_spec import Column, ColumnType, Discovery
from tasks.rows.arrays import DOUBLES, LONGS, NESTED, TEXTS
from tasks.rows.discovery import (
    DOUBLE,
    LONG,
    TEXT,
    columns_of,
    common,
    kinds_met,
    kinds_of,
    numbers_beside_texts,
    together,
    type_of,
    unsettled,
)
from tests.supervisor.core.spec.spec_documents import changed, errors_of

_DIMENSIONS = "/spec/dataSchema/dimensionsSpec"
SCHEMA = Draft202012Validator(spec_schema())


@pytest.mark.parametrize(
    ("kinds", "column"),
    [
        (0, None),
        (LONG, "long"),
        (DOUBLE, "double"),
        (LONG | DOUBLE, "double"),
        (TEXT, "string"),
        (TEXT | LONG, "json"),
        (TEXT | DOUBLE, "json"),
        (NESTED, "json"),
        (NESTED | LONG, "json"),
        (NESTED | TEXT | DOUBLE | LONG, "json"),
        (LONGS, "array<long>"),
        (DOUBLES, "array<double>"),
        (LONGS | DOUBLES, "array<double>"),
        (TEXTS, "array<string>"),
        (TEXTS | LONGS, "array<string>"),
        (TEXTS | DOUBLES | LONGS, "array<string>"),
        (LONGS | LONG, "json"),
        (TEXTS | TEXT, "json"),
        (DOUBLES | NESTED, "json"),
    ],
)
def test_a_type_holds_every_value_that_was_met(kinds: int, column: ColumnType | None) -> None:
    assert type_of(kinds) == column


def test_what_batches_met_adds_up_in_any_order() -> None:
    batches = [{"a": LONG}, {"a": DOUBLE, "b": 0}, {"b": TEXT}]

    assert together(batches) == together(batches[::-1]) == {"a": LONG | DOUBLE, "b": TEXT}
    assert unsettled({"a": LONG, "b": LONG | TEXT, "c": 0, "d": NESTED}) == ("a", "c")
    assert unsettled({"a": TEXTS, "b": LONGS | LONG}) == ("a",)


@given(st.lists(st.integers(0, 127), max_size=5), st.integers(0, 5))
def test_types_alone_tell_what_all_the_kinds_would_have_told(kinds: list[int], cut: int) -> None:
    """Goal: published files, of which only types are known, may lie anywhere between batches."""
    parts = (reduce(or_, part, 0) for part in (kinds[:cut], kinds[cut:]))
    types = [kind for kind in map(type_of, parts) if kind is not None]

    assert type_of(reduce(or_, map(kinds_of, types), 0)) == type_of(reduce(or_, kinds, 0))


def test_a_table_has_the_types_that_all_its_files_fit_into() -> None:
    first = [Column(name="n", type="long"), Column(name="f", type="float"), Column(name="s")]
    second = [Column(name="n", type="double"), Column(name="s", type="long")]
    third = [Column(name="new", type="json"), Column(name="n", type="long")]

    assert common([first, second, third]) == (
        Column(name="n", type="double"),
        Column(name="f", type="float"),
        Column(name="s", type="json"),
        Column(name="new", type="json"),
    )
    lists: list[ColumnType] = ["array<string>", "array<long>", "array<double>"]
    assert common([[Column(name="a", type=kind)] for kind in lists])[0].type == "array<string>"
    assert common([first]) == tuple(first)
    assert common([]) == ()


@pytest.mark.parametrize(
    ("written", "discovery"),
    [
        ({"dimensions": ["a"]}, Discovery.NOTHING),
        ({"dimensions": []}, Discovery.TEXTS),
        ({}, Discovery.TEXTS),
        ({"dimensions": ["a"], "includeAllDimensions": True}, Discovery.TEXTS),
        ({"useSchemaDiscovery": True}, Discovery.TYPES),
        ({"dimensions": ["a"], "useSchemaDiscovery": True}, Discovery.TYPES),
        ({"useSchemaDiscovery": True, "includeAllDimensions": True}, Discovery.TYPES),
    ],
)
def test_a_spec_says_what_becomes_of_other_fields(
    written: dict[str, object], discovery: Discovery
) -> None:
    """Goal: as in Druid, where columns that are listed may be all, or only the first."""
    assert ingest_spec(read_spec(changed(_DIMENSIONS, written)).spec).discovery is discovery


def test_a_column_of_type_auto_has_the_type_of_its_values_or_the_one_it_is_told() -> None:
    listed = [
        "user",
        {"type": "auto", "name": "any"},
        {"type": "auto", "name": "n", "castToType": "LONG"},
        {"type": "auto", "name": "tags", "castToType": "ARRAY<STRING>"},
    ]
    read = read_spec(changed(_DIMENSIONS, {"dimensions": listed}))
    spec = ingest_spec(read.spec)

    kinds = kinds_met(spec, ["any"], {"any": DOUBLE})

    assert not read.warnings
    assert columns_of(spec, kinds) == (
        Column(name="user"),
        Column(name="n", type="long"),
        Column(name="tags", type="array<string>"),
        Column(name="any", type="double"),
    )
    assert columns_of(spec, kinds_met(spec, ["any"], {})) == spec.columns
    assert read_spec(read.spec.normalised()).spec == read.spec


@pytest.mark.parametrize(
    ("written", "column"),
    [
        ({"type": "auto", "castToType": "ARRAY<LONG>"}, "array<long>"),
        ({"type": "auto", "castToType": "ARRAY<DOUBLE>"}, "array<double>"),
        ({"type": "auto", "castToType": "ARRAY<FLOAT>"}, "array<double>"),
        ({"type": "auto", "castToType": "ARRAY<STRING>"}, "array<string>"),
        ({"type": "array<long>"}, "array<long>"),
        ({"type": "array<double>"}, "array<double>"),
        ({"type": "array<string>"}, "array<string>"),
    ],
)
def test_arrays_are_declared_as_in_druid_or_shorter(
    written: dict[str, object], column: ColumnType
) -> None:
    read = read_spec(changed(_DIMENSIONS, {"dimensions": [written | {"name": "a"}]}))

    assert read.warnings == ()
    assert ingest_spec(read.spec).columns == (Column(name="a", type=column),)
    assert read_spec(read.spec.normalised()).spec == read.spec
    assert SCHEMA.is_valid(read.spec.normalised())


@pytest.mark.parametrize(
    ("column", "cast", "message"),
    [("auto", "LNG", "LNG is not a type"), ("long", "LONG", "unknown field castToType")],
)
def test_a_wrong_cast_is_named(column: str, cast: str, message: str) -> None:
    wrong = {"type": column, "name": "x", "castToType": cast}

    [error] = errors_of(changed(f"{_DIMENSIONS}/dimensions", ["user", wrong]))

    assert (error.pointer, error.message) == (f"{_DIMENSIONS}/dimensions/1/castToType", message)


@pytest.mark.parametrize("number", ["long", "double", "float"])
def test_a_declared_column_of_texts_and_numbers_is_one_of_texts(number: ColumnType) -> None:
    """Goal: what a declared text says, it goes on saying when the spec declares a number."""
    held = [[Column(name="a", type="string")], [Column(name="a", type=number)]]

    assert common(held, {"a"}) == (Column(name="a", type="string"),)
    assert common(held, {"b"})[0].type == common(held)[0].type == "json"
    assert numbers_beside_texts(held) == {"a"}
    for other in ("json", "array<long>"):
        wider_still = [*held, [Column(name="a", type=other)]]
        assert common(wider_still, {"a"})[0].type == "json"
    assert common(held[1:], {"a"}) == tuple(held[1])
