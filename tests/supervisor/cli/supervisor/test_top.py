"""`tidegate supervisor top`: the server's filters and order, and rows for people."""

from datetime import UTC, datetime, timedelta

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/supervisors"


def row(name: str, **members: object) -> dict[str, object]:
    state = {"state": "RUNNING", "detailedState": "RUNNING", "healthy": True}
    return {"id": name, "versionAt": "2026-01-05T12:00:00Z"} | state | members


def answer(*rows: dict[str, object], following: str | None = None) -> Reply:
    totals = {"RUNNING": 3, "UNHEALTHY_SUPERVISOR": 1}
    body = {"supervisors": list(rows), "totals": totals, "matching": 2, "next": following}
    return Reply(body)


def test_a_row_says_how_far_it_is_behind_and_why(tidegate: Tidegate, server: Overlord) -> None:
    since = (datetime.now(UTC) - timedelta(minutes=28, seconds=30)).isoformat()
    broken = row(
        "orders",
        detailedState="OFFSETS_UNREADABLE",
        healthy=False,
        since=since,
        lagRecords=1_200,
        lagMillis=842_000,
        trend="rising",
        rowsPerSecond=0.0,
        why="Kafka deleted 12 records",
    )
    server.on("GET", PATH, answer(broken, row("clicks")))

    ended = tidegate("supervisor", "top")

    lines = ended.out.splitlines()
    assert lines[0].split() == [
        *("ID", "STATE", "SINCE", "LAG", "OLDEST", "ROWS/S", "PUBLISHES", "WHY")
    ]
    words = lines[1].split()
    assert words[:2] == ["orders", "OFFSETS_UNREADABLE"]
    assert "28m" in lines[1]
    assert "1200" in words
    assert "14m2s up" in lines[1]
    assert lines[1].endswith("Kafka deleted 12 records")
    assert "2 of 2 shown; in all 3 RUNNING, 1 UNHEALTHY_SUPERVISOR" in ended.err
    assert tidegate("supervisor", "top", "-o", "name").out == "orders\nclicks\n"


def test_wide_rows_have_the_headroom_the_next_step_and_what_runs(
    tidegate: Tidegate, server: Overlord
) -> None:
    step = {"action": "reset-offsets", "label": "Go on in partition 3 at offset 7", "params": {}}
    runs = {"id": "op_9", "kind": "suspend", "askedBy": "ada", "at": "2026-01-05T12:00:00Z"}
    risky = row("orders", headroomMillis=7_800_000, remedy=step, operation=runs)
    server.on("GET", PATH, answer(risky, row("clicks")))

    lines = tidegate("supervisor", "top", "-o", "wide").out.splitlines()

    assert lines[0].split()[-3:] == ["HEADROOM", "STEP", "OPERATION"]
    assert "2h10m" in lines[1]
    assert "Go on in partition 3 at offset 7" in lines[1]
    assert lines[1].split()[-2:] == ["suspend", "op_9"]


def test_filters_and_order_are_sent_and_pages_are_joined(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", PATH, answer(row("a"), following="behind-a"), answer(row("b")))

    ended = tidegate(
        *("supervisor", "top", "ord*", "--state", "RUNNING", "--data-source", "o*"),
        *("--topic", "t", "--unhealthy", "--sort", "-lagMillis", "-n", "7", "-o", "json"),
    )

    document = ended.json()
    assert isinstance(document, dict)
    assert [each["id"] for each in document["supervisors"]] == ["a", "b"]
    first, second = (request.query for request in server.requests)
    assert first == {
        "q": ["ord*"],
        "state": ["RUNNING"],
        "dataSource": ["o*"],
        "topic": ["t"],
        "healthy": ["false"],
        "sort": ["-lagMillis"],
        "limit": ["7"],
    }
    assert second == first | {"limit": ["6"], "cursor": ["behind-a"]}


def test_nothing_that_fits_is_said(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, Reply({"supervisors": [], "totals": {}, "matching": 0, "next": None}))

    assert "No supervisor fits." in tidegate("supervisor", "top", "x").err
