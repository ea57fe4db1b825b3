"""`tidegate execution list`: what is asked for, page by page."""

import json

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.answers import LINE
from tests.supervisor.cli.overlord import Overlord, Reply

_PLACE = "/api/v1/executions"


def _page(begin: int, end: int, following: str | None = None) -> Reply:
    lines = [{**LINE, "id": f"day:{n}"} for n in range(begin, end)]
    return Reply({"executions": lines, "next": following})


def test_a_list_is_asked_for_with_its_filters(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", _PLACE, _page(0, 0))
    filters = [
        *("--flow", "day", "--label", "team:a", "--label", "day:1", "--error", "502"),
        *("--started-by", "rerun", "--trigger", "nightly", "--parent", "week:mon"),
        *("--state", "FAILED", "--state", "killed"),
        *("--from", "2026-11-25T00:00:00Z", "--to", "2026-11-26T00:00:00Z"),
    ]

    assert tidegate("execution", "list", *filters).code == 0

    assert server.requests[-1].query == {
        "limit": ["50"],
        "flow": ["day"],
        "state": ["FAILED", "KILLED"],
        "label": ["team:a", "day:1"],
        "startedBy": ["rerun"],
        "trigger": ["nightly"],
        "parent": ["week:mon"],
        "error": ["502"],
        "from": ["2026-11-25T00:00:00Z"],
        "to": ["2026-11-26T00:00:00Z"],
    }


def test_a_limit_of_more_than_a_page_is_read_by_pages(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", _PLACE, _page(0, 1_000, "one"), _page(1_000, 1_500, "two"))

    ended = tidegate("execution", "list", "--limit", "1500", "-o", "json")

    assert [each["id"] for each in json.loads(ended.out)] == [f"day:{n}" for n in range(1_500)]
    first, second = (each.query for each in server.requests)
    assert (first, second) == (
        {"limit": ["1000"]},
        {"limit": ["500"], "cursor": ["one"]},
    )
    assert "There are more: raise --limit, or give --all." in ended.err


def test_all_of_them_are_read_to_the_end(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", _PLACE, _page(0, 3, "one"), _page(3, 6, "two"), _page(6, 7))

    ended = tidegate("execution", "list", "--all", "-o", "name")

    assert ended.out.split() == [f"day:{n}" for n in range(7)]
    assert ended.err == ""
