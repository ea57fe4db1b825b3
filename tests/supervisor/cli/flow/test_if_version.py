"""`--if-version`: what is sent, and what is refused before anything is sent."""

from pathlib import Path

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

_PLACE, _TAG = "/api/v1/flows/day", '"3-0123456789abcdef"'
_VERSION = {
    "flow": "day",
    "version": 3,
    "document": {"flow": "day"},
    "digest": "d",
    "author": "ann",
    "reason": None,
    "at": "2026-11-25T03:00:00Z",
}


@pytest.fixture
def flow(tmp_path: Path, server: Overlord) -> str:
    """A file with a flow, and an overlord that has its third version."""
    server.on("GET", _PLACE, Reply(_VERSION, headers={"ETag": _TAG}))
    applied = Reply({"flow": {**_VERSION, "version": 4}, "changed": True})
    server.on("POST", "/api/v1/flows", applied)
    server.on("POST", f"{_PLACE}/versions/1/rollback", applied)
    server.on("DELETE", _PLACE, Reply({**_VERSION, "version": 4, "document": None}))
    file = tmp_path / "day.json"
    file.write_text('{"flow": "day", "steps": []}')
    return str(file)


@pytest.mark.parametrize("verb", ["apply", "rollback", "delete"])
def test_the_tag_of_the_version_goes_with_the_change(
    tidegate: Tidegate, server: Overlord, flow: str, verb: str
) -> None:
    given = {"apply": [flow], "rollback": ["day", "1"], "delete": ["day", "--yes"]}[verb]

    ended = tidegate("flow", verb, *given, "--if-version", "3")

    assert ended.code == 0, ended.err
    assert server.requests[-1].headers["if-match"] == _TAG
    other = tidegate("flow", verb, *given, "--if-version", "2")
    assert other.code == 1
    assert "day is at version 3 now, and not at 2: nothing is done" in other.err
    assert "tidegate flow diff day --from 2" in other.err
    assert server.requests[-1].method == "GET"
    tidegate("flow", verb, *given)
    assert "if-match" not in server.requests[-1].headers


def test_nought_is_a_flow_that_is_not_there(
    tidegate: Tidegate, server: Overlord, flow: str
) -> None:
    assert tidegate("flow", "apply", flow, "--if-version", "0").code == 0
    [request] = server.requests
    assert request.headers["if-none-match"] == "*"
    assert tidegate("flow", "delete", "day", "--if-version", "0").code == 2


def test_one_version_is_not_that_of_two_flows(
    tidegate: Tidegate, server: Overlord, flow: str
) -> None:
    ended = tidegate("flow", "apply", flow, flow, "--if-version", "3")
    assert ended.code == 1
    assert "apply them one by one" in ended.err
    assert server.requests == []


def test_an_overlord_without_tags_is_named(tidegate: Tidegate, server: Overlord, flow: str) -> None:
    server.on("GET", _PLACE, Reply(_VERSION))
    ended = tidegate("flow", "apply", flow, "--if-version", "3")
    assert ended.code == 1
    assert "needs a newer overlord" in ended.err
