"""Reruns by the API: what is kept, once per key, and what is refused."""

from typing import cast

import pytest

from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json

_PACK: Json = {"name": "pack", "type": "noop"}
_FAILS: Json = {"name": "send", "type": "fail", "message": "no", "after": ["pack"]}
_SENDS: Json = {"name": "send", "type": "set", "values": {"n": "${ steps.pack.rows + 1 }"}}
_OUT = {"n": "${ steps.send.n }"}


@pytest.fixture
def failed(running: Running) -> str:
    """The id of an execution that has failed in its second step."""
    running.apply(flow="day", steps=[_PACK, _FAILS])
    execution = running.start("day", key="mon", labels={"team": "a"})
    running.wait_for(execution, "FAILED")
    return execution


def _rerun(running: Running, execution: str, status: int = 202, /, **wanted: object) -> Json:
    answer = running.world.post(f"/api/v1/executions/{execution}/rerun", wanted)
    assert answer.status_code == status, answer.text
    rerun: Json = answer.json()
    return rerun


def _runs(execution: Json) -> dict[str, Json]:
    return {str(run["step"]): run for run in cast("list[Json]", execution["runs"])}


def test_a_rerun_by_the_newest_version_keeps_what_was_done(running: Running, failed: str) -> None:
    running.apply(flow="day", steps=[_PACK, {**_SENDS, "after": ["pack"]}], outputs=_OUT)
    path = f"/api/v1/executions/{failed}/rerun"
    plan = running.world.get_object(f"{path}?latest=true")
    assert plan == {
        "flowVersion": 2,
        "keeps": ["pack"],
        "goesOn": [],
        "runs": ["send"],
        "changed": [],
    }

    rerun = _rerun(running, failed, latest=True, key="again")

    whole = running.wait_for("day:again", "SUCCESS")
    assert (whole["outputs"], whole["flowVersion"]) == ({"n": 4}, 2)
    assert (whole["rerunOf"], whole["labels"]) == (failed, {"team": "a"})
    runs = _runs(whole)
    assert (runs["pack"]["kept"], runs["pack"]["attempts"]) == (True, [])
    assert not runs["send"]["kept"]
    again = _rerun(running, failed, 200, latest=True, key="again")
    assert again["id"] == rerun["id"]
    assert running.get(failed)["state"] == "FAILED"


def test_a_rerun_by_its_own_version_ignores_newer_ones(running: Running, failed: str) -> None:
    running.apply(flow="day", steps=[_PACK])
    rerun = _rerun(running, failed)
    whole = running.wait_for(str(rerun["id"]), "FAILED")
    assert whole["flowVersion"] == 1
    assert _runs(whole)["pack"]["kept"]


def test_a_kept_step_that_is_another_one_has_to_be_forced(running: Running, failed: str) -> None:
    other = {"name": "pack", "type": "set", "values": {"rows": 7}}
    running.apply(flow="day", steps=[other, {**_SENDS, "after": ["pack"]}], outputs=_OUT)
    plan = running.world.get_object(f"/api/v1/executions/{failed}/rerun?latest=true")
    assert plan["changed"] == ["pack"]

    refused = _rerun(running, failed, 409, latest=True)
    assert refused["type"] == "/problems/rerun-refused"
    assert "pack" in str(refused["detail"])
    forced = _rerun(running, failed, latest=True, force=True)
    assert running.wait_for(str(forced["id"]), "SUCCESS")["outputs"] == {"n": 4}
    begun = _rerun(running, failed, 202, **{"from": "pack", "latest": True})
    assert running.wait_for(str(begun["id"]), "SUCCESS")["outputs"] == {"n": 8}


def test_what_cannot_be_rerun_is_refused(running: Running, failed: str) -> None:
    wrong = _rerun(running, failed, 400, **{"from": "sned"})
    assert cast("list[Json]", wrong["errors"])[0]["hint"] == "did you mean send?"
    assert _rerun(running, "day:none", 404)["type"] == "/problems/execution-not-found"
    assert _rerun(running, failed, 409, key="mon")["type"] == "/problems/execution-conflict"
    running.apply(flow="ask", steps=[{"name": "ok", "type": "approve", "question": "go on?"}])
    live = running.start("ask")
    assert "has not ended" in str(_rerun(running, live, 409)["detail"])
    running.apply(flow="well", steps=[_PACK])
    done = running.start("well")
    running.wait_for(done, "SUCCESS")
    assert "name the step" in str(_rerun(running, done, 409)["detail"])
    first = _rerun(running, done, 202, **{"from": "pack"})
    running.wait_for(str(first["id"]), "SUCCESS")


def test_a_batch_is_begun_anew_with_its_whole(running: Running) -> None:
    days = {"name": "days", "type": "forEach", "items": [1, 2, 3], "batch": 2, "steps": [_PACK]}
    running.apply(flow="many", steps=[days])
    whole = running.start("many")
    assert running.wait_for(whole, "SUCCESS")["state"] == "SUCCESS"

    listed = running.world.get_object(f"/api/v1/executions?parent={whole}")
    batches = [str(one["id"]) for one in cast("list[Json]", listed["executions"])]

    assert len(batches) == 2
    refused = _rerun(running, batches[0], 409)
    assert f"a batch of {whole}" in str(refused["detail"])


def test_a_newest_version_with_another_input_says_which(running: Running, failed: str) -> None:
    running.apply(flow="day", steps=[_PACK, _FAILS], inputs=[{"name": "day", "type": "date"}])
    refused = _rerun(running, failed, 400, latest=True)
    assert cast("list[Json]", refused["errors"])[0]["pointer"] == "/inputs/day"
    running.world.client.delete("/api/v1/flows/day").raise_for_status()
    assert _rerun(running, failed, 404)["type"] == "/problems/flow-not-found"
