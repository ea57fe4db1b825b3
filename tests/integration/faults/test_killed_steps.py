"""A flow whose overlord is killed in the middle of its steps: the next one goes on, and acts once.

Slow: a lease has to run out in real time after each kill.
"""

from pathlib import Path
from typing import cast

import httpx
import pytest

from tests.integration.oracle import spec
from tests.integration.overlords import Overlord, Overlords, silent_broker
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.long]

Json = dict[str, object]
TABLE = "killed-steps"
EXECUTION = "move:one"
KILLS = (
    "apply:committed:kill",
    "suspend:in-transaction:kill",
    "suspend:committed:kill",
    "terminate:committed:kill",
)
"""Of one overlord after the other: an effect that did not come about, and those whose answer and
report are lost."""


def _flow(wanted: Json) -> Json:
    running: Json = {"type": "waitFor", "supervisor": TABLE, "state": "running", "after": ["put"]}
    return {
        "flow": "move",
        "steps": [
            {"name": "put", "type": "apply", "spec": wanted},
            {"name": "runs", **running},
            {"name": "rest", "type": "suspend", "supervisor": TABLE, "after": ["runs"]},
            {"name": "over", "type": "terminate", "supervisor": TABLE, "after": ["rest"]},
        ],
    }


def _execution(overlord: Overlord) -> Json:
    answer = overlord.http.get(f"/api/v1/executions/{EXECUTION}").raise_for_status()
    return cast("Json", answer.json())


def _ends_well(overlord: Overlord) -> bool:
    execution = _execution(overlord)
    assert execution["state"] in {"RUNNING", "SUCCESS"}, execution
    return execution["state"] == "SUCCESS"


def test_a_flow_goes_on_after_each_kill_and_each_step_acts_once(tmp_path: Path) -> None:
    """Goal: nobody has to do anything, and no verb is carried out twice."""
    url, short = f"sqlite:///{tmp_path}/metadata.db", {"TIDEGATE_LEASE_TTL": "PT3S"}
    overlords = Overlords(tmp_path, url, short)
    with silent_broker() as address, overlords:
        wanted: Json = {**spec(address, TABLE)}
        for number, kill in enumerate(KILLS):
            overlord = overlords.start(TIDEGATE_FAILPOINTS=kill)
            if number == 0:
                wait_until(overlord.leads)
                overlord.http.post("/api/v1/flows", json=_flow(wanted)).raise_for_status()
                overlord.http.post("/api/v1/flows/move/executions", json={"key": "one"})
            wait_until(lambda child=overlord.child: not child.alive())  # type: ignore[misc]
            assert overlord.child.exit_code() == -9
        last = overlords.start()
        wait_until(last.leads)
        wait_until(lambda: _ends_well(last))

        path = f"/api/v1/operations?supervisor={TABLE}"
        rows = last.http.get(path).raise_for_status().json()["operations"]
        assert sorted(row["kind"] for row in rows) == ["apply", "suspend", "terminate"]
        runs = {str(run["step"]): run for run in _runs(last)}
        attempts = {step: len(cast("list[object]", run["attempts"])) for step, run in runs.items()}
        assert attempts == {"put": 2, "runs": 1, "rest": 3, "over": 2}
        begun = {cast("Json", run["outputs"]).get("operation") for run in runs.values()}
        assert begun - {None} == {row["id"] for row in rows}
        assert last.http.get(f"/druid/indexer/v1/supervisor/{TABLE}").status_code == (
            httpx.codes.NOT_FOUND
        )


def _runs(overlord: Overlord) -> list[Json]:
    return cast("list[Json]", _execution(overlord)["runs"])
