"""Other spellings that Druid takes, or writes itself: they mean the same."""

import pytest
from jsonschema import Draft202012Validator

from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.spec.reader import read_spec
from tests.supervisor.core.spec.spec_documents import changed, created, errors_of

_SCHEMA = Draft202012Validator(spec_schema())
_DATA, _IO, _TUNING = "/spec/dataSchema", "/spec/ioConfig", "/spec/tuningConfig"
_ROLLED = changed(f"{_DATA}/metricsSpec", [{"type": "count", "name": "n"}])


@pytest.mark.parametrize(
    ("pointer", "text", "value"),
    [
        (f"{_IO}/taskCount", "3", 3),
        (f"{_IO}/taskCount", " 3 ", 3),
        (f"{_IO}/stopTaskCount", "2", 2),
        (f"{_IO}/useEarliestOffset", "false", False),
        (f"{_IO}/idleConfig", {"enabled": "true"}, {"enabled": True}),
        (f"{_DATA}/granularitySpec/rollup", "true", True),
        (f"{_DATA}/dimensionsSpec/useSchemaDiscovery", "True", True),
        (f"{_TUNING}/maxRowsPerSegment", "5000", 5000),
        (f"{_TUNING}/logParseExceptions", "FALSE", False),
        ("/suspended", "true", True),
    ],
)
def test_flags_and_whole_numbers_may_stand_in_quotes(
    pointer: str, text: object, value: object
) -> None:
    """Source: Jackson, which reads Druid's specs; seen in public ones."""
    document = changed(pointer, text, _ROLLED)

    assert read_spec(document).spec == read_spec(changed(pointer, value, _ROLLED)).spec
    _SCHEMA.validate(document)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        (f"{_IO}/inputFormat", {"type": "csv", "columns": ["ts"], "hasHeaderRow": "false"}),
        (f"{_IO}/autoScalerConfig", {"enableTaskAutoScaler": "false"}),
        (f"{_IO}/emitTimeLagMetrics", "false"),
        (f"{_TUNING}/reportParseExceptions", "false"),
        (f"{_TUNING}/maxRowsInMemory", "150000"),
        (f"{_TUNING}/buildV9Directly", True),
        (f"{_IO}/skipOffsetGaps", False),
        (f"{_IO}/appendToExisting", True),
    ],
)
def test_what_asks_for_nothing_does_so_in_quotes(pointer: str, value: object) -> None:
    warnings = read_spec(changed(pointer, value)).warnings
    assert [warning for warning in warnings if "switched off" not in warning] == []


def _filtered(written: object) -> dict[str, object]:
    return changed(f"{_DATA}/transformSpec", {"filter": written})


_BOUND: dict[str, object] = {"type": "bound", "dimension": "bytes", "lower": "1"}
_SAME: dict[str, object] = {"type": "columnComparison", "dimensions": ["user", "page"]}


@pytest.mark.parametrize("ordering", [{"type": "numeric"}, "NUMERIC", {"type": "Numeric"}])
def test_an_order_of_values_is_taken_as_druid_writes_it(ordering: object) -> None:
    """Source: StringComparatorModule, StringComparators.fromString of Druid 33.0.0."""
    read = read_spec(_filtered(_BOUND | {"ordering": ordering}))
    assert read.spec == read_spec(_filtered(_BOUND | {"ordering": "numeric"})).spec


def test_an_order_within_other_filters_is_taken_too() -> None:
    inner = _BOUND | {"ordering": {"type": "strlen"}, "extractionFn": None}
    read = read_spec(_filtered({"type": "not", "field": {"type": "or", "fields": [inner]}}))
    assert "'ordering': 'strlen'" in str(read.spec.normalised())


@pytest.mark.parametrize(
    "ordering", ["alphanumeric", {"type": "x"}, {"type": "numeric", "a": 1}, 3]
)
def test_an_order_that_is_none_is_refused(ordering: object) -> None:
    [error] = errors_of(_filtered(_BOUND | {"ordering": ordering}))
    assert error.pointer == f"{_DATA}/transformSpec/filter/ordering"


def test_columns_that_are_compared_are_taken_as_druid_writes_them() -> None:
    """Source: ColumnComparisonDimFilter of Druid 33.0.0."""
    user = {"type": "default", "dimension": "user", "outputName": "user", "outputType": "STRING"}
    read = read_spec(_filtered(_SAME | {"dimensions": [user, "page"]}))
    assert read.spec == read_spec(_filtered(_SAME)).spec


@pytest.mark.parametrize(
    "dimension",
    [
        {"type": "extraction", "dimension": "user", "extractionFn": {"type": "upper"}},
        {"type": "default", "dimension": "user", "outputType": "LONG"},
        {"type": "default", "dimension": "user", "outputName": "u"},
        {"type": "default"},
    ],
)
def test_a_column_that_is_changed_first_is_refused(dimension: object) -> None:
    errors = errors_of(_filtered(_SAME | {"dimensions": [dimension, "page"]}))
    assert [error.pointer for error in errors] == [
        f"{_DATA}/transformSpec/filter/dimensions/0",
    ]


@pytest.mark.parametrize("name", ["segmentGranularity", "queryGranularity"])
def test_a_granularity_of_any_shape_is_an_error_of_the_spec(name: str) -> None:
    """Goal: no answer of 500; a list as a type was one."""
    shapes: list[object] = [{"type": ["a"]}, {"type": {}}, {"type": None}, [], 3]
    for shape in shapes:
        assert errors_of(changed(f"{_DATA}/granularitySpec/{name}", shape)), shape


def test_the_document_is_as_it_was() -> None:
    document = created()
    read_spec(document)
    assert document == created()
