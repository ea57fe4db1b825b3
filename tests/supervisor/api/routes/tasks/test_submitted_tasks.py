"""Tasks that people submit: posted, polled, stopped, as a scheduler does with Druid."""

from pathlib import Path

import pytest

from supervisor.core.values.permissions import Role
from tests.supervisor.api.agents import TOPIC
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.routes.tasks.submitted import (
    TASK,
    Json,
    read_to_the_end,
    status_of,
    task_document,
)
from tests.supervisor.api.world import TASKS, World, spec_document


def test_a_range_is_read_once_and_the_poll_ends_in_success(world: World) -> None:
    """Goal: what a scheduler's hook does, from the POST to SUCCESS."""
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 25)
    agents = [world.agent("w1")]
    agents[0].sync()
    answer = world.post(TASK, task_document(5, 20, id="nightly"))
    assert (answer.status_code, answer.json()) == (200, {"task": "nightly"})
    world.settle("nightly")
    assert status_of(world, "nightly")["status"] == "RUNNING"
    read_to_the_end(world, agents[0], "nightly")

    done = status_of(world, "nightly")

    assert (done["status"], done["statusCode"], done["errorMsg"]) == ("SUCCESS", "SUCCESS", None)
    assert done["dataSource"] == TOPIC
    assert world.get(f"{TASKS}/supervisor/nightly/health") == {"healthy": True}
    payload = world.get_object(f"{TASK}/nightly")["payload"]
    assert isinstance(payload, dict)
    assert payload["type"] == "index_kafka"
    assert world.post(f"{TASK}/nightly/shutdown").json() == {"task": "nightly"}
    assert status_of(world, "nightly")["status"] == "SUCCESS"


def test_it_is_told_by_its_id_and_lists_have_what_workers_run(world: World) -> None:
    """Goal: who polls several ids at once finds it; a list counts each range once."""
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 25)
    agent = world.agent("w1")
    agent.sync()
    assert world.post(TASK, task_document(5, 20, id="nightly")).status_code == 200
    assert world.post("/druid/indexer/v1/supervisor", spec_document()).status_code == 200
    world.settle("nightly")
    agent.sync()

    statuses = world.post(f"{TASKS}/taskStatus", ["nightly", "never", TOPIC]).json()
    rows = world.get_rows(f"{TASKS}/tasks?type=index_kafka")

    assert statuses.keys() == {"nightly"}
    assert (statuses["nightly"]["id"], statuses["nightly"]["status"]) == ("nightly", "RUNNING")
    mine = [row for row in rows if row["supervisorId"] == "nightly"]
    assert len(mine) == 1
    assert str(mine[0]["id"]).startswith("index_kafka_nightly_")


def test_one_that_is_stopped_has_failed(world: World) -> None:
    world.streams.create(TOPIC, 1)
    task_id = str(world.post(TASK, task_document()).json()["task"])
    assert task_id.startswith(f"index_kafka_{TOPIC}_")

    for _ in range(2):
        assert world.post(f"{TASK}/{task_id}/shutdown").json() == {"task": task_id}

    found = status_of(world, task_id)
    assert (found["status"], found["errorMsg"]) == ("FAILED", "Shutdown request from user")


@pytest.mark.parametrize("again", [task_document(id="nightly"), task_document(3, 4, id="nightly")])
def test_an_id_is_used_once(again: Json, world: World) -> None:
    """Source: Druid's answer to a second task of one id."""
    world.streams.create(TOPIC, 1)
    assert world.post(TASK, task_document(id="nightly")).status_code == 200

    answer = world.post(TASK, again)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Task[nightly] already exists")
    assert len(world.get_rows("/druid/indexer/v1/supervisor/nightly/history")) == 1


def test_what_is_wrong_is_told_as_for_a_spec(world: World) -> None:
    task = task_document()
    io = task["ioConfig"]
    assert isinstance(io, dict)
    io["inputFormt"] = io.pop("inputFormat")

    problem = world.post(TASK, task).json()

    assert problem["status"] == 400
    assert "/spec/ioConfig/inputFormt" in [error["pointer"] for error in problem["errors"]]
    assert world.get("/druid/indexer/v1/supervisor") == []


def test_a_supervisor_that_goes_on_is_notask_document(world: World) -> None:
    world.streams.create(TOPIC, 1)
    assert world.post("/druid/indexer/v1/supervisor", spec_document()).status_code == 200

    assert world.client.get(f"{TASK}/{TOPIC}/status").status_code == 404
    assert world.post(f"{TASK}/{TOPIC}/shutdown").status_code == 404
    assert world.get("/druid/indexer/v1/supervisor") == [TOPIC]


def test_other_tasks_are_refused_with_what_to_do(world: World) -> None:
    answer = world.post(TASK, {"type": "index_parallel", "spec": {}})
    assert answer.status_code == 400
    assert "POST /druid/indexer/v1/supervisor" in answer.json()["error"]


def test_a_submitted_task_belongs_to_its_table(tmp_path: Path, migrated: Path) -> None:
    """Goal: an operator of a table submits and stops there; elsewhere there is nothing to see."""
    with a_guarded_world(tmp_path, migrated) as guarded:
        viewer, operator, stranger = (
            guarded.token("viewer", *grants_of(Role.VIEWER)),
            guarded.token("operator", *grants_of(Role.OPERATOR)),
            guarded.token("stranger", *grants_of(Role.OPERATOR, FOREIGN)),
        )
        guarded.world.streams.create(TOPIC, 1)
        assert TOPIC == OWN, "the table of the task"
        for caller in (viewer, stranger):
            refused = guarded.ask("POST", TASK, caller, task_document(id="nightly"))
            assert refused.status_code == 403
        assert guarded.ask("POST", TASK, operator, task_document(id="nightly")).status_code == 200

        for path in (f"{TASK}/nightly", f"{TASK}/nightly/status"):
            assert guarded.ask("GET", path, viewer).status_code == 200
            assert guarded.ask("GET", path, stranger).status_code == 404
        stop = f"{TASK}/nightly/shutdown"
        statuses = [guarded.ask("POST", stop, caller).status_code for caller in (viewer, stranger)]
        assert statuses == [403, 404]
        assert guarded.ask("POST", stop, operator).status_code == 200
