"""What an execution waits for and since when, and an execution as a picture."""

from typing import cast

from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json
from tests.waiting import wait_until

_ASKS: Json = {"name": "ok", "type": "approve", "question": "go on?"}
_RESTS: Json = {"name": "rest", "type": "sleep", "duration": "PT1H"}
_PACK: Json = {"name": "pack", "type": "noop", "after": ["ok"]}


def _waits(running: Running, execution: str) -> list[Json]:
    return cast("list[Json]", running.get(execution)["waitsFor"])


def test_each_live_task_run_says_what_it_waits_for(running: Running) -> None:
    running.apply(flow="two", steps=[_ASKS, _RESTS])
    execution = running.start("two")
    waits = {str(wait["kind"]): wait for wait in _waits(running, execution)}
    assert set(waits) == {"answer", "time"}
    assert (waits["answer"]["what"], waits["answer"]["until"]) == ("go on?", None)
    assert (waits["time"]["step"], waits["time"]["until"] is None) == ("rest", False)
    running.world.post(f"/api/v1/executions/{execution}/pause").raise_for_status()
    kinds = [wait["kind"] for wait in _waits(running, execution)]
    assert sorted(map(str, kinds)) == ["answer", "resume", "time"]


def test_one_that_waits_for_a_slot_says_who_has_it(running: Running) -> None:
    running.apply(flow="one", steps=[_ASKS], concurrency={"limit": 1})
    first, second, third = (running.start("one", key=key) for key in ("a", "b", "c"))
    [wait] = _waits(running, third)
    assert (wait["kind"], wait["holders"], wait["since"]) == (
        "slot",
        [first],
        running.get(third)["createdAt"],
    )
    assert "1 of 1, and 1 wait before it" in str(wait["what"])
    running.world.post(f"/api/v1/executions/{first}/kill").raise_for_status()
    [wait] = _waits(running, third)
    assert wait["holders"] == [second]


def test_a_picture_has_the_steps_that_have_not_begun(running: Running) -> None:
    running.apply(flow="ask", steps=[_ASKS, _PACK])
    execution = running.start("ask")
    path = f"/api/v1/executions/{execution}/graph"
    graph = running.world.get_object(path)
    nodes = {str(node["step"]): node for node in cast("list[Json]", graph["nodes"])}
    assert (nodes["ok"]["state"], nodes["ok"]["type"]) == ("WAITING", "approve")
    assert (nodes["pack"]["state"], nodes["pack"]["runs"]) == (None, {})
    assert graph["edges"] == [{"before": "ok", "after": "pack"}]
    run = next(iter(_waits(running, execution)))["run"]
    running.world.post(f"/api/v1/executions/{execution}/runs/{run}/answer", {"yes": True})
    wait_until(lambda: running.get(execution)["state"] == "SUCCESS")
    assert running.world.get_object(path)["state"] == "SUCCESS"
    missing = running.world.get_object("/api/v1/executions/x:y/graph", 404)
    assert missing["type"] == "/problems/execution-not-found"


def test_lists_are_filtered_by_label_trigger_and_error(running: Running) -> None:
    fails = {"name": "send", "type": "fail", "message": "the server answered 502"}
    running.apply(flow="day", steps=[fails], labels={"team": "a"})
    running.apply(flow="ask", steps=[_ASKS])
    failed = running.start("day", labels={"day": "mon:1"})
    running.wait_for(failed, "FAILED")
    asking = running.start("ask")

    def listed(query: str) -> list[str]:
        page = running.world.get_object(f"/api/v1/executions?{query}")
        return [str(each["id"]) for each in cast("list[Json]", page["executions"])]

    assert listed("label=team:a&label=day:mon:1") == [failed]
    assert listed("label=team:a&label=day:tue") == []
    assert listed("error=ANSWERED%20502") == [failed]
    assert listed("startedBy=request&state=RUNNING") == [asking]
    assert listed("startedBy=schedule") == []
    assert running.world.client.get("/api/v1/executions?label=team").status_code == 400
