"""Types of Druid's dimensions, metrics and filters: each is built, or its error says what to do.

Source: `druid_types.json`, the names that Druid 33 and its extensions register for JSON, and the
fields that their constructors take: a list of its own, not made from ours.
"""

import json
from pathlib import Path

import pytest

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.section import inner_of
from supervisor.core.spec.sections.data_schema import DataSchema
from supervisor.core.spec.unsupported import OTHER_FILTERS, OTHER_METRICS
from tests.supervisor.core.spec.spec_documents import changed, errors_of

_DATA = "/spec/dataSchema"
_FILTER = f"{_DATA}/transformSpec/filter"
_METRICS = inner_of(DataSchema.model_fields["metrics_spec"])
assert _METRICS is not None
METRICS = _METRICS.by_type.keys()
TYPES = json.loads(Path(__file__).with_name("druid_types.json").read_text())


@pytest.mark.parametrize(("kind", "fields"), sorted(TYPES["filters"].items()))
def test_every_filter_of_druid_is_known_with_all_its_fields(kind: str, fields: list[str]) -> None:
    errors = errors_of(changed(_FILTER, {"type": kind, **dict.fromkeys(fields, "x")}))
    unknown = ("no known type", "not known there")
    assert not [e for e in errors if any(text in e.message for text in unknown)]
    if kind in OTHER_FILTERS:
        [error] = errors
        assert (error.pointer, error.message) == (_FILTER, f"filter {kind} is not built")
        assert error.hint


@pytest.mark.parametrize("kind", TYPES["metrics"])
def test_every_metric_of_druid_is_built_or_says_what_to_do(kind: str) -> None:
    document = changed(f"{_DATA}/granularitySpec/rollup", True)
    metric = {"type": kind, "name": "n"}
    errors = errors_of(changed(f"{_DATA}/metricsSpec", [metric], document))
    assert not [e for e in errors if "no aggregator" in e.message]
    if kind not in METRICS:
        [error] = errors
        assert error.pointer == f"{_DATA}/metricsSpec/0/type"
        assert error.message == f"{kind} is not built"
        assert error.hint


def test_what_is_said_of_other_types_is_said_of_types_that_druid_has() -> None:
    assert OTHER_METRICS.keys() <= set(TYPES["metrics"])
    assert OTHER_FILTERS.keys() <= TYPES["filters"].keys()
    assert not OTHER_METRICS.keys() & METRICS


@pytest.mark.parametrize("kind", TYPES["dimensions"])
def test_every_type_of_dimension_of_druid_is_known(kind: str) -> None:
    errors = errors_of(changed(f"{_DATA}/dimensionsSpec/dimensions", [{"type": kind, "name": "n"}]))
    assert [e.message for e in errors] == (
        ["spatial is not built yet"] if kind == "spatial" else []
    )


@pytest.mark.parametrize(
    "written",
    [
        {"type": "string", "createBitmapIndex": True, "columnFormatSpec": None},
        {"type": "string", "maxStringLength": None},
        {"type": "long", "createBitmapIndex": False},
        {"type": "json", "formatVersion": 5, "createBitmapIndex": True},
        {"type": "json", "formatVersion": 5, "createBitmapIndex": True, "columnFormatSpec": {}},
        {
            "type": "auto",
            "createBitmapIndex": True,
            "columnFormatSpec": {"longColumnEncoding": None},
        },
    ],
)
def test_a_dimension_is_taken_as_druid_writes_it(written: dict[str, object]) -> None:
    """Source: what NestedDataColumnSchema and its like write for GET, defaults and all."""
    whole = {**written, "name": "n", "multiValueHandling": "SORTED_ARRAY"}
    read = read_spec(changed(f"{_DATA}/dimensionsSpec/dimensions", [whole]))
    plain = read_spec(
        changed(f"{_DATA}/dimensionsSpec/dimensions", [{"type": written["type"], "name": "n"}])
    )
    assert read.warnings == ()
    assert read.spec == plain.spec


@pytest.mark.parametrize(
    ("kind", "field", "value", "message"),
    [
        ("json", "formatVersion", 4, "it is accepted and ignored"),
        (
            "json",
            "columnFormatSpec",
            {"objectStorageEncoding": "none"},
            "it is accepted and ignored",
        ),
        ("auto", "columnFormatSpec", {"longColumnEncoding": "auto"}, "it is accepted and ignored"),
        ("string", "columnFormatSpec", {"maxStringLength": 5}, "no text is cut"),
    ],
)
def test_how_druid_stores_a_dimension_is_taken_with_a_warning(
    kind: str, field: str, value: object, message: str
) -> None:
    place = f"{_DATA}/dimensionsSpec/dimensions"
    [warning] = read_spec(changed(place, [{"type": kind, "name": "n", field: value}])).warnings
    assert warning.startswith(f"{place}/0/{field} has no effect here: ")
    assert message in warning


def test_a_longest_text_is_refused_for_nothing_is_cut_here() -> None:
    """Goal: no text is stored longer than somebody relies on, in silence."""
    text = {"type": "string", "name": "n", "maxStringLength": 10}
    [error] = errors_of(changed(f"{_DATA}/dimensionsSpec/dimensions", [text]))
    assert error.message == "maxStringLength 10 is not built yet"
    assert "substring" in error.hint
