"""`tidegate flow list` and `get`: when triggers fired and fire next, and why one did not."""

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.flow.answers import STORED, TRIGGER
from tests.supervisor.cli.overlord import Overlord, Reply

_FLOWS = "/api/v1/flows"
_WITH_TRIGGERS = {
    **STORED,
    "document": {**STORED["document"], "triggers": [{"name": "nightly", "type": "schedule"}]},
}
_PAUSED = {
    **TRIGGER,
    "name": "door",
    "type": "webhook",
    "definition": {"auth": "hmac"},
    "paused": True,
    "pausedBy": "anna",
    "nextAt": None,
    "lastAt": "2026-11-25T03:15:00Z",
    "problem": "",
    "problemAt": None,
}


def _listed(server: Overlord, *triggers: object) -> None:
    plain = {**STORED, "flow": "plain"}
    server.on("GET", _FLOWS, Reply({"flows": [_WITH_TRIGGERS, plain], "next": None}))
    server.on("GET", f"{_FLOWS}/day", Reply(_WITH_TRIGGERS))
    server.on("GET", f"{_FLOWS}/day/triggers", Reply({"triggers": list(triggers)}))


def test_a_list_says_when_flows_fire_next_and_why_they_did_not(
    tidegate: Tidegate, server: Overlord
) -> None:
    _listed(server, _PAUSED, TRIGGER)

    ended = tidegate("flow", "list")

    assert ended.code == 0, ended.err
    header, day, plain, *lines = ended.out.splitlines()
    assert "FIRED" in header
    assert "FIRES NEXT" in header
    assert " ago" in day
    assert "2026-11-26 03:15 UTC" in day
    assert "UTC" not in plain
    assert lines[0] == "day door: paused by anna"
    assert lines[1].startswith("day nightly: did not fire ")
    assert lines[1].endswith(": /inputs/day: day is required")
    asked = [request.path for request in server.requests]
    assert asked == [_FLOWS, f"{_FLOWS}/day/triggers"], "a flow without triggers costs no request"


def test_a_flow_of_which_each_trigger_is_paused_says_so(
    tidegate: Tidegate, server: Overlord
) -> None:
    _listed(server, _PAUSED)

    day = tidegate("flow", "list").out.splitlines()[1]

    assert "paused by anna" in day


def test_publishes_that_wait_are_counted(tidegate: Tidegate, server: Overlord) -> None:
    seen = {**TRIGGER, "nextAt": None, "waiting": 1, "problem": ""}
    _listed(server, seen, {**seen, "name": "other", "waiting": 2})

    assert "3 publishes wait" in tidegate("flow", "list").out


def test_data_and_names_are_those_of_the_flows_alone(tidegate: Tidegate, server: Overlord) -> None:
    _listed(server, TRIGGER)

    assert tidegate("flow", "list", "-o", "json").json() == [
        _WITH_TRIGGERS,
        {**STORED, "flow": "plain"},
    ]
    assert tidegate("flow", "list", "-o", "name").out == "day\nplain\n"
    assert {request.path for request in server.requests} == {_FLOWS}


def test_a_flow_is_printed_with_its_triggers_beside_it(
    tidegate: Tidegate, server: Overlord
) -> None:
    """Goal: `flow get day > day.json` is still the document and nothing else."""
    _listed(server, _PAUSED, TRIGGER)

    ended = tidegate("flow", "get", "day")

    assert ended.json() == _WITH_TRIGGERS["document"]
    door, nightly = ended.err.splitlines()
    assert door.startswith("door: by webhook, hmac; last fired ")
    assert door.endswith(" ago; paused by anna")
    assert nightly.startswith(
        "nightly: 15 4 * * * Europe/Zurich; has not fired yet; "
        "fires next at 2026-11-26 03:15 UTC; did not fire "
    )
    assert nightly.endswith(": /inputs/day: day is required")


def test_data_of_a_flow_has_nothing_beside_it(tidegate: Tidegate, server: Overlord) -> None:
    _listed(server, TRIGGER)

    ended = tidegate("flow", "get", "day", "-o", "json")

    assert ended.json() == _WITH_TRIGGERS["document"]
    assert ended.err == ""


def test_a_flow_that_was_deleted_meanwhile_is_listed_as_it_was(
    tidegate: Tidegate, server: Overlord
) -> None:
    _listed(server)
    server.refuse("GET", f"{_FLOWS}/day/triggers", 404, title="Not found")

    ended = tidegate("flow", "list")

    assert (ended.code, ended.err) == (0, "")
    assert "day" in ended.out
