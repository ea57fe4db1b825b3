"""Verbs on executions that wait: by their exit code they say how it ended."""

import json

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.answers import EXECUTION
from tests.supervisor.cli.overlord import Overlord, Reply

_PLACE = "/api/v1/executions/day:mon"
_RUN: dict[str, object] = {
    "id": "a1",
    "step": "ok",
    "item": None,
    "state": "WAITING",
    "createdAt": "2026-01-05T12:00:00Z",
    "endedAt": None,
    "attempts": [],
    "artifacts": [],
    "waitsFor": {"kind": "answer", "since": "2026-01-05T12:00:00Z"},
}


def _in(state: str, *runs: object) -> Reply:
    return Reply({**EXECUTION, "state": state, "runs": list(runs)})


@pytest.mark.parametrize(
    ("command", "path", "first"),
    [
        (("approve", "day:mon"), "/runs/a1/answer", "RUNNING"),
        (("retry", "day:mon", "ok"), "/runs/a1/retry", "RUNNING"),
        (("skip", "day:mon", "ok"), "/runs/a1/skip", "RUNNING"),
        (("kill", "day:mon"), "/kill", "KILLING"),
    ],
)
@pytest.mark.parametrize(
    ("last", "wait", "code", "of_kill"),
    [
        ("SUCCESS", "30", 0, 0),
        ("FAILED", "30", 1, 0),
        ("RUNNING", "0", 4, 4),
        ("FAILED", None, 0, 0),
    ],
)
def test_a_verb_waits_for_the_end(
    tidegate: Tidegate,
    server: Overlord,
    *,
    command: tuple[str, ...],
    path: str,
    first: str,
    last: str,
    wait: str | None,
    code: int,
    of_kill: int,
) -> None:
    server.on("POST", f"{_PLACE}{path}", _in(first, _RUN))
    server.on("GET", _PLACE, _in("RUNNING", _RUN), _in(last, _RUN))
    if command[0] == "kill":
        server.on("GET", _PLACE, _in(last, _RUN))

    ended = tidegate("execution", *command, *(("--wait", wait) if wait else ()))

    assert ended.code == (of_kill if command[0] == "kill" else code), ended.err
    assert (last if wait == "30" else first) in ended.out


def test_an_execution_gets_labels(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", "/api/v1/flows/day/executions", _in("CREATED"))

    labels = ("--label", "team=data", "--label", "why=a=b")
    assert tidegate("execution", "run", "day", *labels).code == 0

    assert json.loads(server.requests[-1].body)["labels"] == {"team": "data", "why": "a=b"}
    assert tidegate("execution", "run", "day", "--label", "team").code == 2
    assert tidegate("execution", "run", "day", "--label", "a=1", "--label", "a=2").code == 2
