"""What the contract run makes exceptions of is there, and the description leads somewhere."""

from collections.abc import Iterator
from itertools import chain
from typing import cast

import pytest

from supervisor.api.openapi.answers import ANSWERS
from tests.contract.ask import routes
from tests.contract.rules import BOUNDED, MOVED, REFUSED, REPORTS, UNAVAILABLE, UNPROVED, statuses
from tests.supervisor.api.description import description

Json = dict[str, object]


def _operations() -> Iterator[tuple[str, Json]]:
    paths = cast("dict[str, dict[str, Json]]", description()["paths"])
    for path, operations in paths.items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path}", operation


def test_every_route_that_is_named_is_there() -> None:
    """Goal: an exception whose route is gone, or is called otherwise, is none."""
    there = {f"{method} {path}" for method, path in routes()}
    named = {*BOUNDED, *MOVED.routes}
    named |= set(
        chain.from_iterable(rule.routes for rule in (*REFUSED, *UNAVAILABLE, REPORTS, UNPROVED))
    )

    assert named <= there, named - there


def test_every_exception_has_its_reason() -> None:
    assert all(len(rule.why) > 20 for rule in (*REFUSED, MOVED, *UNAVAILABLE, REPORTS, UNPROVED))
    assert all(len(why) > 20 for why in BOUNDED.values())


def test_an_exception_is_of_its_route_alone() -> None:
    plain = statuses("GET /api/v1/datasources")
    health = statuses("GET /druid/indexer/v1/supervisor/{supervisor_id}/health")

    assert "503" in health[1]
    assert not {"400", "412", "503"} & {*plain[0], *plain[1]}


def test_a_412_is_allowed_where_the_description_has_it() -> None:
    described = {
        name for name, operation in _operations() if "412" in cast("Json", operation["responses"])
    }

    assert described == set(MOVED.routes)


@pytest.mark.parametrize("status", sorted(ANSWERS))
def test_every_problem_is_described_somewhere(status: str) -> None:
    assert any(status in cast("Json", op["responses"]) for _, op in _operations())


def test_every_link_leads_to_an_operation_and_fills_its_path() -> None:
    operations = dict(_operations())
    by_id = {cast("str", op["operationId"]): name for name, op in operations.items()}
    links = [
        link
        for op in operations.values()
        for answer in cast("dict[str, Json]", op["responses"]).values()
        for link in cast("dict[str, Json]", answer.get("links", {})).values()
    ]

    assert len(links) > 50
    for link in links:
        target = by_id[cast("str", link["operationId"])]
        given = {name.removeprefix("path.") for name in cast("Json", link["parameters"])}
        assert {part[1:-1] for part in target.split("/") if part.startswith("{")} <= given, target
