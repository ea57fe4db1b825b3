"""An overlord takes requests, an executor runs the flows on topics, and the tables show it."""

from pathlib import Path
from typing import cast

import httpx
import pytest

from supervisor.dev.broker import Broker
from tests.integration.executors.processes import Executors
from tests.integration.oracle import spec
from tests.integration.overlords import Overlord, Overlords, silent_broker
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process]

Json = dict[str, object]
TABLE = "on-topics"
CHILD: Json = {"flow": "child", "steps": [{"name": "one", "type": "noop"}]}


def _flow(wanted: Json) -> Json:
    running: Json = {"type": "waitFor", "supervisor": TABLE, "state": "running", "after": ["put"]}
    return {
        "flow": "move",
        "steps": [
            {"name": "put", "type": "apply", "spec": wanted},
            {"name": "runs", **running},
            {"name": "more", "type": "subflow", "flow": "child", "after": ["runs"]},
            {"name": "ok", "type": "approve", "question": "over?", "after": ["more"]},
            {"name": "over", "type": "terminate", "supervisor": TABLE, "after": ["ok"]},
        ],
    }


def _get(overlord: Overlord, execution: str) -> Json:
    answer = overlord.http.get(f"/api/v1/executions/{execution}").raise_for_status()
    return cast("Json", answer.json())


def _states(overlord: Overlord) -> dict[str, str]:
    runs = cast("list[Json]", _get(overlord, "move:one")["runs"])
    return {str(run["step"]): str(run["state"]) for run in runs}


def test_a_flow_with_verbs_of_the_product_runs_on_topics(broker: Broker, tmp_path: Path) -> None:
    executors = Executors(tmp_path, broker.bootstrap)
    env = {
        "TIDEGATE_EXECUTIONS_URL": executors.url,
        "TIDEGATE_EXECUTIONS_KAFKA": broker.bootstrap,
        "TIDEGATE_EXECUTIONS_PREFIX": executors.prefix,
    }
    overlords = Overlords(tmp_path, f"sqlite:///{tmp_path}/metadata.db", env)
    with silent_broker() as address, overlords, executors:
        leader = overlords.start_leader()
        for flow in (CHILD, _flow({**spec(address, TABLE)})):
            answer = leader.http.post("/api/v1/flows", json=flow)
            assert answer.is_success, answer.text
        started = leader.http.post("/api/v1/flows/move/executions", json={"key": "one"})
        assert started.status_code == httpx.codes.ACCEPTED, "also while there is no executor"
        executors.start(TIDEGATE_OVERLORDS=leader.url)

        wait_until(lambda: _states(leader).get("ok") == "WAITING")
        runs = {
            str(run["step"]): run for run in cast("list[Json]", _get(leader, "move:one")["runs"])
        }
        path = f"/api/v1/executions/move:one/runs/{runs['ok']['id']}/answer"
        answer = leader.http.post(path, json={"yes": True})
        assert answer.is_success, answer.text
        wait_until(lambda: _get(leader, "move:one")["state"] == "SUCCESS")

        assert set(_states(leader).values()) == {"SUCCESS"}
        listed = leader.http.get("/api/v1/executions").raise_for_status().json()["executions"]
        assert [one["state"] for one in listed] == ["SUCCESS", "SUCCESS"]
        gone = leader.http.get(f"/druid/indexer/v1/supervisor/{TABLE}")
        assert gone.status_code == httpx.codes.NOT_FOUND
        wait_until(lambda: len(executors.ends()) == len(listed))
