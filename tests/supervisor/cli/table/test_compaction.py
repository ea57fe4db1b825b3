"""`tidegate compaction ...`: what it asks, what it shows, and when it says no."""

import json

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

TABLE = "/api/v1/datasources/clicks"
ALL = "/api/v1/compactions"


def compaction(number: int = 1, **members: object) -> dict[str, object]:
    return {
        "id": f"compact_clicks_{number}",
        "dataSource": "clicks",
        "supervisorId": "clicks",
        "intervalStart": "2026-01-05T12:00:00Z",
        "intervalEnd": "2026-01-05T13:00:00Z",
        "status": "RUNNING",
        "statusCode": "WAITING",
        "files": 4,
        "rows": 1_000,
        "reason": "me",
        "createdAt": "2026-01-05T14:00:00Z",
        "workerId": None,
        "endedAt": None,
        "detail": "",
    } | members


def some(*found: object) -> Reply:
    return Reply({"compactions": list(found)})


def test_what_begins_is_shown(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{TABLE}/compact", some(compaction()))

    ended = tidegate(
        *("compaction", "run", "clicks", "--interval", "2026-01-05/2026-01-06"),
        *("--target-rows", "1000000", "--files-min", "3"),
    )

    assert ended.code == 0
    assert ended.out.splitlines()[1].split()[-4:] == ["1000", "WAITING", "me", "compact_clicks_1"]
    assert json.loads(server.requests[-1].body) == {
        "targetRows": 1_000_000,
        "filesMin": 3,
        "interval": "2026-01-05/2026-01-06",
    }


def test_nothing_to_do_is_said_and_is_no_failure(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{TABLE}/compact", some())

    ended = tidegate("compaction", "run", "clicks", "--wait", "5")

    assert (ended.code, ended.out) == (0, "")
    assert "no files that would become fewer" in ended.err


def test_waiting_ends_with_what_became_of_each(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: exit code 1 when one of them failed, with its reason."""
    server.on("POST", f"{TABLE}/compact", some(compaction(1), compaction(2)))
    done = compaction(1, status="SUCCESS", statusCode="SUCCESS", detail="4 files became one")
    server.on("GET", f"{ALL}/compact_clicks_1", Reply(compaction(1)), Reply(done))
    failed = compaction(2, status="FAILED", statusCode="FAILED", detail="READ_FAILED: gone")
    server.on("GET", f"{ALL}/compact_clicks_2", Reply(failed))

    ended = tidegate("compaction", "run", "clicks", "--wait", "30")

    assert ended.code == 1
    assert [line.split()[-3] for line in ended.out.splitlines()[1:]] == ["SUCCESS", "FAILED"]
    assert "compact_clicks_2: READ_FAILED: gone" in ended.err


def test_a_deadline_that_passes_is_exit_code_4(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{TABLE}/compact", some(compaction()))
    server.on("GET", f"{ALL}/compact_clicks_1", Reply(compaction()))

    ended = tidegate("compaction", "run", "clicks", "--wait", "0")

    assert ended.code == 4
    assert "1 of 1 still wait or run" in ended.err


def test_compactions_are_listed_newest_first_as_they_come(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", ALL, some(compaction(2), compaction(1, status="FAILED", detail="why")))

    ended = tidegate("compaction", "list", "clicks", "--limit", "7")

    assert server.requests[-1].query == {"dataSource": ["clicks"], "limit": ["7"]}
    assert [line.split()[-1] for line in ended.out.splitlines()[1:]] == [
        "compact_clicks_2",
        "compact_clicks_1",
    ]
    assert tidegate("compaction", "list", "-o", "json").json() == {
        "compactions": [compaction(2), compaction(1, status="FAILED", detail="why")]
    }


def test_pages_are_followed_until_there_are_enough(tidegate: Tidegate, server: Overlord) -> None:
    """Goal: who may not see all of a page gets as many as were asked for."""
    pages = [{"compactions": [compaction(n)], "next": f"c{n}" if n else None} for n in (2, 1, 0)]
    server.on("GET", ALL, *(Reply(page) for page in pages))

    ended = tidegate("compaction", "list", "--limit", "2", "-o", "json")

    assert ended.json() == {"compactions": [compaction(2), compaction(1)], "next": "c1"}
    assert [a.query for a in server.requests] == [
        {"limit": ["2"]},
        {"limit": ["1"], "cursor": ["c2"]},
    ]


def test_a_rule_is_shown_set_and_ended(tidegate: Tidegate, server: Overlord) -> None:
    path = f"{TABLE}/compaction"
    rule = {
        "dataSource": "clicks",
        "skipOffsetFromLatest": "P2D",
        "targetRows": 5_000_000,
        "targetBytes": 268_435_456,
        "filesMin": 4,
        "author": "ann",
    }
    server.on("GET", path, Reply({"dataSource": "clicks"}))
    server.on("PUT", path, Reply(rule))
    server.on("DELETE", path, Reply({"dataSource": "clicks"}))

    shown = tidegate("compaction", "rule", "clicks")
    put = tidegate("compaction", "rule", "clicks", "--skip-latest", "P2D", "--files-min", "4")
    sent = json.loads(server.requests[-1].body)
    off = tidegate("compaction", "rule", "clicks", "--off")

    assert shown.out == off.out == "clicks is compacted only when asked\n"
    assert "up to P2D before its newest rows: 4 or more files" in put.out
    assert (sent["skipOffsetFromLatest"], sent["filesMin"]) == ("P2D", 4)


def test_contradictions_and_what_is_no_period_are_mistakes_of_use(tidegate: Tidegate) -> None:
    both = tidegate("compaction", "rule", "clicks", "--skip-latest", "P1D", "--off")
    period = tidegate("compaction", "rule", "clicks", "--skip-latest", "tomorrow")
    interval = tidegate("compaction", "run", "clicks", "--interval", "tomorrow")

    assert [both.code, period.code, interval.code] == [2, 2, 2]


def test_a_part_of_a_rule_is_not_passed_over_in_silence(
    tidegate: Tidegate, server: Overlord
) -> None:
    ended = tidegate("compaction", "rule", "clicks", "--target-rows", "7", "--files-min", "3")

    assert (ended.code, server.requests) == (2, [])
    assert "goes with --skip-latest" in ended.err


def test_one_is_cancelled(tidegate: Tidegate, server: Overlord) -> None:
    cancelled = compaction(status="FAILED", detail="given up by me")
    server.on("POST", f"{ALL}/compact_clicks_1/cancel", Reply(cancelled))

    ended = tidegate("compaction", "cancel", "compact_clicks_1")

    assert ended.out == "compact_clicks_1: FAILED, given up by me\n"
