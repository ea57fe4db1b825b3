"""`tidegate quarantine ...`: what it asks, and what it shows."""

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
