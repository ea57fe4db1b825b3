"""Each change of a flow or of an execution is audited, with its reason, before it is done."""

from collections.abc import Mapping
from urllib.parse import quote

import pytest

from tests.supervisor.api.http.test_reasons import FLOWS, REASON
from tests.supervisor.api.routes.cluster.test_audit import entries
from tests.supervisor.api.routes.flows.conftest import Running

STEP = {"name": "pack", "type": "noop"}
ASKS = {"name": "ok", "type": "approve", "question": "go on?", "after": ["pack"]}
FAILS = {"name": "bad", "type": "http", "url": "http://127.0.0.1/", "onError": "pause"}
"""No runner here makes `http` calls, so that it waits for a person."""
NIGHTLY = {"name": "nightly", "type": "schedule", "cron": "15 4 * * *"}


def _begun(running: Running, step: Mapping[str, object]) -> dict[str, str]:
    """Start an execution that waits for a person at one step; return the names of its route."""
    running.apply(flow="day", steps=[step] if step is FAILS else [STEP, step])
    execution = running.start("day")
    run = running.run_of(execution, str(step["name"]))
    return {"flow": "day", "execution": execution, "run": run, "version": "1"}


def _names(running: Running, path: str) -> dict[str, str]:
    if "/triggers/" in path:
        running.apply(
            flow="day", steps=[STEP], triggers=[{**NIGHTLY, "paused": path.endswith("/resume")}]
        )
        return {"flow": "day", "trigger": "nightly"}
    named = _begun(running, FAILS if path.endswith(("/retry", "/skip")) else ASKS)
    if path.endswith("/resume"):
        running.world.post(f"/api/v1/executions/{named['execution']}/pause").raise_for_status()
    if path.endswith("/rerun"):
        running.world.post(f"/api/v1/executions/{named['execution']}/kill").raise_for_status()
        running.wait_for(named["execution"], "KILLED")
    if path.endswith("/rollback"):
        running.apply(flow="day", steps=[STEP])
    return named


BODIES: dict[str, object] = {
    "flows": {"flow": "other", "steps": [STEP]},
    "executions": {},
    "rerun": {},
    "answer": {"yes": True},
}


@pytest.mark.parametrize("route", [pytest.param(each, id=" ".join(each)) for each in sorted(FLOWS)])
def test_a_reason_arrives_in_the_audit_log(running: Running, route: tuple[str, str]) -> None:
    method, path = route
    address = path.format(**_names(running, path))
    world = running.world
    known = len(entries(world, "?limit=1000"))

    answer = world.client.request(
        method.upper(),
        f"{address}?reason={quote(REASON)}",
        json=BODIES.get(path.rsplit("/", 1)[1]),
        headers={"X-Druid-Author": "ada"},
    )

    assert answer.status_code < 300, answer.text
    every = entries(world, "?limit=1000")
    [added] = every[: len(every) - known]
    assert (added["actor"], added["reason"]) == ("ada", REASON)
