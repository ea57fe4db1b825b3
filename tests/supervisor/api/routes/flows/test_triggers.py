"""Triggers by the API: listed, paused, resumed, fired by hand."""

from datetime import timedelta
from typing import cast

from fastapi import FastAPI

from supervisor.chores.flows.triggers import TriggerTimes
from supervisor.services.services import Services
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json

STEP = {"name": "pack", "type": "noop"}
HOURLY = {"name": "hourly", "type": "schedule", "cron": "0 * * * *"}
_PLACE = "/api/v1/flows/day/triggers"


def _one(running: Running) -> Json:
    [trigger] = cast("list[Json]", running.world.get_object(_PLACE)["triggers"])
    return trigger


def _tick(running: Running) -> None:
    app = running.world.client.app
    assert isinstance(app, FastAPI)
    parts: Services = app.state.parts
    TriggerTimes(parts.triggers.engine).run_once()


def test_a_schedule_fires_is_paused_resumed_and_fired_by_hand(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], triggers=[HOURLY])
    first = _one(running)
    assert (first["type"], first["paused"], first["lastAt"]) == ("schedule", False, None)
    assert str(first["nextAt"]).endswith(":00:00Z")
    running.world.clock.advance(timedelta(hours=3))
    _tick(running)
    fired = _one(running)
    assert (fired["fired"], fired["passed"]) == (1, 2)
    execution = running.wait_for(str(fired["lastExecution"]), "SUCCESS")
    about = cast("Json", execution["trigger"])
    assert (about["type"], about["name"], about["passed"]) == ("schedule", "hourly", 2)

    paused = running.world.post(f"{_PLACE}/hourly/pause?reason=quiet", {}).json()
    assert (paused["paused"], paused["pausedBy"], paused["nextAt"]) == (True, "anonymous", None)
    running.world.clock.advance(timedelta(hours=3))
    _tick(running)
    assert _one(running)["fired"] == 1
    by_hand = running.world.post(f"{_PLACE}/hourly/fire", {})
    assert by_hand.status_code == 202
    running.wait_for(by_hand.json()["execution"], "SUCCESS")
    assert running.world.post(f"{_PLACE}/hourly/pause", {}).json()["pausedBy"] == "anonymous"
    assert running.world.post(f"{_PLACE}/hourly/resume", {}).json()["nextAt"]
    _tick(running)
    assert _one(running)["fired"] == 2
    audit = running.world.get_object("/api/v1/audit?supervisor=day")["entries"]
    actions = [entry["action"] for entry in cast("list[Json]", audit)]
    assert {"pause-trigger", "fire-trigger", "resume-trigger"} <= set(actions)


def test_what_is_not_there_is_not_found_and_a_deleted_flow_has_no_trigger(
    running: Running,
) -> None:
    running.apply(flow="day", steps=[STEP], triggers=[HOURLY])
    for verb in ("pause", "resume", "fire"):
        missing = running.world.post(f"{_PLACE}/daily/{verb}", {})
        assert (missing.status_code, missing.json()["type"]) == (404, "/problems/trigger-not-found")
        assert "hourly" in missing.json()["detail"]
    running.world.client.delete("/api/v1/flows/day").raise_for_status()
    assert running.world.get_object(_PLACE, 404)["type"] == "/problems/flow-not-found"


def test_executions_are_listed_by_their_trigger(running: Running) -> None:
    nightly, hourly = ({**HOURLY, "name": name} for name in ("nightly", "hourly"))
    running.apply(flow="day", steps=[STEP], triggers=[nightly, hourly])
    running.apply(flow="week", steps=[STEP], triggers=[nightly])
    running.start("day")
    fired = [
        running.world.post(f"/api/v1/flows/{place}/fire").json()["execution"]
        for place in ("day/triggers/nightly", "day/triggers/hourly", "week/triggers/nightly")
    ]

    def listed(query: str) -> set[str]:
        page = running.world.get_object(f"/api/v1/executions?{query}")["executions"]
        return {str(each["id"]) for each in cast("list[Json]", page)}

    assert listed("trigger=nightly&flow=day") == {fired[0]}
    assert listed("trigger=nightly") == {fired[0], fired[2]}
    assert listed("trigger=none") == set()
