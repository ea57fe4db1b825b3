"""The cost of a spec is bounded: its filters count together, wherever they are."""

import pytest

from supervisor.core.spec.filters import FILTERS_MAX, VALUES_MAX
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec
from tests.supervisor.core.spec.spec_documents import changed, created, errors_of

_DATA = "/spec/dataSchema"
_YES: dict[str, object] = {"type": "true"}


def _all_of(*parts: object) -> dict[str, object]:
    return {"type": "and", "fields": list(parts)}


def _document(in_transforms: object, in_metrics: list[object]) -> dict[str, object]:
    """Return a spec with a filter of rows, and a filtered metric for each other filter."""
    metrics = [
        {"type": "filtered", "filter": each, "aggregator": {"type": "count", "name": f"n{number}"}}
        for number, each in enumerate(in_metrics)
    ]
    document = changed(f"{_DATA}/metricsSpec", metrics, created())
    document = changed(f"{_DATA}/granularitySpec/rollup", True, document)
    return changed(f"{_DATA}/transformSpec", {"filter": in_transforms}, document)


def _wide(filters: int) -> list[object]:
    """Return filters that hold so many together: up to a thousand in each."""
    full, rest = divmod(filters, 1_000)
    parts = [_all_of(*[_YES] * 999)] * full
    return [*parts, *([_all_of(*[_YES] * (rest - 1))] if rest > 1 else [_YES] * rest)]


def test_filters_count_together_with_those_within_others_and_those_of_metrics() -> None:
    """Goal: twenty metrics of nine hundred filters each cannot hold a leader up."""
    nested = {"type": "not", "field": {"type": "istrue", "field": _YES}}
    most = _document(nested, _wide(FILTERS_MAX - 3))
    assert read_spec(most).spec.data_schema.transform_spec.filter is not None

    [error] = errors_of(_document(nested, _wide(FILTERS_MAX - 2)))

    assert error.pointer == _DATA
    assert error.message == "transformSpec and metricsSpec have 5,001 filters together"
    assert error.hint == "at most 5,000"


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
    [error] = errors_of(_document(_YES, [wanted] * (VALUES_MAX // 1_000 + 1)))

    assert error.message == "transformSpec and metricsSpec have 51,000 values in filters together"
    assert error.hint == "at most 50,000"


def test_a_stored_spec_beyond_the_bound_is_still_read() -> None:
    """Goal: what an earlier release has stored runs on."""
    sound = read_spec(_document(_YES, [])).spec.model_dump(mode="json")
    sound["dataSchema"]["transformSpec"]["filter"] = _all_of(*[_all_of(*[_YES] * 900)] * 6)

    read = SupervisorSpec.model_validate(sound)

    assert read.model_dump(mode="json") == sound


@pytest.mark.parametrize("written", [5, [], {"type": "and", "fields": 5}, {"field": [1]}])
def test_what_is_no_filter_is_refused_as_before(written: object) -> None:
    assert errors_of(_document(written, []))
