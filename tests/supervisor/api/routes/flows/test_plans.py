"""Plans by the API: of a document, and of the newest version of a flow; nothing is changed."""

from typing import cast

from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import TOPIC, Json

_FLOW: Json = {
    "flow": "day",
    "inputs": [{"name": "day", "type": "date"}],
    "steps": [
        {"name": "pack", "type": "compact", "table": TOPIC},
        {
            "name": "tell",
            "type": "http",
            "url": "http://h/${ inputs.day }/${ steps.pack.files }",
            "after": ["pack"],
        },
        {"name": "ok", "type": "approve", "question": "${ inputs.day }?", "after": ["tell"]},
    ],
}
_INPUTS: Json = {"day": "2026-11-25"}


def _steps(plan: Json) -> dict[str, Json]:
    return {str(step["step"]): step for step in cast("list[Json]", plan["steps"])}


def test_a_document_is_planned_and_not_stored(running: Running) -> None:
    running.world.start()
    answer = running.world.post("/api/v1/flows/plan", {"flow": _FLOW, "inputs": _INPUTS})

    plan: Json = answer.raise_for_status().json()
    assert (plan["flow"], plan["inputs"], plan["leftOut"]) == ("day", _INPUTS, 0)
    steps = _steps(plan)
    assert steps["tell"]["dependsOn"] == ["pack"]
    assert steps["ok"]["effect"] == {"question": "2026-11-25?"}
    assert steps["pack"]["error"] is None
    assert running.world.get("/api/v1/flows/day", 404)


def test_the_newest_version_of_a_flow_is_planned(running: Running) -> None:
    running.apply(**_FLOW)
    running.apply(**{**_FLOW, "steps": [{"name": "pack", "type": "compact", "table": "none"}]})
    answer = running.world.post("/api/v1/flows/day/plan", {"inputs": _INPUTS})

    [pack] = _steps(answer.raise_for_status().json()).values()
    assert cast("Json", pack["error"])["code"] == "data-source-not-found"
    assert pack["effect"] is None


def test_what_cannot_be_planned_is_refused(running: Running) -> None:
    running.apply(**_FLOW)
    for path, body, status in (
        ("day/plan", {}, 400),
        ("day/plan", {"inputs": {"days": 1}}, 400),
        ("plan", {"flow": {**_FLOW, "steps": []}, "inputs": _INPUTS}, 400),
        ("plan", {"inputs": _INPUTS}, 400),
        ("none/plan", {}, 404),
    ):
        answer = running.world.post(f"/api/v1/flows/{path}", body)
        assert answer.status_code == status, answer.text
