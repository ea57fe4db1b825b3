"""An execution that is followed: its events once each and in order, until its end."""

import httpx
import pytest

from supervisor.services.flows import execution_feed
from tests.supervisor.api.routes.cluster.test_events import events_of, serving
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json
from tests.waiting import wait_until

_PACK: Json = {"name": "pack", "type": "noop"}
_ASKS: Json = {"name": "ok", "type": "approve", "question": "go on?", "after": ["pack"]}


def _path(execution: str) -> str:
    return f"/api/v1/executions/{execution}/events/stream"


def _numbers(events: list[Json]) -> list[int]:
    return [int(str(event["id"])) for event in events]


def test_e17_it_goes_on_behind_the_last_event_and_ends_with_the_execution(running: Running) -> None:
    running.apply(flow="ask", steps=[_PACK, _ASKS])
    execution = running.start("ask")
    wait_until(lambda: any(run["step"] == "ok" for run in _runs(running, execution)))
    with serving(running.world) as served:
        url = f"{served.url}{_path(execution)}"
        with httpx.stream("GET", url) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            events = events_of(answer.iter_lines())
            first = [next(events) for _ in range(3)]
        assert _numbers(first) == [1, 2, 3]
        with httpx.stream("GET", url, headers={"Last-Event-ID": "3"}) as answer:
            events = events_of(answer.iter_lines())
            begin = next(events)
            running.world.post(f"/api/v1/executions/{execution}/kill").raise_for_status()
            rest = [begin, *events]
        assert httpx.get(url, headers={"Last-Event-ID": str(rest[-1]["id"])}).status_code == 204
    listed = running.world.get_object(f"/api/v1/executions/{execution}/events")["events"]
    assert [event["data"] for event in [*first, *rest]] == listed
    assert rest[-1]["event"] == "execution-ended"


def _runs(running: Running, execution: str) -> list[Json]:
    runs = running.get(execution)["runs"]
    assert isinstance(runs, list)
    return runs


def test_one_that_has_ended_is_given_whole(running: Running) -> None:
    running.apply(flow="day", steps=[_PACK])
    execution = running.start("day")
    running.wait_for(execution, "SUCCESS")
    answer = running.world.client.get(_path(execution))
    events = list(events_of(iter(answer.text.splitlines())))
    assert [event["event"] for event in (events[0], events[-1])] == [
        "execution-started",
        "execution-ended",
    ]
    behind = running.world.client.get(f"{_path(execution)}?after={len(events) + 1}")
    assert behind.status_code == 400


def test_e17_one_that_is_not_there_is_refused_before_any_event(running: Running) -> None:
    assert running.world.get_object(_path("day:none"), 404)["type"] == (
        "/problems/execution-not-found"
    )
    wrong = running.world.client.get(_path("day:none"), headers={"Last-Event-ID": "x"})
    assert wrong.status_code == 400


def test_e17_too_many_followers_are_refused_and_a_place_is_given_back(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution_feed, "FOLLOWERS_MAX", 1)
    running.apply(flow="ask", steps=[_ASKS | {"after": []}])
    execution = running.start("ask")
    with serving(running.world) as served:
        url = f"{served.url}{_path(execution)}"
        with httpx.stream("GET", url) as answer:
            events = events_of(answer.iter_lines())  # kept: its end would be that of the stream
            next(events)
            refused = httpx.get(url)
            assert refused.status_code == 503
            assert refused.json()["type"] == "/problems/too-many-listeners"
        running.world.post(f"/api/v1/executions/{execution}/kill").raise_for_status()
        wait_until(lambda: httpx.get(url).status_code == 200)
