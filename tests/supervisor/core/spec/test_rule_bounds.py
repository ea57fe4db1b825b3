"""All filters and expressions of a spec together are bounded; a stored spec is read as it is."""

import pytest

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.rule_bounds import CHARACTERS_MAX, FILTERS_MAX, VALUES_MAX
from supervisor.core.spec.spec import SupervisorSpec
from tests.supervisor.core.spec.spec_documents import changed, created, errors_of

_DATA = "/spec/dataSchema"
_SELECTOR = {"type": "selector", "dimension": "user", "value": "ann"}


def _any_of(number: int) -> dict[str, object]:
    """Return a tree of so many filters."""
    assert number > 2
    half = (number - 1) // 2
    if number < 100:
        return {"type": "or", "fields": [_SELECTOR] * (number - 1)}
    return {"type": "and", "fields": [_any_of(half), _any_of(number - 1 - half)]}


def _metric(number: int, filters: int) -> dict[str, object]:
    inner = {"type": "count", "name": f"n{number}"}
    return {"type": "filtered", "filter": _any_of(filters), "aggregator": inner}


def test_as_many_filters_as_are_allowed_are_taken() -> None:
    read_spec(changed(f"{_DATA}/transformSpec", {"filter": _any_of(FILTERS_MAX)}))


def test_filters_are_counted_over_transforms_and_metrics() -> None:
    document = changed(f"{_DATA}/transformSpec", {"filter": _any_of(FILTERS_MAX // 2)})
    metrics = [_metric(n, FILTERS_MAX // 8) for n in range(5)]

    [error] = errors_of(changed(f"{_DATA}/metricsSpec", metrics, document))

    assert error.pointer == _DATA
    assert error.message == "1,125 filters are too many for one spec"
    assert error.hint.startswith("use 1,000 at most")


@pytest.mark.parametrize(
    "kept",
    [
        lambda long: {"transforms": [{"type": "expression", "name": "a", "expression": long}] * 11},
        lambda long: {
            "filter": {"type": "or", "fields": [{"type": "expression", "expression": long}] * 11}
        },
    ],
    ids=["transforms", "filter"],
)
def test_expressions_together_are_bounded(kept: object) -> None:
    """Goal: each is within its own bound, and nothing is compiled: these would be refused."""
    long = "x +" * 3_333
    assert callable(kept)

    [error] = errors_of(changed(f"{_DATA}/transformSpec", kept(long)))

    assert error.pointer == _DATA
    assert error.message.startswith("expressions and patterns of 109,989 characters are too long")
    assert error.hint.startswith(f"use {CHARACTERS_MAX:,} characters at most")


@pytest.mark.parametrize(
    "wanted",
    [
        {"type": "in", "dimension": "page", "values": ["a"] * 1_000},
        {"type": "columnComparison", "dimensions": ["page"] * 1_000},
        {
            "type": "search",
            "dimension": "page",
            "query": {"type": "fragment", "values": ["a"] * 1_000},
        },
    ],
    ids=["values", "dimensions", "fragments"],
)
def test_the_values_of_all_filters_count_together(wanted: dict[str, object]) -> None:
    many = {"type": "or", "fields": [wanted] * (VALUES_MAX // 1_000 + 1)}

    [error] = errors_of(changed(f"{_DATA}/transformSpec", {"filter": many}))

    assert error.message == "filters with 51,000 values are too many for one spec"
    assert error.hint == "list 50,000 values at most in all of them"


_DEAF = "(|)" * 30


@pytest.mark.parametrize(
    "rules",
    [
        {"filter": {"type": "not", "field": {"type": "regex", "dimension": "a", "pattern": _DEAF}}},
        {"filter": {"type": "expression", "expression": f"regexp_like(a, '{_DEAF}')"}},
        {
            "transforms": [
                {"type": "expression", "name": "b", "expression": f"string_to_array(a, '{_DEAF}')"}
            ]
        },
    ],
    ids=["filter", "filter of an expression", "transform"],
)
def test_a_pattern_that_tries_many_ways_to_match_nothing_is_refused(rules: object) -> None:
    """Goal: no count of looks at the text ends it, so it would hold a thread for ever."""
    [error] = errors_of(changed(f"{_DATA}/transformSpec", rules))

    assert error.pointer == _DATA
    assert "has more than 1,000 ways to match nothing" in error.message
    assert "(a|b)? rather than (a|b|)" in error.hint


def test_a_format_with_such_a_pattern_is_refused() -> None:
    written = {"type": "regex", "columns": [f"c{n}" for n in range(30)], "pattern": _DEAF}

    [error] = errors_of(changed("/spec/ioConfig/inputFormat", written))

    assert error.pointer == "/spec/ioConfig/inputFormat/pattern"


def test_a_stored_spec_beyond_the_bounds_is_read() -> None:
    stored = read_spec(created()).spec.model_dump(mode="json", by_alias=True)
    stored["dataSchema"]["transformSpec"]["filter"] = _any_of(FILTERS_MAX + 1)

    read = SupervisorSpec.model_validate(stored)

    assert read.data_schema.transform_spec.filter is not None
