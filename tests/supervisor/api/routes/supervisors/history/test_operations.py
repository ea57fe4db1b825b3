"""Operations: each verb that takes its time says when it is done."""

from tasks.contract.messages import TaskPhase
from tests.supervisor.api.agents import Agent
from tests.supervisor.api.world import (
    SUPERVISORS,
    TASKS,
    TOPIC,
    Json,
    World,
    spec_document,
    task_ids,
)

OPERATIONS = "/api/v1/operations"
ID = "Tidegate-Operation"


def operation(world: World, operation_id: str) -> Json:
    return world.get_object(f"{OPERATIONS}/{operation_id}")


def finish(world: World, agents: list[Agent]) -> None:
    world.settle()
    world.round(agents)
    for agent in agents:
        for task_id, held in sorted(agent.held.items()):
            if held.phase is TaskPhase.PUBLISHING:  # a successor that reads has nothing yet
                agent.publish(task_id)
    world.settle()
    world.round(agents)


def test_a_suspend_is_done_when_the_last_range_has_published(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=1)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    response = world.client.post(
        f"{SUPERVISORS}/{TOPIC}/suspend", headers={"X-Druid-Author": "ada"}
    )

    now = operation(world, response.headers[ID])
    assert (now["kind"], now["supervisor"], now["askedBy"]) == ("suspend", TOPIC, "ada")
    assert (now["state"], now["finishedAt"]) == ("running", None)
    assert "group 0" in str(now["waitsFor"])
    assert "operationId" not in response.json(), "a spec that is posted again has no such field"
    finish(world, agents)

    then = operation(world, response.headers[ID])
    assert (then["state"], then["waitsFor"]) == ("done", "")
    assert then["finishedAt"] is not None
    world.post(f"{SUPERVISORS}/{TOPIC}/resume")
    assert operation(world, response.headers[ID]) == then


def test_a_suspend_that_is_taken_back_is_superseded_and_the_resume_runs(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    first = world.post(f"{SUPERVISORS}/{TOPIC}/suspend").headers[ID]
    second = world.post(f"{SUPERVISORS}/{TOPIC}/resume").headers[ID]
    finish(world, agents)

    assert operation(world, first)["state"] == "superseded"
    assert operation(world, second)["state"] == "done"


def test_an_apply_tells_its_operation_unless_nothing_was_stored(world: World) -> None:
    world.start()
    first = operation(world, "op_1")
    assert (first["kind"], first["state"], first["specVersion"]) == ("apply", "done", 1)
    again = world.post(SUPERVISORS, spec_document())
    assert ID not in again.headers
    assert "operationId" not in again.json()
    changed = world.post(SUPERVISORS, spec_document(replicas=1))
    assert changed.json()["operationId"] == changed.headers[ID]


def test_a_handoff_is_done_when_the_range_is_published(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    path = f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff"
    operation_id = world.post(path, {"taskGroupIds": [0]}).headers[ID]
    assert operation(world, operation_id)["state"] == "running"
    finish(world, agents)
    now = operation(world, operation_id)
    assert (now["state"], len(now["ranges"])) == ("done", 1)  # type: ignore[arg-type]  # a list


def test_a_terminate_and_a_reset_tell_theirs_in_the_answer(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    dry = world.post(f"{SUPERVISORS}/{TOPIC}/reset?dryRun=true")
    assert (dry.json()["operationId"], ID in dry.headers) == (None, False)
    reset = world.post(f"{SUPERVISORS}/{TOPIC}/reset")
    assert operation(world, reset.json()["operationId"])["state"] == "done"
    world.settle()
    world.round(agents)
    ended = world.post(f"{SUPERVISORS}/{TOPIC}/terminate")
    assert ended.json() == {"id": TOPIC, "operationId": ended.headers[ID]}
    finish(world, agents)
    assert operation(world, ended.headers[ID])["state"] == "done"


def test_a_terminate_lists_what_was_given_up_unpublished(world: World) -> None:
    """Source: P19."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    ended = world.post(f"{SUPERVISORS}/{TOPIC}/terminate").headers[ID]
    world.settle()
    world.round(agents)
    assert operation(world, ended)["unpublished"] == []
    [(_, task_id)] = task_ids(agents)
    assert world.post(f"{TASKS}/task/{task_id}/shutdown").status_code == 200
    world.settle()

    now = operation(world, ended)
    lost = {"generation": f"{TOPIC}:1", "group": 0, "start": {f"{TOPIC}:0": 0}}
    assert now["unpublished"] == [{**lost, "end": {f"{TOPIC}:0": 5}}]
    assert (now["state"], now["ranges"]) == ("done", [f"{TOPIC}:1"])


def test_they_are_listed_newest_first_and_unknown_ones_are_not_found(world: World) -> None:
    world.start()
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    page = world.get_object(f"{OPERATIONS}?limit=1&supervisor={TOPIC}")
    rest = world.get_object(f"{OPERATIONS}?limit=1&cursor={page['next']}")
    kinds = [each["kind"] for part in (page, rest) for each in part["operations"]]  # type: ignore[attr-defined]
    assert (kinds, rest["next"]) == (["suspend", "apply"], None)
    for unknown in ("op_99", "17", "op_x"):
        assert world.client.get(f"{OPERATIONS}/{unknown}").status_code == 404
