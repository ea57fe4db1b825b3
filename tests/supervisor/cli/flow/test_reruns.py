"""`tidegate execution rerun`: what is sent, what is printed, and its exit codes."""

import json
from typing import cast

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

_PATH = "/api/v1/executions/day:mon/rerun"
_AT = "2026-11-29T10:00:00Z"


def execution(state: str, **more: object) -> dict[str, object]:
    """Return an execution as the API has it."""
    return {
        "id": "day:again",
        "flow": "day",
        "flowVersion": 2,
        "state": state,
        "createdAt": _AT,
        "labels": {},
        "error": "",
        "version": 3,
        "runs": [],
        "waitsFor": [],
        **more,
    }


def test_a_dry_run_says_what_is_kept(tidegate: Tidegate, server: Overlord) -> None:
    plan = {"flowVersion": 2, "keeps": ["pack", "prove"], "goesOn": ["all"], "runs": ["send"]}
    server.on("GET", _PATH, Reply({**plan, "changed": ["prove"]}))

    ended = tidegate("execution", "rerun", "day:mon", "--from", "send", "--latest", "--dry-run")

    assert ended.code == 0
    assert ended.out.splitlines() == [
        "keeps pack, prove with their outputs; runs send",
        "goes on in all, and keeps what is done inside",
        "version 2 has changed prove: needs --force",
    ]
    assert server.requests[-1].query == {"latest": ["true"], "from": ["send"]}


@pytest.mark.parametrize(("state", "code"), [("SUCCESS", 0), ("FAILED", 1), ("RUNNING", 4)])
def test_a_rerun_that_is_waited_for_ends_by_its_state(
    tidegate: Tidegate, server: Overlord, state: str, code: int
) -> None:
    server.on("POST", _PATH, Reply(execution("RUNNING"), 202))
    server.on("GET", "/api/v1/executions/day:again", Reply(execution(state)))

    ended = tidegate(
        "execution", "rerun", "day:mon", "--wait", "0.6", "--key", "again", "-o", "json"
    )

    assert ended.code == code
    assert cast("dict[str, object]", ended.json())["state"] == state
    sent = next(each for each in server.requests if each.method == "POST")
    body = {"from": None, "latest": False, "force": False, "key": "again"}
    assert json.loads(sent.body) == body
