"""`tidegate quarantine ...`: what it asks, and what it shows."""

import json

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/supervisors/clicks/quarantine"
RECORD = {
    "topic": "clicks",
    "partition": 1,
    "offset": 17,
    "time": "2026-01-05T12:00:00Z",
    "reason": "not-json",
    "key": "user-1",
    "keyBase64": "dXNlci0x",
    "keyBytes": 6,
    "value": '{"broken":\n1',
    "valueBase64": "eyJicm9rZW4iOgox",
    "valueBytes": 12,
    "headers": [{"key": "trace", "value": None, "valueBase64": "/w=="}],
    "cut": False,
}
BINARY = RECORD | {
    "offset": 18,
    "value": None,
    "valueBase64": "/wA=",
    "key": None,
    "keyBase64": None,
}


def page(*records: object, after: str | None = None, first: bool = True) -> Reply:
    reasons = {"not-json": 2} if first else None
    table = {"supervisorId": "clicks", "dataSource": "clicks__errors"}
    return Reply(table | {"reasons": reasons, "records": list(records), "next": after})


def test_records_are_listed_page_by_page(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, page(RECORD, after="clicks:1:17"), page(BINARY, first=False))

    ended = tidegate("quarantine", "list", "clicks", "--reason", "not-json", "--partition", "1")

    lines = ended.out.splitlines()
    assert '{"broken": 1' in lines[1]
    assert "user-1" in lines[1]
    assert "base64:/wA=" in lines[2]
    assert ended.err == "2 records: 2 not-json\n"
    first, second = (request.query for request in server.requests)
    assert first == {"reason": ["not-json"], "partition": ["1"], "limit": ["100"]}
    assert second == first | {"after": ["clicks:1:17"], "limit": ["99"]}


def test_no_more_are_listed_than_asked_for(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, page(RECORD, after="clicks:1:17"))

    ended = tidegate("quarantine", "list", "clicks", "--limit", "1")

    assert len(server.requests) == 1
    assert "--limit shows more" in ended.err
    as_json = tidegate("quarantine", "list", "clicks", "--limit", "1", "-o", "json").json()
    assert isinstance(as_json, dict)
    assert (as_json["reasons"], len(as_json["records"])) == ({"not-json": 2}, 1)


def test_one_record_is_shown_whole(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", f"{PATH}/clicks/1/17", Reply(RECORD))

    ended = tidegate("quarantine", "show", "clicks", "clicks:1", "17")

    assert '{"broken":\n1' in ended.out
    assert "trace: base64:/w==" in ended.out
    assert tidegate("quarantine", "show", "clicks", "clicks:1", "17", "-o", "json").json() == RECORD


def test_a_place_that_is_none_is_a_usage_error(tidegate: Tidegate, server: Overlord) -> None:
    assert tidegate("quarantine", "show", "clicks", "clicks", "17").code == 2
    assert server.requests == []


REPLAYED = {
    "id": "op-7",
    "supervisor": "clicks",
    "kind": "replay",
    "author": "ada",
    "at": "2026-01-05T12:00:00Z",
    "state": "running",
    "waitsFor": "the leader, which sends its records",
    "replay": {
        "topic": "clicks-again",
        "reason": "empty",
        "partition": 3,
        "most": 9,
        "keepTime": True,
        "sent": None,
        "there": None,
        "more": None,
        "problem": None,
    },
}
SEND = ("quarantine", "send", "clicks", "--topic", "clicks-again")
OPERATION = "/api/v1/operations/op-7"


def over(state: str, **outcome: object) -> Reply:
    return Reply(REPLAYED | {"state": state, "replay": REPLAYED["replay"] | outcome})  # type: ignore[operator]


def test_the_overlord_is_to_send_them(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{PATH}/replay", Reply(REPLAYED, 202))
    options = ("--of", "empty", "--partition", "3", "-n", "9", "--keep-time", "--reason", "why")

    unconfirmed = tidegate(*SEND)
    sent = tidegate(*SEND, *options, "--yes")
    named = tidegate(*SEND, "--yes", "-o", "name")

    assert (unconfirmed.code, sent.code, named.out) == (2, 0, "clicks\n")
    assert sent.out == "clicks: the overlord sends its records, as op-7\n"
    first, second = server.requests
    assert json.loads(first.body) == {
        "topic": "clicks-again",
        "reason": "empty",
        "partition": 3,
        "most": 9,
        "keepTime": True,
    }
    assert first.query == {"reason": ["why"]}
    assert json.loads(second.body) == {"topic": "clicks-again", "most": 10_000, "keepTime": False}


def test_it_waits_until_they_are_sent(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{PATH}/replay", Reply(REPLAYED, 202))
    server.on("GET", OPERATION, over("done", sent=9, there=2, more=True))

    done = tidegate(*SEND, "--yes", "--wait", "5")
    as_json = tidegate(*SEND, "--yes", "--wait", "5", "-o", "json").json()

    assert done.out.endswith(
        "9 records sent to clicks-again, 2 were there before; there are more: run it again\n"
    )
    assert isinstance(as_json, dict)
    assert as_json["state"] == "done"


def test_why_they_are_not_sent_is_said(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{PATH}/replay", Reply(REPLAYED, 202))
    server.on("GET", OPERATION, over("failed", problem="there is no topic clicks-again"))

    failed = tidegate(*SEND, "--yes", "--wait", "5")

    assert failed.code == 1
    assert "op-7 has failed: there is no topic clicks-again" in failed.err


def test_what_would_be_sent_is_shown_and_bound(tidegate: Tidegate, server: Overlord) -> None:
    fits = {"reason": "empty", "topic": "clicks", "partition": 3, "records": 1_200}
    sent = {"topic": "clicks-again", "matching": 1_200, "there": 2, "sends": 1_198}
    preview = {
        "dryRun": True,
        "verb": "replay",
        "id": "clicks",
        "text": "1,198 records are sent to clicks-again as they were, all at once.",
        "undo": "it cannot be undone",
        "digest": "0" * 32,
        "warnings": [],
        "sent": sent | {"records": [fits], "readers": []},
    }
    server.on("GET", "/openapi.json", Reply({"components": {"schemas": {"VerbPreview": {}}}}))
    server.on("POST", f"{PATH}/replay", Reply(preview))

    shown = tidegate(*SEND, "--dry-run")

    assert "fits: 1,200 empty of clicks:3" in shown.out
    assert "1,198 records are sent" in shown.out
    assert server.requests[-1].query["dryRun"] == ["true"]


def test_bad_records_are_counted_by_time(tidegate: Tidegate, server: Overlord) -> None:
    count = {"topic": "clicks", "partition": 3, "reason": "empty", "records": 4}
    bucket = {"start": "2026-01-05T00:00:00Z", "records": 4, "counts": [count]}
    summary = {
        "supervisorId": "clicks",
        "dataSource": "clicks__errors",
        "bucket": "day",
        "records": 6,
        "reasons": {"empty": 6},
        "undated": 1,
        "buckets": [bucket],
        "truncated": True,
    }
    server.on("GET", f"{PATH}/summary", Reply(summary))

    ended = tidegate("quarantine", "summary", "clicks", "--bucket", "day", "--partition", "3")

    assert ended.out.splitlines()[1].split() == ["2026-01-05", "00:00", "empty", "clicks:3", "4"]
    assert "1 records have no time" in ended.err
    assert "Of 6 records, the newest" in ended.err
    assert server.requests[-1].query == {"bucket": ["day"], "partition": ["3"]}
