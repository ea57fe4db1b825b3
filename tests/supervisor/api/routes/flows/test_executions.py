"""Executions by the API: started once per key, run to their end, waited for, killed, answered."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import pytest

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import ExecutionInput, KillIt
from supervisor.core.values.permissions import ANYONE, Actor
from supervisor.executions.engine import StoredEngine, Worked
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json

STEP = {"name": "pack", "type": "noop"}
ASKS = {"name": "ok", "type": "approve", "question": "go on?", "after": ["pack"]}


def _runs(execution: Json) -> dict[str, Json]:
    return {str(run["step"]): run for run in cast("list[Json]", execution["runs"])}


def test_an_execution_runs_to_its_end_and_gives_its_outputs(running: Running) -> None:
    running.apply(
        flow="day",
        inputs=[{"name": "day", "type": "date"}],
        steps=[STEP],
        outputs={"rows": "${ steps.pack.rows }", "day": "${ inputs.day }"},
    )
    answer = running.world.post("/api/v1/flows/day/executions", {"inputs": {"day": "2026-11-25"}})
    assert answer.status_code == 202
    whole = running.wait_for(answer.json()["id"], "SUCCESS")

    assert whole["outputs"] == {"rows": 3, "day": "2026-11-25"}
    assert whole["waitsFor"] == []
    [attempt] = cast("list[Json]", _runs(whole)["pack"]["attempts"])
    assert (attempt["runner"], attempt["state"]) == ("here", "SUCCESS")
    events = running.world.get_object(f"/api/v1/executions/{whole['id']}/events")["events"]
    named = [event["name"] for event in cast("list[Json]", events)]
    assert (named[0], named[-1]) == ("execution-started", "execution-ended")


def test_a_start_with_the_same_key_is_one_execution(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], inputs=[{"name": "n", "type": "integer"}])
    first = running.world.post("/api/v1/flows/day/executions", {"key": "mon", "inputs": {"n": 1}})
    again = running.world.post("/api/v1/flows/day/executions", {"key": "mon", "inputs": {"n": 1}})
    other = running.world.post("/api/v1/flows/day/executions", {"key": "mon", "inputs": {"n": 2}})

    assert (first.status_code, again.status_code, other.status_code) == (202, 200, 409)
    assert first.json()["id"] == again.json()["id"] == "day:mon"
    assert other.json()["type"] == "/problems/execution-conflict"
    listed = running.world.get_object("/api/v1/executions?flow=day")["executions"]
    assert [each["id"] for each in cast("list[Json]", listed)] == ["day:mon"]


def test_other_labels_with_the_same_key_are_refused(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], labels={"team": "a"})
    place = "/api/v1/flows/day/executions"
    first = {"key": "mon", "labels": {"why": "test"}}
    assert running.world.post(place, first).status_code == 202
    running.apply(flow="day", steps=[STEP], labels={"team": "b"})

    assert running.world.post(place, first).status_code == 200  # as it was bound then
    for labels in ({}, {"why": "other"}, {"why": "test", "and": "more"}):
        answer = running.world.post(place, {"key": "mon", "labels": labels})
        assert (answer.status_code, answer.json()["type"]) == (
            409,
            "/problems/execution-conflict",
        )


def test_what_is_waited_for_is_said_and_an_answer_lets_it_go_on(running: Running) -> None:
    running.apply(flow="ask", steps=[STEP, ASKS])
    execution = running.start("ask")
    run = running.run_of(execution, "ok")
    [wait] = cast("list[Json]", running.get(execution)["waitsFor"])
    assert (wait["step"], wait["what"]) == ("ok", "go on?")
    path = f"/api/v1/executions/{execution}/runs/{run}/answer"

    answered = running.world.post(f"{path}?reason=fine", {"yes": True, "comment": "fine"})

    assert answered.status_code == 200, answered.text
    assert running.wait_for(execution, "SUCCESS")["waitsFor"] == []
    refused = running.world.post(path, {"yes": True})
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/step-refuses")
    audit = running.world.get_object(f"/api/v1/audit?supervisor={execution}")["entries"]
    actions = [entry["action"] for entry in cast("list[Json]", audit)]
    assert {"start-execution", "answer-step"} <= set(actions)


@pytest.mark.parametrize("force", ["", "?force=true"])
def test_a_kill_ends_what_waits_and_a_second_one_changes_nothing(
    running: Running, force: str
) -> None:
    running.apply(flow="ask", steps=[STEP, ASKS])
    execution = running.start("ask")
    running.world.post(f"/api/v1/executions/{execution}/kill{force}").raise_for_status()
    killed = running.wait_for(execution, "KILLED")
    again = running.world.post(f"/api/v1/executions/{execution}/kill")
    assert (again.status_code, again.json()["version"]) == (200, killed["version"])


def test_a_kill_of_what_is_killed_changes_nothing(running: Running) -> None:
    """E10: three kills are one."""
    rests = {"name": "rest", "type": "sleep", "duration": "PT1H"}
    last = {"name": "ok", "type": "approve", "question": "tidied up?"}
    running.apply(flow="rest", steps=[rests], **{"finally": [last]})
    execution = running.start("rest")
    running.wait_for(execution, "RUNNING")
    place = f"/api/v1/executions/{execution}/kill"

    first, *more = [running.world.post(place) for _ in range(3)]

    assert (first.status_code, first.json()["state"]) == (200, "KILLING")
    assert [(each.status_code, each.json()["version"]) for each in more] == [
        (200, first.json()["version"])
    ] * 2
    forced = running.world.post(f"{place}?force=true")
    assert (forced.status_code, forced.json()["state"]) == (200, "KILLED")


@dataclass
class _SomebodyWasFaster(StoredEngine):
    """An engine to which each input comes when another one of somebody else was worked in."""

    engine: StoredEngine
    first: KillIt

    def work(
        self,
        inputs: Sequence[tuple[str, ExecutionInput]] = (),
        starts: Sequence[Execution] = (),
    ) -> Worked:
        self.engine.work([(execution, self.first) for execution, _ in inputs])
        return self.engine.work(inputs, starts)


@pytest.mark.parametrize(("force", "state"), [(True, "KILLED"), (False, "KILLING")])
def test_a_kill_that_comes_second_changes_nothing(
    running: Running, *, force: bool, state: str
) -> None:
    rests = {"name": "rest", "type": "sleep", "duration": "PT1H"}
    last = {"name": "ok", "type": "approve", "question": "tidied up?"}
    running.apply(flow="rest", steps=[rests], **{"finally": [last]})
    execution = running.start("rest")
    running.wait_for(execution, "RUNNING")
    verbs = running.executions
    assert isinstance(verbs.engine, StoredEngine)
    raced = replace(verbs, engine=_SomebodyWasFaster(verbs.engine, KillIt("bo", force=force)))

    assert raced.kill(execution, Actor.of(ANYONE, ""), force=False).state == state


def test_a_paused_one_begins_nothing_until_it_goes_on(running: Running) -> None:
    sleeps = {"name": "rest", "type": "sleep", "duration": "PT1H"}
    running.apply(flow="rest", steps=[sleeps, {**STEP, "after": ["rest"]}])
    execution = running.start("rest")
    running.wait_for(execution, "RUNNING")
    paused = running.world.post(f"/api/v1/executions/{execution}/pause").json()
    assert paused["state"] == "PAUSED"
    twice = running.world.post(f"/api/v1/executions/{execution}/pause")
    assert twice.status_code == 409
    resumed = running.world.post(f"/api/v1/executions/{execution}/resume").json()
    assert resumed["state"] == "RUNNING"


def test_what_is_not_there_is_said(running: Running) -> None:
    world = running.world
    for path in ("/api/v1/executions/day:none", "/api/v1/executions/day:none/events"):
        assert world.get_object(path, 404)["type"] == "/problems/execution-not-found"
    started = world.post("/api/v1/flows/none/executions", {})
    assert (started.status_code, started.json()["type"]) == (404, "/problems/flow-not-found")


def test_a_missing_input_starts_nothing(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], inputs=[{"name": "day", "type": "date"}])
    refused = running.world.post("/api/v1/flows/day/executions", {"inputs": {"dya": "2026-11-25"}})
    assert refused.status_code == 400
    pointers = {error["pointer"]: error["hint"] for error in refused.json()["errors"]}
    assert pointers["/inputs/dya"] == "did you mean day?"
    assert "/inputs/day" in pointers
    assert running.world.get_object("/api/v1/executions")["executions"] == []


def test_a_list_is_read_by_pages_without_a_hole(running: Running) -> None:
    running.apply(flow="day", steps=[STEP])
    started = [running.start("day", key=f"k{n}") for n in range(7)]
    seen: list[str] = []
    path = "/api/v1/executions?limit=3"
    while True:
        page = running.world.get_object(path)
        seen += [str(each["id"]) for each in cast("list[Json]", page["executions"])]
        if page["next"] is None:
            break
        path = f"/api/v1/executions?limit=3&cursor={page['next']}"
    assert sorted(seen) == sorted(started)
    bad = running.world.client.get("/api/v1/executions?cursor=abc")
    assert bad.status_code == 400
