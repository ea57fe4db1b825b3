"""`tidegate execution watch`: the events in order, and an end with the execution."""

import re

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.test_reruns import execution
from tests.supervisor.cli.overlord import Overlord, Reply, Request

_PATH = "/api/v1/executions/day:again"


def _event(number: int, name: str, **about: object) -> dict[str, object]:
    at = f"2026-11-29T10:00:0{number}Z"
    return {"number": number, "at": at, "name": name, "run": None, "about": about}


_EVENTS = [
    _event(1, "execution-started", flow="day", version=2),
    _event(2, "step-ended", step="pack", state="SUCCESS"),
    _event(3, "execution-ended", state="FAILED", failures=[]),
]


@pytest.mark.parametrize(("state", "code"), [("SUCCESS", 0), ("FAILED", 1), ("KILLED", 1)])
def test_it_ends_with_the_execution_and_each_event_is_printed_once(
    tidegate: Tidegate, server: Overlord, state: str, code: int
) -> None:
    looks: list[int] = []

    def answer(asked: Request) -> Reply:
        if not asked.path.endswith("/events"):
            return Reply(execution(state))
        after = int(asked.query["after"][0])
        looks.append(after)
        shown = [each for each in _EVENTS if int(str(each["number"])) > after]
        return Reply({"events": shown[:1], "next": None})

    server.ask = answer

    ended = tidegate("execution", "watch", "day:again")

    assert ended.code == code
    assert ended.out.splitlines() == [
        "10:00:01  execution-started  flow=day  version=2",
        "10:00:02  step-ended  pack  state=SUCCESS",
        "10:00:03  execution-ended  state=FAILED",
    ]
    assert looks == [0, 1, 2]


def test_what_is_waited_for_is_shown_with_for_how_long(
    tidegate: Tidegate, server: Overlord
) -> None:
    wait: dict[str, object] = {"until": None, "run": None, "holders": []}
    waits = [
        {**wait, "kind": "answer", "what": "Go on?", "since": "2026-11-29T10:00:00Z", "step": "ok"},
        {**wait, "kind": "slot", "what": "a slot", "since": "2999-01-01T00:00:00Z", "step": None},
    ]  # the second one by a clock that is ahead
    server.on("GET", _PATH, Reply(execution("RUNNING", waitsFor=waits)))

    shown = tidegate("execution", "get", "day:again").out.splitlines()[-2:]

    assert re.fullmatch(r"ok: waits for Go on\? \(for \d+[dhms]\w*\)", shown[0])
    assert shown[1] == "waits for a slot (for 0s)"


def test_a_watch_that_lasts_too_long_says_so_by_its_code(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", f"{_PATH}/events", Reply({"events": _EVENTS[:1], "next": None}))
    server.on("GET", _PATH, Reply(execution("RUNNING")))
    assert tidegate("execution", "watch", "day:again", "--wait", "0").code == 4


def test_one_that_is_not_there_is_named_at_once(tidegate: Tidegate, server: Overlord) -> None:
    server.refuse("GET", f"{_PATH}/events", 404, title="There is no such execution")
    ended = tidegate("execution", "watch", "day:again")
    assert (ended.code, ended.out) == (1, "")
    assert "no such execution" in ended.err
