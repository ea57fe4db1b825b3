"""Tasks that people end, and what Druid's clients ask of tasks beside.

Source: answers of Druid 33.0.0; Druid's OverlordResource.
"""

from datetime import timedelta

import pytest

from tests.supervisor.api.world import (
    NOON,
    SUPERVISORS,
    TASKS,
    TOPIC,
    World,
    post_json,
    spec_document,
    task_ids,
)

WHY = "Shutdown request from user"


def test_a_stopped_task_has_failed_and_is_replaced_at_once(world: World) -> None:
    """Goal: its supervisor stays healthy, however often people end a task."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    for _ in range(4):
        [(_, task_id)] = task_ids(agents)
        answer = world.post(f"{TASKS}/task/{task_id}/shutdown")
        assert (answer.status_code, answer.json()) == (200, {"task": task_id})
        world.settle()
        world.round(agents)

    ended = world.get_rows(f"{TASKS}/completeTasks")
    assert [row["statusCode"] for row in ended] == ["FAILED"] * 4
    assert {row["errorMsg"] for row in ended} == {WHY}
    [(_, now)] = task_ids(agents)
    assert now not in {row["id"] for row in ended}
    assert world.payload()["state"] == "RUNNING"
    assert world.get(f"{SUPERVISORS}/{TOPIC}/health") == {"healthy": True}


def test_the_task_that_replaces_it_reads_the_same_range(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    before = agent.held[task_id].wanted
    agent.read(task_id, 5)
    agent.sync()

    world.post(f"{TASKS}/task/{task_id}/shutdown")
    world.settle()
    world.round(agents)

    [(other, replacement)] = task_ids(agents)
    wanted = other.held[replacement].wanted
    assert (wanted.generation_id, wanted.start) == (before.generation_id, before.start)
    assert wanted.attempt == before.attempt + 1


def test_who_ended_a_task_is_in_the_audit_log_once(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(_, task_id)] = task_ids(agents)

    for author in ("ann", "bob"):
        answer = world.client.post(
            f"{TASKS}/task/{task_id}/shutdown", headers={"X-Druid-Author": author}
        )
        assert answer.status_code == 200  # also for one that has ended

    with world.store.reading() as tx:
        rows = [row for row in tx.audit.recent(50) if row.action == "stop-task"]
        queued = tx.tasks.get(task_id)
    assert [(row.actor, row.subject, row.detail["supervisor"]) for row in rows] == [
        ("ann", task_id, TOPIC)
    ]
    assert queued is not None
    assert queued.lost


def test_a_task_that_published_keeps_its_success(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    agent.sync()
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round(agents)
    assert agent.publish(task_id).json()["outcome"] == "committed"

    assert world.post(f"{TASKS}/task/{task_id}/shutdown").status_code == 200

    row = world.get_object(f"{TASKS}/task/{task_id}/status")["status"]
    assert isinstance(row, dict)
    assert (row["statusCode"], row["errorMsg"]) == ("SUCCESS", None)


def test_a_stopped_task_publishes_nothing_any_more(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    agent.sync()
    world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    world.settle()
    world.round(agents)
    world.post(f"{TASKS}/task/{task_id}/shutdown")

    assert agent.publish(task_id).json()["outcome"] != "committed"
    assert world.payload()["committedOffsets"] == {"0": 0}


def test_all_tasks_of_a_table_are_ended(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=2)
    before = {task_id for _, task_id in task_ids(agents)}

    answer = world.post(f"{TASKS}/datasources/{TOPIC}/shutdownAllTasks")

    assert (answer.status_code, answer.json()) == (200, {"dataSource": TOPIC})
    assert {row["id"] for row in world.get_rows(f"{TASKS}/completeTasks")} == before
    world.settle()
    world.round(agents)
    assert len({task_id for _, task_id in task_ids(agents)} - before) == 4


@pytest.mark.parametrize("path", ["task/no-such/shutdown", "datasources/no-such/shutdownAllTasks"])
def test_what_is_not_there_cannot_be_stopped(world: World, path: str) -> None:
    assert world.post(f"{TASKS}/{path}").status_code == 404


def test_only_the_leader_stops_tasks(follower: World) -> None:
    answer = follower.post(f"{TASKS}/task/any/shutdown")

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


# ---------------------------------------------------------------- lists


def test_lists_take_an_interval_of_creation(world: World) -> None:
    """Goal: `_` and an encoded `/` both part the ends; tasks that ended count as well."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(_, first)] = task_ids(agents)
    world.pass_time(timedelta(minutes=5), agents)
    world.post(f"{TASKS}/task/{first}/shutdown")
    world.settle()
    day, later = f"{NOON:%Y-%m-%dT%H:%M}", f"{NOON + timedelta(minutes=1):%Y-%m-%dT%H:%M}"

    old = world.get_rows(f"{TASKS}/tasks?createdTimeInterval={day}_{later}")
    encoded = world.get_rows(f"{TASKS}/tasks?createdTimeInterval={day}%2F{later}")
    new = world.get_rows(f"{TASKS}/tasks?createdTimeInterval={later}_2030-01-01")

    assert [row["id"] for row in old] == [first]
    assert encoded == old
    assert [row["id"] for row in new] != [first]
    assert len(new) == 1


def test_nothing_waits_and_other_types_there_are_none(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)

    assert world.get_rows(f"{TASKS}/waitingTasks") == []
    for path in ("runningTasks", "pendingTasks", "waitingTasks", "completeTasks", "tasks"):
        assert world.get_rows(f"{TASKS}/{path}?type=compact") == []
    assert len(world.get_rows(f"{TASKS}/runningTasks?type=index_kafka")) == 1


def test_a_wrong_state_is_told_the_states(world: World) -> None:
    found = world.get_object(f"{TASKS}/tasks?state=done", 400)

    assert all(word in str(found["error"]) for word in ("running", "complete", "waiting"))


def test_a_wrong_interval_is_told_the_form(world: World) -> None:
    found = world.get_object(f"{TASKS}/tasks?createdTimeInterval=yesterday", 400)

    assert "/query/createdTimeInterval" in str(found["error"])


# ---------------------------------------------------------------- what else clients call


def test_short_statuses_leave_unknown_ids_out(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=1)
    (agent, ended), (_, runs) = task_ids(agents)
    world.post(f"{TASKS}/task/{ended}/shutdown")

    statuses = world.post(f"{TASKS}/taskStatus", [ended, runs, "no-such"]).json()

    assert statuses.keys() == {ended, runs}
    assert statuses[ended] == {
        "id": ended,
        "status": "FAILED",
        "duration": statuses[ended]["duration"],
        "errorMsg": WHY,
        "location": {"host": f"{agent.id}.example", "port": 8091, "tlsPort": -1},
    }
    assert (statuses[runs]["status"], statuses[runs]["duration"]) == ("RUNNING", -1)


@pytest.mark.parametrize("body", [[], {}, [1], "x"])
def test_no_list_of_ids_is_a_400(world: World, body: object) -> None:
    answer = world.post(f"{TASKS}/taskStatus", body)

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-request")


def test_an_id_that_no_database_can_hold_is_a_400(world: World) -> None:
    for text in (rb'["half \ud800"]', rb'["a\u0000b"]'):
        answer = post_json(world.client, f"{TASKS}/taskStatus", text)

        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/0")


def test_segments_of_a_task_are_listed_by_their_table(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(_, task_id)] = task_ids(agents)

    found = world.get_object(f"{TASKS}/task/{task_id}/segments", 404)

    assert f"/api/v1/datasources/{TOPIC}/segments" in str(found["detail"])
    assert world.client.get(f"{TASKS}/task/no-such/segments").status_code == 404


@pytest.mark.parametrize(
    ("path", "detail"),
    [("task", "index_kafka with start and end offsets"), ("action", "Druid's own protocol")],
)
def test_what_is_not_offered_says_what_to_do(world: World, path: str, detail: str) -> None:
    answer = world.post(f"{TASKS}/{path}", {"type": "index_parallel"})

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/not-offered")
    assert detail in answer.json()["detail"]


def test_nothing_is_pending_and_nothing_is_locked(world: World) -> None:
    world.post(SUPERVISORS, spec_document())
    path = f"{TASKS}/pendingSegments/{TOPIC}"

    deleted = world.client.delete(f"{path}?interval=2026-01-01_2026-02-01")
    locked = world.post(f"{TASKS}/lockedIntervals/v2", [{"datasource": TOPIC, "priority": 1}])

    assert (deleted.status_code, deleted.json()) == (200, {"numDeleted": 0})
    assert (locked.status_code, locked.json()) == (200, {})
    assert world.client.delete(path).status_code == 400
    assert world.post(f"{TASKS}/lockedIntervals/v2", []).status_code == 400
