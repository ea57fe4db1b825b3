"""`tidegate segment mark-unused`, `mark-used`, `retention`, and `tidegate supervisor forget`."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

OURS = "/api/v1/datasources/clicks"
DRUID = "/druid/indexer/v1/datasources/clicks"
FORGET = "/api/v1/supervisors/clicks/forget"
DAY = "2026-11-21/2026-11-22"


def segment(number: int, **members: object) -> dict[str, object]:
    return {
        "id": f"task-{number}/0",
        "path": f"clicks/data/task-{number}/0.parquet",
        "intervalStart": f"2026-11-2{number}T00:00:00Z",
        "intervalEnd": f"2026-11-2{number}T01:00:00Z",
        "rows": 10,
        "sizeBytes": 2048,
        "used": True,
        "unusedAt": None,
        "deleteAfter": None,
        "deletedAt": None,
    } | members


@pytest.fixture(autouse=True)
def table(server: Overlord) -> None:
    """Two segments of two days, both marked by whatever is asked."""
    rows = {"dataSource": "clicks", "segments": [segment(1), segment(2)]}
    server.on("GET", f"{OURS}/segments", Reply(rows))
    marked = Reply({"numChangedSegments": 2, "segmentStateChanged": True})
    for method, path in (
        ("POST", f"{DRUID}/markUnused"),
        ("POST", f"{DRUID}/markUsed"),
        ("DELETE", DRUID),
        ("POST", DRUID),
    ):
        server.on(method, path, marked)


def sent(server: Overlord) -> tuple[str, str, object]:
    """The last request, with its body."""
    last = server.requests[-1]
    return last.method, last.path, json.loads(last.body) if last.body else None


@pytest.mark.parametrize(
    ("options", "method", "path", "body"),
    [
        (["--interval", DAY], "POST", f"{DRUID}/markUnused", {"interval": DAY}),
        (
            ["--id", "a/0", "--id", "b/0"],
            "POST",
            f"{DRUID}/markUnused",
            {"segmentIds": ["a/0", "b/0"]},
        ),
        (["--all"], "DELETE", DRUID, None),
    ],
)
def test_segments_are_taken_out_by_interval_by_id_or_all(
    tidegate: Tidegate, server: Overlord, options: list[str], method: str, path: str, body: object
) -> None:
    ended = tidegate("segment", "mark-unused", "clicks", *options, "--yes")

    assert (ended.code, ended.out) == (0, "2 segments were taken out of clicks\n")
    assert sent(server) == (method, path, body)


@pytest.mark.parametrize(
    ("options", "path", "body"),
    [
        (["--interval", DAY], f"{DRUID}/markUsed", {"interval": DAY}),
        (["--all"], DRUID, None),
    ],
)
def test_segments_are_put_back(
    tidegate: Tidegate, server: Overlord, options: list[str], path: str, body: object
) -> None:
    ended = tidegate("segment", "mark-used", "clicks", *options)

    assert (ended.code, ended.out) == (0, "2 segments were put back into clicks\n")
    assert sent(server) == ("POST", path, body)


def test_taking_out_without_a_terminal_says_how_many_and_does_nothing(
    tidegate: Tidegate, server: Overlord
) -> None:
    ended = tidegate("segment", "mark-unused", "clicks", "--interval", DAY)

    assert ended.code == 2
    assert "Take 1 segments (10 rows) out of clicks?" in ended.err
    assert "--yes" in ended.err
    assert [request.method for request in server.requests] == ["GET"]


@pytest.mark.parametrize("verb", ["mark-unused", "mark-used"])
@pytest.mark.parametrize(
    "options",
    [[], ["--all", "--id", "a"], ["--interval", "2026"], ["--interval", "2026-01-02/2026-01-01"]],
)
def test_what_is_not_chosen_clearly_is_not_touched(
    tidegate: Tidegate, server: Overlord, verb: str, options: list[str]
) -> None:
    assert tidegate("segment", verb, "clicks", *options).code == 2
    assert server.requests == []


def test_a_list_of_all_tells_what_becomes_of_each(tidegate: Tidegate, server: Overlord) -> None:
    now = datetime.now(UTC)
    unused = {"used": False, "unusedAt": now.isoformat()}
    later = (now + timedelta(days=3, minutes=5)).isoformat()
    gone = (now - timedelta(hours=2)).isoformat()
    rows = [
        segment(1),
        segment(2, deleteAfter=later, **unused),
        segment(3, deletedAt=gone, **unused),
        segment(4, deleteAfter=later, replacedBy="compact_clicks_1", **unused),
        segment(5, deletedAt=gone, replacedBy="compact_clicks_1", **unused),
    ]
    server.on("GET", f"{OURS}/segments", Reply({"dataSource": "clicks", "segments": rows}))

    ended = tidegate("segment", "list", "clicks", "--all")

    first, second, third, fourth, fifth = ended.out.splitlines()[1:]
    assert "in use" in first
    assert "task-1/0" in first
    assert "unused, deleted in 3d0h" in second
    assert " deleted 2h0m ago" in third
    assert "compacted, deleted in 3d0h" in fourth
    assert "compacted, deleted 2h0m ago" in fifth
    assert server.requests[0].query == {"limit": ["5000"]}
    assert ended.err == "5 segments, 50 rows\n"


def test_a_list_of_the_unused_asks_for_them_alone(tidegate: Tidegate, server: Overlord) -> None:
    rows = tidegate("segment", "list", "clicks", "--unused", "-o", "json").json()

    assert server.requests[0].query == {"used": ["false"], "limit": ["5000"]}
    assert isinstance(rows, list)
    assert (rows[0]["dataSource"], rows[0]["id"]) == ("clicks", "task-1/0")
    assert tidegate("segment", "list", "clicks", "--unused", "--all").code == 2


def test_every_page_of_segments_is_listed(tidegate: Tidegate, server: Overlord) -> None:
    pages = [
        {"dataSource": "clicks", "segments": [segment(n)], "next": f"c{n}" if n < 3 else None}
        for n in (1, 2, 3)
    ]
    server.on("GET", f"{OURS}/segments", *(Reply(page) for page in pages))

    ended = tidegate("segment", "list", "clicks", "--all")

    assert ended.err == "3 segments, 30 rows\n"
    assert [a.query.get("cursor") for a in server.requests] == [None, ["c1"], ["c2"]]


def test_retention_is_shown_set_and_dropped(tidegate: Tidegate, server: Overlord) -> None:
    rule = Reply({"dataSource": "clicks", "keepFor": "P30D", "author": "ada"})
    for method in ("GET", "PUT"):
        server.on(method, f"{OURS}/retention", rule)
    server.on("DELETE", f"{OURS}/retention", Reply({"dataSource": "clicks", "keepFor": None}))

    shown = tidegate("segment", "retention", "clicks")
    assert shown.out == "clicks keeps its rows for P30D (set by ada)\n"
    assert tidegate("segment", "retention", "clicks", "--keep-for", "P30D").out == shown.out
    assert sent(server) == ("PUT", f"{OURS}/retention", {"keepFor": "P30D"})
    dropped = tidegate("segment", "retention", "clicks", "--keep-forever")
    assert dropped.out == "clicks keeps its rows for ever\n"
    assert sent(server)[0] == "DELETE"


@pytest.mark.parametrize(
    "options", [["--keep-for", "P1M"], ["--keep-for", "P1D", "--keep-forever"]]
)
def test_a_wrong_period_is_wrong_usage(
    tidegate: Tidegate, server: Overlord, options: list[str]
) -> None:
    assert tidegate("segment", "retention", "clicks", *options).code == 2
    assert server.requests == []


def test_forgetting_says_what_is_lost_and_asks(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", FORGET, Reply({"id": "clicks"}))

    unconfirmed = tidegate("supervisor", "forget", "clicks")
    assert unconfirmed.code == 2
    assert "reads from the start and doubles rows" in unconfirmed.err
    assert server.requests == []

    ended = tidegate("supervisor", "forget", "clicks", "--yes")
    assert (ended.code, ended.out) == (0, "clicks is forgotten; its table stays\n")


def test_reports_go_with_a_supervisor_where_that_is_wanted(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("POST", FORGET, Reply({"id": "clicks"}))

    unconfirmed = tidegate("supervisor", "forget", "clicks", "--reports")
    assert "Its stored reports and logs go too." in " ".join(unconfirmed.err.split())
    assert server.requests == []

    ended = tidegate("supervisor", "forget", "clicks", "--reports", "--yes")
    assert ended.code == 0
    assert server.requests[-1].query == {"reports": ["true"]}


def test_a_refusal_to_forget_is_told(tidegate: Tidegate, server: Overlord) -> None:
    why = "[clicks] cannot be forgotten: terminate it first"
    server.refuse("POST", FORGET, 409, detail=why)

    ended = tidegate("supervisor", "forget", "clicks", "--yes")

    assert ended.code == 1
    assert why in ended.err


def test_a_list_of_a_window_has_ids_and_sends_its_conditions(
    tidegate: Tidegate, server: Overlord
) -> None:
    window = ("--from", "2026-11-21", "--to", "2026-11-22", "--supervisor", "eu")
    ended = tidegate("segment", "list", "clicks", *window)

    assert "task-1/0" in ended.out
    query = server.requests[-1].query
    assert {name: query[name] for name in ("from", "to", "supervisor", "used")} == {
        "from": ["2026-11-21"],
        "to": ["2026-11-22"],
        "supervisor": ["eu"],
        "used": ["true"],
    }
    refused = tidegate("segment", "list", "clicks", "--fresh", "--from", "2026-11-21")
    assert (refused.code, "leave --fresh out" in refused.err) == (2, True)
