"""Druid's task routes answer as Druid does.  Source: answers of Druid 33.0.0."""

import pytest

from tasks.contract.messages import FailureCode, TaskPhase
from tests.supervisor.api.world import (
    SUPERVISORS,
    TASKS,
    TOPIC,
    World,
    post_json,
    spec_document,
    task_ids,
)

ROW = {
    "id",
    "groupId",
    "type",
    "createdTime",
    "queueInsertionTime",
    "statusCode",
    "status",
    "runnerStatusCode",
    "duration",
    "location",
    "dataSource",
    "errorMsg",
}


def test_a_running_task_is_a_row_with_its_workers_place(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)

    [row] = world.get_rows(f"{TASKS}/tasks")

    assert row.keys() >= ROW
    assert (row["id"], row["type"]) == (task_id, "index_kafka")
    assert row["groupId"] == f"index_kafka_{TOPIC}"
    assert (row["statusCode"], row["status"], row["runnerStatusCode"]) == ("RUNNING",) * 3
    assert (row["duration"], row["errorMsg"], row["dataSource"]) == (-1, None, TOPIC)
    place = {"host": f"{agent.id}.example", "port": 8091, "tlsPort": -1}
    assert row["location"] == place
    assert world.get_rows(f"{TASKS}/runningTasks") == [row]
    assert world.get_rows(f"{TASKS}/pendingTasks") == []
    assert world.get_object(f"{TASKS}/task/{task_id}/status") == {"task": task_id, "status": row}


def test_a_task_is_pending_until_its_worker_reports_it(world: World) -> None:
    world.streams.create(TOPIC, 1)
    world.agent("w1").sync()
    world.post(SUPERVISORS, spec_document(replicas=1))
    world.settle()

    [row] = world.get_rows(f"{TASKS}/pendingTasks")

    assert row["runnerStatusCode"] == "PENDING"
    assert world.get_rows(f"{TASKS}/tasks?state=pending") == [row]
    assert world.get_rows(f"{TASKS}/runningTasks") == []


def test_a_failed_task_says_why_and_is_replaced(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    request = agent.request()
    report = request.tasks[0].model_copy(
        update={
            "phase": TaskPhase.FAILED,
            "failure": FailureCode.READ_FAILED,
            "detail": "the broker went away",
        }
    )
    assert agent.post(request.model_copy(update={"tasks": (report,)})).status_code == 200
    world.settle()

    [row] = world.get_rows(f"{TASKS}/completeTasks")

    assert (row["id"], row["statusCode"], row["runnerStatusCode"]) == (task_id, "FAILED", "NONE")
    assert row["errorMsg"] == "READ_FAILED: the broker went away"
    assert row["queueInsertionTime"] == "1970-01-01T00:00:00.000Z"
    [running] = world.get_rows(f"{TASKS}/tasks?state=pending")
    assert running["id"] != task_id
    errors = world.payload()["recentErrors"]
    assert isinstance(errors, list)
    assert [e["message"] for e in errors] == [f"{task_id}: READ_FAILED: the broker went away"]
    assert [(e["taskId"], e["workerId"]) for e in errors] == [(task_id, agent.id)]


def test_lists_are_narrowed_by_state_table_type_and_number(world: World) -> None:
    world.start(partitions=2, task_count=2, replicas=2)

    assert len(world.get_rows(f"{TASKS}/tasks?datasource={TOPIC}")) == 4
    assert len(world.get_rows(f"{TASKS}/tasks?max=3")) == 3
    assert world.get_rows(f"{TASKS}/tasks?datasource=other") == []
    assert world.get_rows(f"{TASKS}/tasks?state=complete") == []
    assert world.get_rows(f"{TASKS}/tasks?state=waiting") == []
    assert world.get_rows(f"{TASKS}/tasks?type=compact") == []
    assert len(world.get_rows(f"{TASKS}/tasks?type=index_kafka")) == 4
    assert world.get_rows(f"{TASKS}/completeTasks?n=5") == []


@pytest.mark.parametrize("query", ["state=unknown", "max=0", "max=x"])
def test_a_bad_filter_is_a_400(world: World, query: str) -> None:
    problem = world.get_object(f"{TASKS}/tasks?{query}", 400)

    assert problem["type"] == "/problems/invalid-request"
    assert "/query/" in str(problem["error"])


def test_a_tasks_payload_has_its_offsets_and_not_its_token(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)

    answer = world.client.get(f"{TASKS}/task/{task_id}")

    document = answer.json()
    assert document["task"] == task_id
    io_config = document["payload"]["ioConfig"]
    assert io_config["startSequenceNumbers"]["partitionSequenceNumberMap"] == {"0": 0}
    assert io_config["endSequenceNumbers"]["partitionOffsetMap"] == {"0": 2**63 - 1}
    assert task_id.startswith(io_config["baseSequenceName"])
    assert document["payload"]["dataSchema"]["dataSource"] == TOPIC
    assert agent.held[task_id].wanted.token not in answer.text


@pytest.mark.parametrize("path", ["", "/status"])
def test_an_unknown_task_is_druids_text(world: World, path: str) -> None:
    answer = world.client.get(f"{TASKS}/task/no-such-task{path}")

    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text == "Cannot find any task with id: [no-such-task]"


def test_a_publish_needs_the_tasks_own_token(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=1)
    (agent, task_id), (other, other_id) = task_ids(agents)
    agent.read(task_id, 5)
    path, body = f"/internal/v1/tasks/{task_id}/publish", agent.publish_request(task_id).to_json()

    token = agent.held[task_id].wanted.token
    answers = {
        "another's": agent.publish(task_id, token=other.held[other_id].wanted.token),
        "wrong": agent.publish(task_id, token="wrong"),
        "none": post_json(world.client, path, body),
        "no bearer": post_json(world.client, path, body, {"Authorization": f"Basic {token}"}),
    }

    assert {name: a.status_code for name, a in answers.items()} == dict.fromkeys(answers, 403)
    assert answers["none"].json()["type"] == "/problems/not-allowed"
    assert world.get_object(f"/api/v1/datasources/{TOPIC}/files")["files"] == []


def test_a_publish_of_an_unknown_task_is_a_404(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    body = agent.publish_request(task_id).to_json()
    bearer = {"Authorization": "Bearer x"}

    answer = post_json(world.client, "/internal/v1/tasks/no-such/publish", body, bearer)

    assert (answer.status_code, answer.json()["taskId"]) == (404, "no-such")


@pytest.mark.parametrize("size", [None, 7])
def test_a_file_that_is_not_there_as_it_was_reported_is_never_published(
    world: World, size: int | None
) -> None:
    """Goal: no row of a table stands for a file that a lying or broken worker only names."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    agent.sync()
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round(agents)
    path = agent.publish_request(task_id).segments[0].path
    world.warehouse.delete_file(path)
    if size is not None:
        world.warehouse.write(path, size)
    agent.writes = lambda _, __: None

    answer = agent.publish(task_id)

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/unusable-files")
    assert path in answer.json()["detail"]
    assert world.payload()["committedOffsets"] == {"0": 0}


def test_files_that_are_not_the_tasks_own_are_refused(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    agent.sync()
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round(agents)
    request = agent.publish_request(task_id)
    moved = request.segments[0].model_copy(update={"path": "other/data/x/part-0.parquet"})
    token = {"Authorization": f"Bearer {agent.held[task_id].wanted.token}"}

    answer = post_json(
        world.client,
        f"/internal/v1/tasks/{task_id}/publish",
        request.model_copy(update={"segments": (moved,)}).to_json(),
        token,
    )

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/unusable-files")
    assert world.payload()["committedOffsets"] == {"0": 0}
