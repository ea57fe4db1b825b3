"""The metricsSpec: what Druid's aggregators become, and which of them are refused."""

from typing import Any

import pytest

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from tasks.contract.ingest_spec import Metric
from tests.supervisor.core.spec.spec_documents import changed, created, errors_of

_DATA = "/spec/dataSchema"
_METRICS = f"{_DATA}/metricsSpec"
_BIG = {"type": "bound", "dimension": "bytes", "lower": "10", "ordering": "numeric"}
_BYTES = {"name": "total", "fieldName": "bytes"}


def spec_with(metrics: list[dict[str, Any]], *, rollup: bool = True) -> SupervisorSpec:
    document = changed(f"{_DATA}/granularitySpec/rollup", rollup)
    return read_spec(changed(_METRICS, metrics, document)).spec


def wrong(metrics: list[Any], *, rollup: bool = True) -> list[tuple[str, str, str]]:
    document = changed(f"{_DATA}/granularitySpec/rollup", rollup)
    found = errors_of(changed(_METRICS, metrics, document))
    return [(e.pointer.removeprefix(_DATA), e.message, e.hint) for e in found]


def metric_of_bytes(of: str, kind: str) -> Metric:
    return Metric.model_validate({"name": "total", "of": of, "type": kind, "field": "bytes"})


@pytest.mark.parametrize(
    ("written", "metric"),
    [
        ({"type": "count", "name": "n"}, Metric(name="n", of="count")),
        *(
            ({"type": f"{kind}{of}", **_BYTES}, metric_of_bytes(of.lower(), kind))
            for kind in ("long", "double", "float")
            for of in ("Sum", "Min", "Max", "First", "Last", "Any")
        ),
        *(
            ({"type": f"string{of}", **_BYTES}, metric_of_bytes(of.lower(), "string"))
            for of in ("First", "Last", "Any")
        ),
        (
            {"type": "longSum", "name": "total", "expression": "bytes * 2"},
            Metric(name="total", of="sum", type="long", expression="bytes * 2"),
        ),
        (
            {"type": "HLLSketchBuild", "lgK": 14, **_BYTES},
            metric_of_bytes("distinct", "string").model_copy(update={"precision": 14}),
        ),
        (
            {"type": "thetaSketch", **_BYTES},
            metric_of_bytes("theta", "string").model_copy(update={"precision": 14}),
        ),
        (
            {"type": "thetaSketch", "size": 1 << 26, **_BYTES},
            metric_of_bytes("theta", "string").model_copy(update={"precision": 26}),
        ),
    ],
)
def test_each_aggregator_is_told_to_tasks(written: dict[str, Any], metric: Metric) -> None:
    spec = spec_with([written])
    rows = ingest_spec(spec)
    assert rows.metrics == (metric,)
    assert rows.rollup
    assert read_spec(spec.normalised()).spec == spec
    assert SupervisorSpec.model_validate(spec.model_dump(mode="json")) == spec


def test_a_filtered_aggregator_counts_some_rows() -> None:
    written = {"type": "filtered", "filter": _BIG, "aggregator": {"type": "count", "name": "big"}}
    spec = spec_with([written])
    [metric] = ingest_spec(spec).metrics
    assert (metric.name, metric.of) == ("big", "count")
    assert metric.filter is not None
    assert metric.filter.type == "bound"
    assert read_spec(spec.normalised()).spec == spec


@pytest.mark.parametrize(
    ("own", "column"),
    [({"name": "big"}, "big"), ({"name": ""}, "n"), ({"name": None}, "n"), ({}, "n")],
)
def test_a_filtered_aggregator_has_its_own_name_before_that_of_the_one_within(
    own: dict[str, Any], column: str
) -> None:
    """Source: Druid's FilteredAggregatorFactory.getName()."""
    written = {"type": "filtered", "filter": _BIG, "aggregator": {"type": "count", "name": "n"}}
    document = changed(f"{_DATA}/granularitySpec/rollup", True)
    read = read_spec(changed(_METRICS, [written | own], document))

    rows = ingest_spec(read.spec)
    assert [metric.name for metric in rows.metrics] == [column]
    assert column in rows.excluded
    assert read.warnings == ()
    assert read_spec(read.spec.normalised()).spec == read.spec
    assert SupervisorSpec.model_validate(read.spec.model_dump(mode="json")) == read.spec


def test_the_name_within_a_filtered_aggregator_is_free_if_it_has_its_own() -> None:
    """Goal: a column of the one is not taken for a column of the other."""
    inner = {"type": "count", "name": "user"}
    filtered = {"type": "filtered", "filter": _BIG, "aggregator": inner, "name": "big"}
    assert wrong([filtered]) == []
    assert wrong([filtered, {"type": "count", "name": "big"}]) == [
        ("", "metric big is given twice", "keep one")
    ]
    assert [place for place, _, _ in wrong([filtered | {"name": "__time"}])] == [
        "/metricsSpec/0/name"
    ]


def test_what_metrics_are_made_of_is_no_dimension_of_its_own() -> None:
    """Goal: where columns are discovered, as in Druid; a listed dimension stays one."""
    metrics = [
        {"type": "longSum", "name": "total", "fieldName": "bytes"},
        {"type": "longSum", "name": "twice", "expression": "a + b"},
        {"type": "count", "name": "n"},
    ]
    document = changed(f"{_DATA}/granularitySpec/rollup", True)
    document = changed(_METRICS, metrics, document)
    document = changed(f"{_DATA}/dimensionsSpec", {"dimensionExclusions": ["secret"]}, document)
    spec = read_spec(document).spec
    time = spec.data_schema.timestamp_spec.column
    assert set(ingest_spec(spec).excluded) == {
        *("__time", time, "total", "bytes", "twice", "a", "b", "n", "secret"),
    }
    again = read_spec(spec.normalised()).spec
    assert again == spec
    listed = changed(f"{_DATA}/dimensionsSpec", {"dimensions": ["bytes"]}, document)
    assert "bytes" not in ingest_spec(read_spec(listed).spec).excluded


@pytest.mark.parametrize(
    ("metric", "place", "message", "hint"),
    [
        ("n", "/metricsSpec/0", "must be an object", ""),
        ({"name": "n"}, "/metricsSpec/0/type", "type is required", "use one of count, longSum"),
        ({"type": "longSumm"}, "/metricsSpec/0/type", "no aggregator", "did you mean longSum?"),
        ({"type": "thetaSketchMerge"}, "/metricsSpec/0/type", "not built", "use thetaSketch"),
        ({"type": "count"}, "/metricsSpec/0/name", "name is required", ""),
        ({"type": "count", "name": "__time"}, "/metricsSpec/0/name", "is reserved", ""),
        (
            {"type": "count", "name": "n", "fieldName": "x"},
            "/metricsSpec/0/fieldName",
            "unknown",
            "",
        ),
        (
            {"type": "longSum", "name": "n"},
            "/metricsSpec/0",
            "needs a fieldName or an expr",
            "keep",
        ),
        (
            {"type": "longSum", "name": "n", "expression": "csat(x)"},
            "/metricsSpec/0",
            "n: there is no function csat at character 1",
            "did you mean cast?",
        ),
        (
            {"type": "longLast", "name": "n", "expression": "x"},
            "/metricsSpec/0",
            "longLast takes a fieldName only",
            "transform",
        ),
        (
            {"type": "longFirst", "name": "n", "fieldName": "x", "timeColumn": "t"},
            "/metricsSpec/0/timeColumn",
            "not built yet",
            "their own time",
        ),
        (
            {"type": "HLLSketchBuild", "name": "n", "fieldName": "x", "lgK": 22},
            "/metricsSpec/0/lgK",
            "must be at most 21",
            "",
        ),
        (
            {"type": "thetaSketch", "name": "n", "fieldName": "x", "size": 5_000},
            "/metricsSpec/0/size",
            "5000 is no power of two",
            "use 4096 or 8192",
        ),
        (
            {"type": "thetaSketch", "name": "n", "fieldName": "x", "size": 8},
            "/metricsSpec/0/size",
            "must be at least 16",
            "",
        ),
        (
            {"type": "thetaSketch", "name": "n", "fieldName": "x", "isInputThetaSketch": True},
            "/metricsSpec/0/isInputThetaSketch",
            "not built yet",
            "send the values themselves",
        ),
        (
            {"type": "filtered", "filter": {"type": "nope"}, "aggregator": {"type": "count"}},
            "/metricsSpec/0/aggregator/name",
            "name is required",
            "",
        ),
        (
            {"type": "filtered", "filter": _BIG, "aggregator": {"type": "hyperUnique"}},
            "/metricsSpec/0/aggregator/type",
            "not built",
            "use HLLSketchBuild",
        ),
        (
            {"type": "filtered", "filter": _BIG, "aggregator": {"type": "count", "name": "user"}},
            "/metricsSpec/0",
            "Cannot specify a column more than once: [user]",
            "another name",
        ),
    ],
)
def test_a_wrong_aggregator_is_named_with_what_to_do(
    metric: object, place: str, message: str, hint: str
) -> None:
    errors = [w for w in wrong([metric]) if w[0] == place]
    assert len(errors) == 1, wrong([metric])
    assert message in errors[0][1]
    assert hint in errors[0][2]


def test_metrics_have_names_of_their_own() -> None:
    twice = [{"type": "count", "name": "n"}, {"type": "longSum", **_BYTES, "name": "n"}]
    assert wrong(twice) == [("", "metric n is given twice", "keep one")]
    [(_, message, _)] = wrong([{"type": "count", "name": "User"}])
    assert "differ in case only" in message


@pytest.mark.parametrize("kind", ["HLLSketchBuild", "thetaSketch"])
def test_a_sketch_needs_rows_to_be_rolled_up(kind: str) -> None:
    sketch = [{"type": kind, **_BYTES}]
    [(_, message, hint)] = wrong(sketch, rollup=False)
    assert message == "metric total is a sketch of many rows, and rollup is false"
    assert "count(distinct)" in hint


@pytest.mark.parametrize("name", ["__count", "__COUNT", "__at", "__of_x", "__each_x"])
@pytest.mark.parametrize("rollup", [False, True])
def test_names_that_rollup_makes_itself_are_no_columns(name: str, *, rollup: bool) -> None:
    document = changed(f"{_DATA}/dimensionsSpec", {"dimensions": [name]})
    message = f"column {name} is reserved: tables have such columns of their own"
    if rollup:
        document = changed(f"{_DATA}/granularitySpec/rollup", True, document)
        message = f"column {name} is one that rollup makes itself"
    assert [error.message for error in errors_of(document)] == [message]


def test_a_stored_spec_may_have_such_a_name_from_before() -> None:
    """Goal: an overlord of a new version reads what the one before it has stored."""
    stored = read_spec(changed(f"{_DATA}/dimensionsSpec", {"dimensions": ["at"]})).spec.to_json()
    spec = SupervisorSpec.model_validate_json(stored.replace('"at"', '"__at"'))
    assert ingest_spec(spec).columns[0].name == "__at"


def test_no_metric_has_a_name_that_rollup_makes_itself() -> None:
    metric = [{"type": "count", "name": "__count"}]
    [(pointer, message, _)] = wrong(metric, rollup=False)
    assert (pointer, message[:26]) == ("/metricsSpec/0", "column __count is reserved")
    assert wrong(metric) == [("", "column __count is one that rollup makes itself", "rename it")]


def test_words_about_how_druid_stores_a_sketch_are_ignored() -> None:
    sketch = {"type": "HLLSketchBuild", **_BYTES, "tgtHllType": "HLL_4", "round": True}
    document = changed(f"{_DATA}/granularitySpec/rollup", True, changed(_METRICS, [sketch]))
    assert read_spec(document).warnings == ()
    sets = {"type": "thetaSketch", **_BYTES, "shouldFinalize": False, "errorBoundsStdDev": None}
    sets |= {"isInputThetaSketch": False}
    document = changed(f"{_DATA}/granularitySpec/rollup", True, changed(_METRICS, [sets]))
    assert read_spec(document).warnings == ()
    text = {"type": "stringFirst", **_BYTES, "maxStringBytes": 10}
    document = changed(f"{_DATA}/granularitySpec/rollup", True, changed(_METRICS, [text]))
    [warning] = read_spec(document).warnings
    assert "maxStringBytes has no effect here" in warning


def test_a_spec_without_metrics_says_so() -> None:
    spec = read_spec(created()).spec
    assert ingest_spec(spec).metrics == ()
    assert not ingest_spec(spec).rollup


def test_a_metric_that_is_null_is_refused() -> None:
    """Goal: no metric is left out in silence because of a null beside it."""
    [(pointer, message, _)] = wrong([{"type": "longSum", **_BYTES}, None])
    assert (pointer, message) == ("/metricsSpec/1", "must be an object")


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        ({"type": "filtered", "name": "n"}, "filtered is no aggregator"),
        ({"name": "n"}, "type is required"),
    ],
)
def test_the_types_that_a_filtered_metric_may_hold_are_listed_without_itself(
    inner: dict[str, object], message: str
) -> None:
    metric = {"type": "filtered", "filter": {"type": "true"}, "aggregator": inner}
    [(pointer, found, hint)] = wrong([metric])
    assert (pointer, found) == ("/metricsSpec/0/aggregator/type", message)
    assert "thetaSketch" in hint
    assert "filtered" not in hint
