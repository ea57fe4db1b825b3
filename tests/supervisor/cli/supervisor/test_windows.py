"""`tidegate supervisor events | ranges | plans | lag`, and `history --who`."""

from supervisor.cli.supervisor.windows import bars
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

OURS = "/api/v1/supervisors/clicks"
AT = "2026-01-05T12:00:00Z"
EVENT = {
    "id": 7,
    "type": "state-changed",
    "at": AT,
    "supervisorId": "clicks",
    "group": None,
    "detail": {"state": "IDLE"},
}
RANGE = {
    "id": "g1",
    "ordinal": 3,
    "group": 1,
    "state": "PUBLISHED",
    "openedAt": AT,
    "handoffWhy": "taskDuration is over",
    "records": 9_308,
    "rows": 9_305,
    "durations": {"reading": 60_000, "pausing": 310, "finishing": 2_400, "publishing": None},
}
PLAN = {"at": AT, "term": 17, "error": "", "actions": [{"action": "A", "about": "x", "why": "y"}]}
VERSION = {
    "versionNumber": 8,
    "at": AT,
    "author": "alice",
    "kind": "changed",
    "operationId": "op_91",
    "changed": ["/spec/ioConfig/taskCount"],
    "effect": "restart-tasks",
    "unknown": None,
}


def test_events_of_types_and_of_a_time(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/events", Reply({"events": [EVENT], "newest": 7, "next": None}))

    ended = tidegate(
        *("supervisor", "events", "clicks", "--type", "state-changed", "--type", "task-ended"),
        *("--from", AT, "--to", "2026-01-06T00:00:00Z"),
    )

    assert ended.code == 0
    assert ended.out.splitlines()[1].split() == [
        *("2026-01-05", "12:00:00", "state-changed", "clicks", "state=IDLE"),
    ]
    query = server.requests[0].query
    assert query["type"] == ["state-changed", "task-ended"]
    assert (query["from"], query["to"]) == ([AT], ["2026-01-06T00:00:00Z"])
    assert query["supervisor"] == ["clicks"]


def test_a_list_says_where_the_events_of_handoffs_begin(
    tidegate: Tidegate, server: Overlord
) -> None:
    page = {"events": [EVENT], "newest": 7, "next": None, "completeSince": "2026-01-06T00:00:00Z"}
    server.on("GET", "/api/v1/events", Reply(page))

    every = tidegate("supervisor", "events", "clicks")
    states = tidegate("supervisor", "events", "clicks", "--type", "state-changed")
    server.on("GET", "/api/v1/events", Reply({**page, "completeSince": AT}))
    later = tidegate("supervisor", "events", "clicks")

    assert "handoffs, tasks and compactions before 2026-01-06 00:00:00 UTC are trimmed" in every.err
    assert (states.err, later.err) == ("", "")
    assert (states.code, states.out) == (0, every.out)


def test_a_page_without_a_match_is_not_the_end(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: an overlord looks at a bounded number of rows for a page; the command goes on."""
    empty = Reply({"events": [], "newest": 7, "next": "more"})
    found = Reply({"events": [EVENT], "newest": 7, "next": None})
    server.on("GET", "/api/v1/events", empty, found)

    ended = tidegate("supervisor", "events", "--type", "state-changed", "-o", "json")

    assert [each["id"] for each in ended.json()["events"]] == [7]  # type: ignore[index]
    assert server.requests[1].query["cursor"] == ["more"]


def test_ranges_tell_how_long_their_steps_took(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{OURS}/generations", Reply({"generations": [RANGE], "next": None}))

    ended = tidegate("supervisor", "ranges", "clicks", "--group", "0", "--state", "PUBLISHED")

    assert ended.code == 0
    line = ended.out.splitlines()[1]
    assert line.split()[:3] == ["3", "1", "PUBLISHED"]
    assert all(text in line for text in ("60.0s", "0.3s", "2.4s", "9308", "9305", "taskDuration"))
    query = server.requests[0].query
    assert (query["group"], query["state"]) == (["0"], ["PUBLISHED"])


def test_plans_say_what_was_decided_and_why(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{OURS}/plans", Reply({"plans": [PLAN], "next": None}))

    ended = tidegate("supervisor", "plans", "clicks", "--before", AT)

    assert ended.out.splitlines()[1].split(maxsplit=2) == ["2026-01-05", "12:00:00", "A x: y"]
    assert server.requests[0].query["before"] == [AT]


def test_history_shows_who_stored_a_version_and_by_which_operation(
    tidegate: Tidegate, server: Overlord
) -> None:
    unreadable = VERSION | {"versionNumber": 7, "author": None, "kind": None, "changed": None}
    versions = [VERSION, unreadable | {"unknown": "written by Tidegate 9"}]
    server.on("GET", f"{OURS}/history", Reply({"versions": versions, "next": None}))

    ended = tidegate("supervisor", "history", "clicks", "--who", "-o", "wide")

    assert ended.out.splitlines()[1].split() == [
        *("8", "2026-01-05", "12:00:00", "alice", "changed", "/spec/ioConfig/taskCount"),
        *("restart-tasks", "op_91"),
    ]
    assert ended.err == "version 7: written by Tidegate 9\n"


def test_watch_follows_some_types(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/events", Reply({"events": [EVENT], "newest": 6, "next": None}))
    body = 'id: 7\nevent: state-changed\ndata: {"supervisorId": "clicks"}\n\n'
    server.on("GET", "/api/v1/events/stream", Reply(body, content_type="text/event-stream"))

    ended = tidegate("supervisor", "watch", "clicks", "--type", "state-changed", "-n", "1")

    assert ended.code == 0
    assert server.requests[-1].query["type"] == ["state-changed"]


def test_the_lag_of_several_is_shown_side_by_side(tidegate: Tidegate, server: Overlord) -> None:
    series = {"at": [AT] * 3, "records": [0, None, 70], "millis": [0, None, 842_000]}
    server.on("GET", "/api/v1/lag", Reply({"lag": {"orders": series}}))

    ended = tidegate("supervisor", "lag", "orders", "mine", "--step", "PT30M", "--from", AT)

    lines = ended.out.splitlines()
    assert lines[0].split() == ["ID", "RECORDS", "OLDEST", "WORST", "LAG"]
    assert lines[1].split() == ["orders", "70", "14m2s", "14m2s", "▁", "█"]
    assert "mine: no lag is known" in ended.err
    [request] = server.requests
    assert request.query == {"id": ["orders", "mine"], "step": ["PT30M"], "from": [AT]}
    assert tidegate("supervisor", "lag", "orders", "-o", "name").out == "orders\n"


def test_a_long_history_is_drawn_in_one_line() -> None:
    line = bars([*range(480)])
    assert (len(line), line[0], line[-1]) == (48, "▁", "█")
    assert bars([]) == ""
    assert bars([0, 0]) == "▁▁"
