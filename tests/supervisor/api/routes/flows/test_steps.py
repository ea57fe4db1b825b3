"""Calls of executors: verbs of the product act at the leader, once a key, and what comes of it."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event
from typing import cast

from fastapi import FastAPI, Request

from supervisor.api.routes.flows import steps
from supervisor.core.executions.inputs import Fails, Outcome, Stopped, Succeeded, Waits
from supervisor.core.executions.records import CALL_FORM, OUTCOME_FORM
from supervisor.core.executions.reduced import StepCall
from supervisor.services.services import Services
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json, World

_PATH = "/internal/v1/steps"
_ASKS = {"name": "ok", "type": "approve", "question": "go on?"}
Verb = Callable[[StepCall, Event], Outcome]


def _parts(world: World) -> Services:
    return cast("Services", cast("FastAPI", world.client.app).state.parts)


def _make(world: World, **verbs: Verb) -> None:
    """Let the overlord have these verbs and no others."""
    parts = _parts(world)
    state = cast("FastAPI", world.client.app).state
    state.parts = replace(parts, flow_services=parts.flow_services.with_verbs(verbs))


def _call(execution: str, verb: str = "compact") -> Json:
    call = StepCall(execution, "0a", "s0", 1, 1, verb, {"table": "t"})
    return {"call": json.loads(CALL_FORM.write(call))}


def _started(running: Running) -> str:
    running.apply(flow="f", steps=[_ASKS])
    return running.start("f")


def test_a_verb_acts_and_the_answer_is_what_came_of_it(running: Running) -> None:
    calls: list[StepCall] = []
    outcomes: list[Outcome] = [Succeeded({"files": 3}), Waits("its files", {"n": 1})]

    def compact(call: StepCall, cancel: Event) -> Outcome:
        assert not cancel.is_set()
        calls.append(call)
        return outcomes[len(calls) - 1]

    execution = _started(running)
    _make(running.world, compact=compact)

    for wanted in outcomes:
        answer = running.world.post(_PATH, _call(execution)).raise_for_status()
        assert OUTCOME_FORM.read(json.dumps(answer.json()["outcome"]).encode()) == wanted
    assert [(each.execution, each.step, each.arguments) for each in calls] == [
        (execution, "s0", {"table": "t"})
    ] * 2


def test_what_the_overlord_cannot_make_is_refused(running: Running) -> None:
    execution = _started(running)
    _make(running.world, noop=lambda _, __: Succeeded())

    unknown = running.world.post(_PATH, _call(execution, "dance"))
    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/step-verb-not-found")
    assert unknown.json()["detail"] == "there is no verb dance; known: noop"

    unreadable = running.world.post(_PATH, {"call": {"v": 1, "execution": 5}})
    assert (unreadable.status_code, unreadable.json()["errors"][0]["pointer"]) == (400, "/call")

    newer = running.world.post(_PATH, {"call": {**cast("Json", _call(execution)["call"]), "v": 99}})
    assert newer.status_code == 503, "the executor asks again, until the overlord is upgraded too"


def test_a_call_waits_until_the_tables_know_its_execution(running: Running) -> None:
    """Case: the child of a `subflow` step begins on the topics, and its owner is read here."""
    _make(running.world, compact=lambda _, __: Succeeded())

    answer = running.world.post(_PATH, _call("f:child"))

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")
    assert "f:child is not in the tables yet" in answer.json()["detail"]


def test_what_a_deposed_leader_could_not_do_is_no_failure_of_the_step(running: Running) -> None:
    execution = _started(running)
    leadership = running.world.leadership

    def compact(_: StepCall, __: Event) -> Outcome:
        leadership.lost()
        return Fails(cast("object", None))  # type: ignore[arg-type]  # it gets nowhere

    _make(running.world, compact=compact)

    answer = running.world.post(_PATH, _call(execution))

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


@dataclass
class _Left:
    """A request whose executor has gone."""

    app: FastAPI

    async def is_disconnected(self) -> bool:
        """Say so."""
        return True


def test_who_leaves_before_the_answer_cancels_the_call() -> None:
    """Goal: a proof that takes minutes ends with the execution that wanted it."""
    cancel = Event()

    def make() -> Outcome:
        assert cancel.wait(60)
        return Stopped()

    request = cast("Request", _Left(FastAPI()))

    assert asyncio.run(steps._in_thread(make, request, cancel)) == Stopped()


def test_a_follower_names_the_leader_as_it_does_for_workers(follower: World) -> None:
    leader = "http://127.0.0.1:1"
    with follower.store.writing() as tx:
        tx.lease.take(None, "two", leader)
    follower.leadership.step()

    answer = follower.post(_PATH, _call("f:one"))

    assert (answer.status_code, answer.json()["leader"]) == (503, leader)
