"""`tidegate flow diff`: what is asked, what is printed, and its exit codes."""

import json

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

_PATH = "/api/v1/flows/day/diff"
_DIFFERENCES = [
    {"place": "steps/pack/retry/attempts", "old": 3, "new": 5},
    {"place": "timeout", "old": None, "new": "PT1H"},
]


def _reply(differences: object) -> Reply:
    return Reply({"flow": "day", "old": 1, "new": 2, "differences": differences})


def test_each_place_is_a_line_and_a_difference_ends_with_one(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("GET", _PATH, _reply(_DIFFERENCES))

    ended = tidegate("flow", "diff", "day", "--from", "1", "--to", "2")

    assert ended.code == 1
    lines = [line.split() for line in ended.out.splitlines()]
    assert lines[0] == ["PLACE", "VERSION", "1", "VERSION", "2"]
    assert lines[1:] == [["steps/pack/retry/attempts", "3", "5"], ["timeout", '"PT1H"']]
    assert server.requests[-1].query == {"from": ["1"], "to": ["2"]}


@pytest.mark.parametrize("output", ["table", "json"])
def test_equal_versions_end_with_zero(tidegate: Tidegate, server: Overlord, output: str) -> None:
    server.on("GET", _PATH, _reply([]))

    ended = tidegate("flow", "diff", "day", "-o", output)

    assert ended.code == 0
    assert "are equal" in ended.err
    if output == "json":
        assert json.loads(ended.out)["differences"] == []
