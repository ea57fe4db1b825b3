"""`tidegate supervisor handoff`: which groups are asked for, and when the waiting ends."""

import json

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.supervisor.test_supervisors import status

NOON = "2026-01-05T12:00:00Z"

BASE = "/druid/indexer/v1/supervisor/clicks"
HANDOFF = f"{BASE}/taskGroups/handoff"


def group(number: int, state: str = "READING", *, requester: str = "", ordinal: int = 0) -> object:
    return {
        "generationId": f"clicks:{ordinal or number}",
        "group": number,
        "state": state,
        "start": {},
        "end": None,
        "openedAt": "2026-11-21T03:16:15.188Z",
        "nextPublishDue": None,
        "handoffWhy": "",
        "asked": requester,
    }


def handoff_requests(server: Overlord) -> list[object]:
    return [json.loads(one.body) for one in server.requests if one.path == HANDOFF]


def test_all_groups_are_asked_for_unless_some_are_named(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", f"{BASE}/status", Reply(status(groups=[group(0), group(1), group(1)])))
    server.on("POST", HANDOFF, Reply("", 202, "text/plain"))

    whole = tidegate("supervisor", "handoff", "clicks")
    some = tidegate("supervisor", "handoff", "clicks", "--group", "1", "-o", "json")

    assert (whole.code, whole.out) == (
        0,
        "clicks: groups 0, 1 will publish what they have read\n",
    )
    assert some.json() == {"id": "clicks", "taskGroupIds": [1]}
    assert handoff_requests(server) == [{"taskGroupIds": [0, 1]}, {"taskGroupIds": [1]}]


def test_a_supervisor_without_groups_is_asked_for_nothing(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", f"{BASE}/status", Reply(status("SUSPENDED")))

    ended = tidegate("supervisor", "handoff", "clicks")

    assert (ended.code, ended.out) == (0, "clicks has no group that reads\n")
    assert handoff_requests(server) == []


def test_waiting_ends_when_what_read_has_published_or_had_read_nothing(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Goal: the successor that reads on is not waited for, nor a group with an empty range."""
    server.on(
        "GET",
        f"{BASE}/status",
        Reply(status(groups=[group(0, ordinal=1), group(1, ordinal=2)])),
        Reply(status(groups=[group(0, requester="me", ordinal=1), group(1, "PAUSING", ordinal=2)])),
        Reply(status(groups=[group(0, "PUBLISHING", ordinal=1), group(1, ordinal=2)])),
        Reply(status(groups=[group(0, ordinal=3), group(1, ordinal=2)])),
    )
    server.on("POST", HANDOFF, Reply("", 202, "text/plain"))

    ended = tidegate("supervisor", "handoff", "clicks", "--wait", "30")

    assert (ended.code, ended.out) == (
        0,
        "clicks: groups 0, 1 have published what they have read\n",
    )
    assert len([one for one in server.requests if one.method == "GET"]) == 4


def test_a_wait_that_passes_its_deadline_says_what_is_missing(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", f"{BASE}/status", Reply(status(groups=[group(0, "PUBLISHING", ordinal=7)])))
    server.on("POST", HANDOFF, Reply("", 202, "text/plain"))

    ended = tidegate("supervisor", "handoff", "clicks", "--wait", "0")

    assert ended.code == 4
    assert "clicks:7 is PUBLISHING" in ended.err


def test_what_the_overlord_refuses_is_told(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{BASE}/status", Reply(status(groups=[group(0)])))
    server.refuse("POST", HANDOFF, 400, detail="[clicks] has no task group 7; its groups are: 0")

    ended = tidegate("supervisor", "handoff", "clicks", "-g", "7")

    assert (ended.code, ended.out) == (1, "")
    assert "its groups are: 0" in ended.err


def test_waiting_goes_by_the_operation_of_the_answer(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: done is what the overlord says, not what a glance at the status suggests."""
    path = "/druid/indexer/v1/supervisor/clicks/suspend"
    server.on("POST", path, Reply({"type": "kafka"}, headers={"Tidegate-Operation": "op_7"}))
    running = {
        "id": "op_7",
        "state": "running",
        "waitsFor": "group 0",
        "at": "2026-01-05T12:00:00Z",
    }
    server.on("GET", "/api/v1/operations/op_7", Reply(running), Reply(running | {"state": "done"}))
    assert tidegate("supervisor", "suspend", "clicks", "--wait", "20").code == 0

    server.on("GET", "/api/v1/operations/op_7", Reply(running))
    late = tidegate("supervisor", "suspend", "clicks", "--wait", "0")
    assert (late.code, "group 0" in late.err) == (4, True)

    server.on("GET", "/api/v1/operations/op_7", Reply(running | {"state": "superseded"}))
    assert tidegate("supervisor", "suspend", "clicks", "--wait", "20").code == 1
