"""Outputs and errors of steps that would move a cursor, paint, or turn a line round."""

import json

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.answers import EXECUTION, LINE
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/executions/day:mon"
HOSTILE = "\x1b[2J\x9b31m\x07\x7f\u202e[red]gone[/red]"
OBEYED = ("\x1b", "\x9b", "\x07", "\x7f", "\u202e")
GIVEN = EXECUTION | {
    "outputs": {HOSTILE: HOSTILE, "lines": "a\nb"},
    "inputs": {"x": HOSTILE},
    "labels": {"team": HOSTILE},
    "error": HOSTILE,
    "waitsFor": [{"what": HOSTILE, "since": "2026-01-05T12:00:00Z"}],
}


@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "name"])
@pytest.mark.parametrize("verb", ["get", "list"])
def test_what_a_step_has_given_is_shown_and_not_obeyed(
    tidegate: Tidegate, server: Overlord, verb: str, output: str
) -> None:
    server.on("GET", PATH, Reply(GIVEN))
    lines = {"executions": [LINE | {"error": HOSTILE, "labels": {"team": HOSTILE}}]}
    server.on("GET", "/api/v1/executions", Reply(lines))
    words = ("day:mon",) if verb == "get" else ()

    ended = tidegate("execution", verb, *words, "-o", output)

    assert ended.code == 0
    shown = ended.out + ended.err
    assert [sign for sign in OBEYED if sign in shown] == []
    if output in {"table", "json"} and verb == "get":
        assert "[red]gone[/red]" in shown


def test_json_stays_what_was_answered(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", PATH, Reply(GIVEN))

    ended = tidegate("execution", "get", "day:mon", "-o", "json")

    assert json.loads(ended.out)["outputs"] == GIVEN["outputs"]
