"""Webhooks: who knows a trigger's secret starts an execution, and nobody else learns a thing."""

import hashlib
import hmac
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import httpx
import pytest

from supervisor.adapters.executions.database import migrate_executions
from supervisor.core.values.permissions import Role
from tests.sqlite_memory import empty_file
from tests.supervisor.api.guarded import a_guarded_world, bearer, grants_of
from tests.supervisor.api.http.test_followers import follow
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json
from tests.supervisor.cli.overlord import Reply, overlord

STEP = {"name": "pack", "type": "noop"}
HOURLY = {"name": "hourly", "type": "schedule", "cron": "0 * * * *"}
SECRET, SECRET_TEXT = "TIDEGATE_SECRET_HOOK", "the-secret-of-this-hook"
HOOK = {"name": "door", "type": "webhook", "secret": SECRET}
INPUTS = [{"name": "day", "type": "date", "required": False}]
_PLACE = "/api/v1/flows/day/triggers"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, SECRET_TEXT)


def _one(running: Running) -> Json:
    [trigger] = cast("list[Json]", running.world.get_object(_PLACE)["triggers"])
    return trigger


def test_a_webhook_without_its_secret_is_not_applied(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = {"flow": "day", "steps": [STEP], "triggers": [HOOK]}
    monkeypatch.delenv(SECRET)
    refused = running.world.post("/api/v1/flows", flow)
    assert refused.status_code == 400
    [error] = refused.json()["errors"]
    assert error["pointer"] == "/triggers/0/secret"
    monkeypatch.setenv(SECRET, "x")
    running.apply(**flow)
    assert _one(running)["problem"] == ""
    monkeypatch.delenv(SECRET)
    assert SECRET in str(_one(running)["problem"])


def _send(running: Running, body: bytes = b"", **headers: str) -> httpx.Response:
    sent: httpx.Response = running.world.client.post(
        "/api/v1/hooks/day/door",
        content=body,
        headers={"Content-Type": "application/json", **headers},
    )
    return sent


def _signed(running: Running, body: bytes, late: timedelta = timedelta(0)) -> dict[str, str]:
    at = str(int((running.world.clock.now() - late).timestamp()))
    digest = hmac.new(b"the-secret-of-this-hook", f"{at}.".encode() + body, hashlib.sha256)
    return {
        "X-Tidegate-Timestamp": at,
        "X-Tidegate-Signature": f"sha256={digest.hexdigest()}",
    }


def test_a_signed_body_is_the_inputs_and_a_repeat_finds_the_execution(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], inputs=INPUTS, triggers=[HOOK])
    body = json.dumps({"day": "2026-11-25"}).encode()
    headers = _signed(running, body)

    first, again = _send(running, body, **headers), _send(running, body, **headers)

    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json() == again.json()
    execution = running.wait_for(first.json()["execution"], "SUCCESS")
    assert execution["inputs"] == {"day": "2026-11-25"}
    assert execution["trigger"] == {"type": "webhook", "name": "door"}
    keyed = [
        _send(running, content, **_signed(running, content), **{"Idempotency-Key": "k"})
        for content in (b"{}", b"{}", body)
    ]
    assert [each.status_code for each in keyed] == [202, 200, 409]
    wrong = json.dumps({"day": "soon"}).encode()
    assert _send(running, wrong, **_signed(running, wrong)).status_code == 400
    assert _send(running, b"[1]", **_signed(running, b"[1]")).status_code == 400
    assert _one(running)["fired"] == 2


def test_inputs_are_made_of_the_body_where_the_trigger_says_so(running: Running) -> None:
    hook = {**HOOK, "auth": "token", "inputs": {"day": "${ trigger.body.at.day }"}}
    running.apply(flow="day", steps=[STEP], inputs=INPUTS, triggers=[hook])
    token = {"X-Tidegate-Hook-Token": "the-secret-of-this-hook"}
    given = _send(running, json.dumps({"at": {"day": "2026-11-26"}}).encode(), **token)
    assert given.status_code == 202
    assert running.get(given.json()["execution"])["inputs"] == {"day": "2026-11-26"}
    assert _send(running, b"{}", **token).status_code == 409  # the expression has no value
    running.world.post(f"{_PLACE}/door/pause", {}).raise_for_status()
    assert _send(running, b"{}", **token).status_code == 409


def test_why_a_request_has_not_fired_stays_with_the_trigger(running: Running) -> None:
    hook = {**HOOK, "auth": "token", "inputs": {"day": "${ trigger.body.day }"}}
    running.apply(flow="day", steps=[STEP], inputs=INPUTS, triggers=[hook])
    token = {"X-Tidegate-Hook-Token": SECRET_TEXT}
    reasons = {
        b"{}": "the expression of the input day fails with what the request has sent",
        b'{"day": "hush"}': "the inputs do not fit: day is missing or does not fit",
        b"[1]": "the body of a request is no JSON object",
    }
    for number, (body, why) in enumerate(reasons.items(), start=1):
        assert _send(running, body, **token).status_code in {400, 409}
        seen = _one(running)
        assert (seen["passed"], seen["problem"], seen["fired"]) == (number, why, 0)
        assert seen["problemAt"] is not None
    running.world.post(f"{_PLACE}/door/pause", {}).raise_for_status()
    assert _send(running, b"{}", **token).status_code == 409
    assert (_one(running)["passed"], _one(running)["problem"]) == (4, "it is paused")
    running.world.post(f"{_PLACE}/door/resume", {}).raise_for_status()
    assert _send(running, b'{"day": "2026-11-25"}', **token).status_code == 202
    assert (_one(running)["passed"], _one(running)["problem"]) == (4, "")


def test_names_that_a_request_makes_up_are_not_kept(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], inputs=INPUTS, triggers=[HOOK])
    body = b'{"hush": 1}'
    assert _send(running, body, **_signed(running, body)).status_code == 400
    assert _one(running)["problem"] == "the inputs do not fit: names that are no inputs of day: 1"


def test_a_repeat_is_known_as_long_as_its_execution(running: Running) -> None:
    hook = {**HOOK, "auth": "token"}
    running.apply(flow="day", steps=[STEP], inputs=INPUTS, triggers=[hook])
    token = {"X-Tidegate-Hook-Token": SECRET_TEXT}
    first = _send(running, b"{}", **token, **{"Idempotency-Key": "k"})
    assert first.status_code == 202
    running.wait_for(first.json()["execution"], "SUCCESS")
    store, engine = running.executions.executions, running.executions.engine
    with store.working(1) as rows:  # as after many others
        [trigger] = rows.triggers.of_flow("day")
        rows.triggers.put(replace(trigger, numbered=trigger.numbered + 5_000))
    assert _send(running, b"{}", **token).status_code == 202

    again = _send(running, b"{}", **token, **{"Idempotency-Key": "k"})
    assert (again.status_code, again.json()) == (200, first.json())
    other = _send(running, b'{"day": "2026-11-25"}', **token, **{"Idempotency-Key": "k"})
    assert other.status_code == 409

    # A trigger that was away has forgotten the request; its execution says that it is a repeat.
    running.apply(flow="day", steps=[STEP], inputs=INPUTS)
    running.apply(flow="day", steps=[STEP], inputs=INPUTS, triggers=[hook])
    again = _send(running, b"{}", **token, **{"Idempotency-Key": "k"})
    assert (again.status_code, again.json()) == (200, first.json())
    assert _one(running)["fired"] == 0

    engine.purge(running.world.clock.now() + timedelta(days=1), 1)
    anew = _send(running, b"{}", **token, **{"Idempotency-Key": "k"})
    assert (anew.status_code, anew.json()) == (202, first.json())
    running.wait_for(first.json()["execution"], "SUCCESS")
    engine.purge(running.world.clock.now() + timedelta(days=1), 1)
    with store.reading() as seen:
        assert seen.triggers.firings("day", "door", 10) == []  # the key is free with it


def test_who_does_not_know_the_secret_is_told_nothing(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], inputs=INPUTS, triggers=[HOOK, HOURLY])
    body = b"{}"
    right = _signed(running, body)
    tries = {
        "none": {},
        "late": _signed(running, body, late=timedelta(minutes=6)),
        "other body": _signed(running, b'{"a": 1}'),
        "no time": {**right, "X-Tidegate-Timestamp": "now"},
        "a token": {"X-Tidegate-Hook-Token": "the-secret-of-this-hook"},
    }
    details = set()
    for number, (name, headers) in enumerate(tries.items()):
        if number % 2 == 0:
            running.world.clock.advance(timedelta(minutes=2))  # no address is locked out
        answer = _send(running, body, **headers)
        assert answer.status_code == 401, name
        details.add(answer.json()["detail"])
    for path in ("/api/v1/hooks/day/hourly", "/api/v1/hooks/day/nix", "/api/v1/hooks/nix/door"):
        answer = running.world.client.post(path, json={}, headers=_signed(running, body))
        assert answer.status_code == 401
        details.add(answer.json()["detail"])
    assert len(details) == 1
    assert running.world.get_object("/api/v1/executions")["executions"] == []


def test_an_address_that_fails_too_often_is_not_heard(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], triggers=[HOOK])
    answers = [_send(running, b"{}").status_code for _ in range(4)]
    assert answers == [401, 401, 401, 429]
    right = _send(running, b"{}", **_signed(running, b"{}"))
    assert (right.status_code, right.json()["type"]) == (429, "/problems/too-many-requests")
    assert int(right.headers["Retry-After"]) > 0
    running.world.clock.advance(timedelta(minutes=2))
    assert _send(running, b"{}", **_signed(running, b"{}")).status_code == 202


def test_a_body_is_bounded_and_json(running: Running) -> None:
    running.apply(flow="day", steps=[STEP], triggers=[HOOK])
    large = json.dumps({"day": "x" * 262_144}).encode()
    assert _send(running, large, **_signed(running, large)).status_code == 413
    form = _send(running, b"a=1", **{"Content-Type": "application/x-www-form-urlencoded"})
    assert form.status_code == 415


def test_where_callers_log_in_a_hook_needs_its_secret_and_nothing_else(tmp_path: Path) -> None:
    with a_guarded_world(tmp_path, empty_file(tmp_path / "empty.db")) as guarded:
        migrate_executions(f"sqlite:///{guarded.world.database.with_name('executions.db')}")
        boss = guarded.token("boss", *grants_of(Role.ADMIN, "*"))
        flow = {"flow": "day", "steps": [STEP], "triggers": [{**HOOK, "auth": "token"}]}
        assert guarded.ask("POST", "/api/v1/flows", boss, flow).status_code == 200
        place, token = "/api/v1/hooks/day/door", {"X-Tidegate-Hook-Token": SECRET_TEXT}
        client = guarded.world.client
        assert client.post(place, json={}, headers=token).status_code == 202
        # What proves a person proves nothing here, and what is no proof of one does no harm.
        assert client.post(place, json={}, headers=bearer(boss)).status_code == 401
        assert client.post(place, json={}, headers={**token, **bearer("x")}).status_code == 202
        listed = guarded.ask("GET", "/api/v1/flows/day/triggers", None)
        assert listed.status_code == 401


def test_a_follower_passes_on_what_is_right_and_refuses_the_rest_by_itself(
    running: Running,
) -> None:
    running.apply(flow="day", steps=[STEP], triggers=[HOOK])
    with overlord() as leader:
        follow(running.world, leader)
        leader.on("POST", "/api/v1/hooks/day/door", Reply({"execution": "day:door:1"}, 202))
        assert _send(running, b"{}").status_code == 401
        assert leader.requests == []
        signed = _signed(running, b'{"a": 1}')
        passed = _send(running, b'{"a": 1}', **signed)
    assert (passed.status_code, passed.json()) == (202, {"execution": "day:door:1"})
    [request] = leader.requests
    assert request.body == b'{"a": 1}'
    assert signed.items() <= {name: request.headers[name.lower()] for name in signed}.items()
