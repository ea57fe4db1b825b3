"""`tidegate supervisor explain` and `watch`."""

import json

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply, Request

SSE = "text/event-stream"


def event(number: int, **members: object) -> str:
    data = {
        "id": number,
        "at": "2026-03-01T12:00:00Z",
        "type": "generation-published",
        "supervisorId": "clicks",
        "group": 0,
        "detail": {"rows": number},
    } | members
    return f"id: {number}\nevent: {data['type']}\ndata: {json.dumps(data)}\n\n"


def listed(newest: int, *events: dict[str, object]) -> Reply:
    """An answer of the list of events."""
    return Reply({"events": [*events], "newest": newest, "next": None})


def streamed(server: Overlord) -> list[Request]:
    """The requests for the stream."""
    return [request for request in server.requests if request.path.endswith("/stream")]


def test_sentences_are_printed_in_order(tidegate: Tidegate, server: Overlord) -> None:
    explanation = {
        "sentences": [{"text": "It is RUNNING.", "since": "2026-03-01T12:00:00Z"}, {"text": "B."}],
        "remedies": [
            {"label": "Resume", "command": "tidegate supervisor resume clicks"},
            {"label": "Check brokers", "command": None},
        ],
    }
    server.on("GET", "/api/v1/supervisors/clicks/explain", Reply(explanation))

    ended = tidegate("supervisor", "explain", "clicks")

    assert ended.code == 0
    assert ended.out.splitlines() == [
        "It is RUNNING. (since 2026-03-01 12:00:00 UTC)",
        "B.",
        "Resume: tidegate supervisor resume clicks",
    ]


def test_a_lost_connection_goes_on_behind_the_last_event(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Goal: nothing is missed and nothing is printed twice."""

    def answer(request: Request) -> Reply:
        if not request.path.endswith("/stream"):
            return listed(0, {"id": 1, "at": "2026-01-05T12:00:00Z"})
        after = int(request.query.get("after", ["0"])[0])
        body = "retry: 1000\n\n: still here\n\n" + "".join(event(after + n) for n in (1, 2))
        return Reply(body, content_type=SSE)

    server.ask = answer
    ended = tidegate("supervisor", "watch", "clicks", "--after", "0", "-n", "5")

    assert ended.code == 0
    assert [line.rsplit("=", 1)[1] for line in ended.out.splitlines()] == [*"12345"]
    assert "clicks group 0  generation-published" in ended.out
    assert [request.query.get("after") for request in streamed(server)] == [["0"], ["2"], ["4"]]
    assert {tuple(request.query["supervisor"]) for request in server.requests} == {("clicks",)}
    assert ended.err.count("nothing is known") == 0


def test_it_begins_behind_what_was_newest_and_says_if_nothing_is_known(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Fault: a connection lost before the first event began again at whatever was newest then."""
    replies = iter([Reply("retry: 1000\n\n", content_type=SSE), Reply(event(8), content_type=SSE)])

    def answer(request: Request) -> Reply:
        return next(replies) if request.path.endswith("/stream") else listed(7)

    server.ask = answer
    ended = tidegate("supervisor", "watch", "clikcs", "-n", "1")

    assert ended.code == 0
    assert [request.query["after"] for request in streamed(server)] == [["7"], ["7"]]
    assert "nothing is known of [clikcs]" in ended.err


def test_an_address_where_nobody_answers_is_passed_over(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: the first address of several ended it."""
    monkeypatch.setenv("TIDEGATE_OVERLORDS", f"http://127.0.0.1:1,{server.url}")
    server.on("GET", "/api/v1/events", listed(0))
    server.on("GET", "/api/v1/events/stream", Reply(event(1), content_type=SSE))

    ended = tidegate("supervisor", "watch", "-n", "1")

    assert (ended.code, "clicks group 0" in ended.out) == (0, True)


def test_a_hole_is_told_and_json_is_a_line_each(tidegate: Tidegate, server: Overlord) -> None:
    hole = 'id: 7\nevent: trimmed\ndata: {"from":3,"to":7}\n\n'
    server.on("GET", "/api/v1/events", listed(8))
    server.on("GET", "/api/v1/events/stream", Reply(hole + event(8), content_type=SSE))

    ended = tidegate("supervisor", "watch", "--after", "2", "-n", "2")
    assert "events 3 to 7 are gone" in ended.out
    ended = tidegate("supervisor", "watch", "--after", "2", "-n", "2", "-o", "json")
    assert [json.loads(line)["type"] for line in ended.out.splitlines()] == [
        *("trimmed", "generation-published"),
    ]


def test_a_refusal_ends_it(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", "/api/v1/events", listed(3))
    server.refuse("GET", "/api/v1/events/stream", 400, detail="the newest event is 3")
    ended = tidegate("supervisor", "watch", "--after", "9")
    assert ended.code == 1
    assert "the newest event is 3" in ended.err


def test_a_stream_is_asked_for_with_the_token(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_TOKEN", "tdg_x")
    server.on("GET", "/api/v1/events", listed(0))
    server.on("GET", "/api/v1/events/stream", Reply(event(1), content_type=SSE))

    assert tidegate("supervisor", "watch", "-n", "1").code == 0
    assert [request.authorization for request in streamed(server)] == ["Bearer tdg_x"]
