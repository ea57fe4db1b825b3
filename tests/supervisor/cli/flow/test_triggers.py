"""`tidegate flow triggers` and `trigger`: what they print, and what they ask."""

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.answers import TRIGGER
from tests.supervisor.cli.overlord import Overlord, Reply

_PLACE = "/api/v1/flows/day/triggers"
_SEEN = {
    **TRIGGER,
    "name": "seen",
    "type": "published",
    "definition": {"table": "orders", "mode": "coalesced"},
    "nextAt": None,
    "lastAt": "2026-11-25T03:15:00Z",
    "lastExecution": "day:seen:g1.1",
    "waiting": 3,
    "problem": "",
}
_DOOR = {
    **_SEEN,
    "name": "door",
    "type": "webhook",
    "definition": {"auth": "hmac"},
    "paused": True,
    "pausedBy": "anna",
}


def test_triggers_are_listed_with_what_keeps_them(tidegate: Tidegate, server: Overlord) -> None:
    server.on("GET", _PLACE, Reply({"triggers": [_DOOR, TRIGGER, _SEEN]}))

    ended = tidegate("flow", "triggers", "day")

    assert ended.code == 0
    for words in (
        "15 4 * * * Europe/Zurich",
        "2026-11-26 03:15 UTC",
        "at publishes of orders, coalesced",
        "3 publishes wait",
        "by webhook, hmac",
        "paused by anna",
        "nightly: /inputs/day: day is required",
    ):
        assert words in ended.out
    assert tidegate("flow", "triggers", "day", "-o", "name").out == "door\nnightly\nseen\n"
    assert '"passed": 2' in tidegate("flow", "triggers", "day", "-o", "json").out


@pytest.mark.parametrize(
    ("option", "verb", "answer", "says"),
    [
        ("--pause", "pause", _DOOR, "day door: paused"),
        ("--resume", "resume", TRIGGER, "day door: resumed"),
        ("--now", "fire", {"execution": "day:door:~now"}, "day:door:~now: started"),
    ],
)
def test_a_trigger_is_switched_or_fired(
    tidegate: Tidegate,
    server: Overlord,
    option: str,
    verb: str,
    answer: dict[str, object],
    says: str,
) -> None:
    server.on("POST", f"{_PLACE}/door/{verb}", Reply(answer))

    ended = tidegate("flow", "trigger", "day", "door", option, "--reason", "quiet")

    assert (ended.code, says in ended.out) == (0, True)
    assert server.requests[-1].query == {"reason": ["quiet"]}


@pytest.mark.parametrize("options", [(), ("--pause", "--now")])
def test_one_thing_is_done_at_a_time(
    tidegate: Tidegate, server: Overlord, options: tuple[str, ...]
) -> None:
    ended = tidegate("flow", "trigger", "day", "door", *options)
    assert ended.code != 0
    assert "--pause, --resume, --now" in ended.err
    assert server.requests == []
