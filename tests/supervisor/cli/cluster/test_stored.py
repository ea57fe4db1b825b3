"""`tidegate logs` and `tidegate task reports`."""

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

ID = "index_kafka_clicks_0123456789abcde_abcdefgh"
LINE = {
    "task": ID,
    "attempt": 1,
    "offset": 4711,
    "at": "2026-03-01T12:00:00Z",
    "level": "ERROR",
    "text": "2026-03-01T12:00:00.5Z ERROR   the \x1b[31mdisk is full path=/data",
    "supervisor": "clicks",
    "dataSource": "clicks",
    "worker": "w1",
}
REPORT = {
    "id": "ab" * 16,
    "task": ID,
    "attempt": 1,
    "type": "task_result",
    "origin": "stream",
    "status": "FAILED",
    "supervisor": "clicks",
    "dataSource": "clicks",
    "worker": "w1",
    "at": "2026-03-01T12:00:00Z",
    "storedAt": None,
    "bytes": 512,
    "final": True,
    "error": "the disk is full",
}


def test_lines_are_listed_and_filters_are_asked_for(tidegate: Tidegate, server: Overlord) -> None:
    server.on(
        "GET",
        "/api/v1/logs",
        Reply({"lines": [LINE], "next": "abc"}),
        Reply({"lines": [LINE], "next": "def"}),
    )

    filters = ("--supervisor", "clicks", "--level", "error", "--text", "disk", "--task", ID)
    ended = tidegate("logs", *filters, "--from", "2026-03-01T00:00:00Z", "-n", "2")

    assert ended.code == 0
    rows = [row.split() for row in ended.out.splitlines()]
    when = "2026-03-01T12:00:00+00:00"
    shown = [when, "ERROR", "clicks", ID, *["the", "\\x1b[31mdisk", "is", "full", "path=/data"]]
    assert rows[1:] == [shown, shown]
    assert "There is more" in ended.err
    assert server.requests[-1].query == {
        "supervisor": ["clicks"],
        "level": ["ERROR"],
        "text": ["disk"],
        "task": [ID],
        "from": ["2026-03-01T00:00:00Z"],
        "limit": ["1"],
        "cursor": ["abc"],
    }


def test_no_store_is_told_with_what_would_help(tidegate: Tidegate, server: Overlord) -> None:
    server.refuse("GET", "/api/v1/logs", 404, detail="nothing has been stored yet: start one")

    ended = tidegate("logs")

    assert (ended.code, ended.out) == (1, "")
    assert "start one" in ended.err


def test_reports_of_a_task_are_listed_by_attempt(tidegate: Tidegate, server: Overlord) -> None:
    newer = REPORT | {"attempt": 2, "status": "SUCCESS", "error": "", "id": "cd" * 16}
    older = REPORT | {"at": "2026-03-01T13:00:00Z"}
    server.on("GET", "/api/v1/reports", Reply({"reports": [older, newer], "next": None}))

    ended = tidegate("task", "reports", ID)

    assert ended.code == 0
    rows = [row.split() for row in ended.out.splitlines()]
    assert [row[:4] for row in rows[1:]] == [
        ["cd" * 16, "2", "task_result", "SUCCESS"],
        ["ab" * 16, "1", "task_result", "FAILED"],
    ]
    assert rows[2][-4:] == ["the", "disk", "is", "full"]
    assert server.requests[-1].query["task"] == [ID]


def test_bodies_are_printed_as_they_were_sent(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/reports", Reply({"reports": [REPORT], "next": None}))
    server.on("GET", f"/api/v1/reports/{REPORT['id']}", Reply({"payload": {"rows": 7}}))

    ended = tidegate("task", "reports", ID, "--body")

    assert ended.code == 0
    assert '"rows": 7' in ended.out


def test_reports_of_a_supervisor_are_its_changes_of_state(
    tidegate: Tidegate, server: Overlord
) -> None:
    change = REPORT | {"task": "clicks", "origin": "supervisor", "status": "UNHEALTHY_TASKS"}
    server.on("GET", "/api/v1/reports", Reply({"reports": [change], "next": None}))

    ended = tidegate("supervisor", "reports", "clicks")

    assert ended.code == 0
    row = ended.out.splitlines()[1].split()
    assert row[1:] == ["clicks", "UNHEALTHY_TASKS", *["the", "disk", "is", "full"]]
    asked = server.requests[-1].query
    assert (asked["supervisor"], asked["origin"]) == (["clicks"], ["supervisor"])
