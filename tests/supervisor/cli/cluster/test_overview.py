"""`tidegate overview`: sentences with remedies, the sum, and the exit status for a cron job."""

import json

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/overview"
BROKEN: dict[str, object] = {
    "severity": "broken",
    "kind": "supervisor-unhealthy",
    "about": {"kind": "supervisor", "id": "orders"},
    "text": "orders is UNHEALTHY_SUPERVISOR (OFFSETS_UNREADABLE): 1,204 records are lost",
    "since": "2026-01-05T10:02:00Z",
    "remedies": [
        {
            "action": "reset-offsets",
            "label": "Go on in partition 3 at offset 89324",
            "params": {"offsets": {"3": 89324}},
            "permission": "reset",
            "command": "tidegate supervisor reset orders --offset 3=89324",
        },
        {
            "action": "edit-spec",
            "label": "Let it go on by itself, now and later",
            "params": {"pointer": "/spec/tuningConfig/resetOffsetAutomatically", "value": True},
            "permission": "apply",
            "command": None,
        },
    ],
}
AT_RISK: dict[str, object] = BROKEN | {
    "severity": "at-risk",
    "kind": "a-rule-of-a-newer-overlord",
    "text": "clicks is slow",
    "since": None,
    "remedies": [],
}
COUNTS = {
    "at": "2026-01-05T10:30:00Z",
    "leader": {"url": "http://ov-1", "term": 17, "since": "2026-01-02T10:30:00Z"},
    "database": {"ok": True, "millis": 2},
    "supervisors": {"total": 12, "unhealthy": 1, "suspended": 0, "states": {"RUNNING": 11}},
    "lag": {"records": 1_200, "oldestMillis": 840_000, "lookedAt": "2026-01-05T10:29:48Z"},
    "slots": {"needed": 42, "used": 38, "free": 2, "total": 40},
}


def answer(*items: dict[str, object], **totals: int) -> Reply:
    return Reply(COUNTS | {"attention": list(items), "more": 0, "totals": totals})


def test_each_item_is_a_sentence_with_what_may_help(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, answer(BROKEN, AT_RISK, broken=1, atRisk=1, toKnow=0))

    ended = tidegate("overview")

    assert ended.code == 0
    first, step, edit, second = ended.out.splitlines()
    assert first == f"BROKEN   {BROKEN['text']} (since 2026-01-05 10:02:00 UTC)"
    assert step.strip() == (
        "Go on in partition 3 at offset 89324: tidegate supervisor reset orders --offset 3=89324"
    )
    assert edit.strip() == (
        "Let it go on by itself, now and later: "
        "/spec/tuningConfig/resetOffsetAutomatically of its spec"
    )
    assert second == "AT RISK  clicks is slow"
    assert ended.err.strip() == (
        "1 broken, 1 at risk. 11 of 12 supervisors are healthy. 1,200 records are "
        "unread as of 12s ago, the oldest 14m0s old. 42 slots needed, 2 of 40 free. http://ov-1 "
        "leads in term 17"
    )
    assert server.requests[0].query == {"limit": ["100"]}


@pytest.mark.parametrize(
    ("broken", "at_risk", "fail_on", "code"),
    [
        (0, 0, "broken", 0),
        (0, 0, "at-risk", 0),
        (0, 3, "broken", 0),
        (0, 3, "at-risk", 1),
        (1, 0, "broken", 1),
        (1, 0, "at-risk", 1),
    ],
)
def test_a_cron_job_fails_on_what_it_asks_for(
    tidegate: Tidegate, server: Overlord, broken: int, at_risk: int, fail_on: str, code: int
) -> None:
    """Goal: the totals count, not the items that the limit lets through."""
    server.on("GET", PATH, answer(broken=broken, atRisk=at_risk, toKnow=9))

    assert tidegate("overview", "--fail-on", fail_on).code == code
    assert tidegate("overview").code == 0


def test_where_all_is_well_it_says_so(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, answer(broken=0, atRisk=0, toKnow=0))

    ended = tidegate("overview")

    assert ended.out == ""
    assert ended.err.startswith("Nothing needs anybody. 11 of 12 supervisors are healthy.")


def test_what_a_limit_leaves_out_is_counted(tidegate: Tidegate, server: Overlord) -> None:
    totals = {"broken": 0, "atRisk": 0, "toKnow": 5}
    server.on("GET", PATH, Reply(COUNTS | {"attention": [], "more": 5, "totals": totals}))

    ended = tidegate("overview", "-n", "1", "-o", "json")
    assert json.loads(ended.out)["more"] == 5
    assert "5 to know (5 of them not shown: --limit)" in tidegate("overview").err


def test_without_a_leader_nothing_is_made_up(tidegate: Tidegate, server: Overlord) -> None:
    nobody: dict[str, object] = {
        "severity": "broken",
        "kind": "no-leader",
        "text": "no overlord leads",
    }
    item = nobody | {"about": {"kind": "cluster", "id": ""}, "since": None, "remedies": []}
    parts = dict.fromkeys(("leader", "supervisors", "lag", "slots"))
    totals = {"broken": 1, "atRisk": 0, "toKnow": 0}
    whole = COUNTS | parts | {"attention": [item], "more": 0, "totals": totals}
    server.on("GET", PATH, Reply(whole))

    ended = tidegate("overview", "--fail-on", "broken")

    assert (ended.code, ended.out, ended.err) == (
        *(1, "BROKEN   no overlord leads\n"),
        "1 broken\n",
    )
