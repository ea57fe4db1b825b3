"""The header Idempotency-Key of a start lives as long as the execution, not as a kept answer."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing

import httpx

from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json

_PACK: Json = {"name": "pack", "type": "noop"}


def _post(running: Running, path: str, body: Mapping[str, object], key: str) -> httpx.Response:
    # Answers to keys are forgotten after a day.
    with closing(sqlite3.connect(running.world.database)) as database, database:
        database.execute("DELETE FROM request_keys")
    headers = {"Idempotency-Key": key}
    answer: httpx.Response = running.world.client.post(
        f"/api/v1/{path}", json=body, headers=headers
    )
    return answer


def test_a_start_is_one_execution_after_its_answer_was_forgotten(running: Running) -> None:
    running.apply(flow="day", steps=[_PACK], inputs=[{"name": "n", "type": "integer"}])
    path = "flows/day/executions"
    body: Json = {"inputs": {"n": 1}}
    first = _post(running, path, body, "monday")
    again = _post(running, path, body, "monday")
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json()["id"] == again.json()["id"]
    other = _post(running, path, {"inputs": {"n": 2}}, "monday")
    assert (other.status_code, other.json()["type"]) == (409, "/problems/execution-conflict")
    assert _post(running, path, body, "tuesday").status_code == 202


def test_a_rerun_is_one_too(running: Running) -> None:
    running.apply(flow="day", steps=[_PACK])
    execution = running.start("day")
    running.wait_for(execution, "SUCCESS")
    path = f"executions/{execution}/rerun"
    first = _post(running, path, {"from": "pack"}, "again")
    again = _post(running, path, {"from": "pack"}, "again")
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json()["id"] == again.json()["id"]
    assert _post(running, path, {"from": "pack", "force": True}, "again").status_code == 409


def test_a_repeat_is_compared_by_what_its_caller_gives(running: Running) -> None:
    """Goal: a new default, a new input or the end of the flow makes no conflict of a repeat."""

    def apply(default: int, *more: Json) -> None:
        bound: Json = {"name": "n", "type": "integer", "default": default}
        running.apply(flow="day", steps=[_PACK], inputs=[bound, *more])

    apply(1)
    path = "flows/day/executions"
    first = _post(running, path, {}, "monday")
    apply(2)
    again = _post(running, path, {}, "monday")
    assert (first.status_code, again.status_code) == (202, 200), again.text
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["inputs"] == {"n": 1}
    assert _post(running, path, {"inputs": {"n": 2}}, "monday").status_code == 409

    apply(2, {"name": "who", "type": "string"})
    assert _post(running, path, {}, "monday").status_code == 200
    assert _post(running, path, {"inputs": {"who": "ann"}}, "monday").status_code == 409
    assert _post(running, path, {}, "tuesday").status_code == 400

    running.world.client.delete("/api/v1/flows/day").raise_for_status()
    assert _post(running, path, {}, "monday").status_code == 200
    assert _post(running, path, {}, "tuesday").status_code == 404
