"""Syncs of workers, the long poll, and what is shown of the cluster."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from supervisor.core.model.rows import Lease
from tasks.contract.messages import DesiredTask, SyncResponse
from tests.supervisor.api.agents import Agent
from tests.supervisor.api.world import (
    RULES,
    SUPERVISORS,
    TASKS,
    TOPIC,
    URL,
    World,
    a_world,
    post_json,
    spec_document,
)
from tests.waiting import wait_until

# Copied from an answer of Druid 33.0.0.
WORKER = {
    "worker",
    "currCapacityUsed",
    "currParallelIndexCapacityUsed",
    "availabilityGroups",
    "runningTasks",
    "lastCompletedTaskTime",
}
_SYNC = {"workerId": "w1", "incarnation": 1, "sequence": 1, "url": "http://w1", "slots": 1}
IDENTITY = {"scheme", "host", "ip", "capacity", "version", "category"}


def _sync_path(worker: str) -> str:
    return f"/internal/v1/workers/{worker}/sync"


def test_a_long_poll_is_answered_at_once_when_its_tasks_change(world: World) -> None:
    """Goal: the poll waits for 20 s of real time at most, and is woken by the pass that starts."""
    world.streams.create(TOPIC, 1)
    agent = world.agent("w1")
    agent.sync()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(agent.post, agent.request(wait_s=60))
        wait_until(lambda: bool(world.changed._waiting))
        assert not waiting.done()
        world.post(SUPERVISORS, spec_document(replicas=1))
        answer = waiting.result(timeout=15)

    response = SyncResponse.from_json(answer.content)
    assert [task.supervisor_id for task in response.tasks] == [TOPIC]
    assert not world.changed._waiting


def test_a_wake_without_a_change_is_not_answered(world: World) -> None:
    agent = world.agent("w1")
    agent.sync()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(agent.post, agent.request(wait_s=60))
        wait_until(lambda: bool(world.changed._waiting))
        world.changed.notify()  # a wrong answer would be a 200
        world.agent("w1", incarnation=2).sync()
        world.changed.notify()
        answer = waiting.result(timeout=15)

    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/worker-fenced")


def test_a_poll_that_knows_nothing_or_waits_for_nothing_is_answered_at_once(world: World) -> None:
    agent = world.agent("w1")

    new = agent.post(agent.request(wait_s=60))
    agent.sync()
    impatient = agent.post(agent.request(wait_s=0))
    backwards = agent.post(agent.request(wait_s=-5))

    assert [a.status_code for a in (new, impatient, backwards)] == [200] * 3


def test_a_poll_ends_after_its_wait(world: World) -> None:
    agent = world.agent("w1")
    agent.sync()

    answer = agent.post(agent.request(wait_s=0.05))

    assert SyncResponse.from_json(answer.content).revision == agent.known
    assert not world.changed._waiting


def test_a_task_that_its_worker_never_heard_of_begins_under_the_next_incarnation(
    world: World,
) -> None:
    """Case: a range opened while its worker ended, and its task failed with JOURNAL_LOST."""
    world.streams.create(TOPIC, 1)
    world.agent("w1").sync()
    world.post(SUPERVISORS, spec_document(task_count=1, replicas=1))
    world.settle()

    [unheard] = _tasks_of(world.agent("w1", incarnation=2))
    [heard] = _tasks_of(world.agent("w1", incarnation=3))

    assert (unheard.task_id, unheard.taken_up) == (heard.task_id, False)
    assert heard.taken_up
    assert heard.token != unheard.token


def test_a_worker_that_comes_back_before_a_term_has_begun_goes_on_from_its_journals(
    world: World,
) -> None:
    """Case: in seed 665 a leader whose database was slow let such a worker read its range anew."""
    world.streams.create(TOPIC, 1)
    world.agent("w1").sync()
    world.post(SUPERVISORS, spec_document(task_count=1, replicas=1))
    world.settle()
    [begun] = _tasks_of(world.agent("w1"))
    assert not begun.taken_up

    # All that a leader knows which has not read the rows of its term yet.
    world.client.app.state.parts.service._registry.reset([])  # type: ignore[attr-defined]
    [anew] = _tasks_of(world.agent("w1", incarnation=2))

    assert anew.task_id == begun.task_id
    assert anew.taken_up


def _tasks_of(agent: Agent) -> tuple[DesiredTask, ...]:
    return SyncResponse.from_json(agent.post(agent.request()).content).tasks


def test_an_older_incarnation_of_a_worker_is_fenced(world: World) -> None:
    world.agent("w1", incarnation=7).sync()
    older = world.agent("w1", incarnation=6)

    answer = older.post(older.request())

    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/worker-fenced")
    assert answer.json()["workerId"] == "w1"


def test_a_worker_speaks_for_itself_alone(world: World) -> None:
    agent = world.agent("w1")

    answer = post_json(world.client, _sync_path("w2"), agent.request().to_json())

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/workerId"
    assert world.get_rows(f"{TASKS}/workers") == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"workerId": "w1"}, "/incarnation"),
        (_SYNC | {"workerId": "../w1"}, "/workerId"),
        (_SYNC | {"incarnation": "x"}, "/incarnation"),
        (_SYNC | {"more": 1}, "/more"),
        (_SYNC | {"incarnation": 2**63}, "/incarnation"),
        (_SYNC | {"incarnation": 2**63 - 1}, "/incarnation"),
        (_SYNC | {"sequence": 2**70}, "/sequence"),
        (_SYNC | {"url": "file:///etc/passwd"}, "/url"),
        (_SYNC | {"url": "http://w1:80/internal?x="}, "/url"),
        (_SYNC | {"url": "http://user@w1:80"}, "/url"),
        (_SYNC | {"tasks": [{}]}, "/tasks/0/taskId"),
        ([], ""),
    ],
)
def test_a_body_that_is_no_sync_is_a_400_that_points_at_it(
    world: World, body: object, pointer: str
) -> None:
    answer = world.post(_sync_path("w1"), body)

    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_a_worker_at_an_address_that_is_not_allowed_is_refused(
    tmp_path: Path, migrated: Path
) -> None:
    """Source: SSRF by the address that a worker's token may name."""
    with a_world(tmp_path, migrated, rules=replace(RULES, worker_allow=("w1.example",))) as world:
        good = world.post(_sync_path("w1"), _SYNC | {"url": "http://w1.example:8091"})
        other = _SYNC | {"workerId": "w2", "url": "http://169.254.169.254:80"}
        bad = world.post(_sync_path("w2"), other)

    assert (good.status_code, bad.status_code) == (200, 400)
    assert "TIDEGATE_WORKER_ALLOW" in bad.text


@pytest.mark.parametrize("body", [b"{", b"", b"[" * 100_000, b"\xff"])
def test_a_body_that_is_no_json_is_a_400_too(world: World, body: bytes) -> None:
    answer = post_json(world.client, _sync_path("w1"), body)

    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


def test_workers_are_listed_as_druids_with_their_slots(world: World) -> None:
    first, _ = world.start(partitions=2, task_count=2, replicas=1)

    rows = world.get_rows(f"{TASKS}/workers")

    assert [row["liveness"] for row in rows] == ["ALIVE", "ALIVE"]
    row = rows[0]
    assert row.keys() >= WORKER
    identity = row["worker"]
    assert isinstance(identity, dict)
    assert identity.keys() >= IDENTITY
    assert (identity["host"], identity["scheme"], identity["capacity"]) == (
        "w1.example:8091",
        "http",
        4,
    )
    assert row["runningTasks"] == sorted(first.held)
    assert [r["currCapacityUsed"] for r in rows] == [1, 1]
    assert [r["previousEnd"] for r in rows] == ["", ""]
    assert world.get_object(f"{TASKS}/totalWorkerCapacity") == {
        "currentClusterCapacity": 8,
        "maximumCapacityWithAutoScale": -1,
        "usedClusterCapacity": 2,
    }


def test_a_worker_that_came_back_shows_how_it_ended(world: World) -> None:
    """Source: faults.md B12."""
    sync = _SYNC | {"previousEnd": "engine died: with code 137"}
    world.post(_sync_path("w1"), sync)

    [row] = world.get_rows(f"{TASKS}/workers")

    assert row["previousEnd"] == "engine died: with code 137"


def test_the_leader_tells_that_it_leads(world: World) -> None:
    assert world.client.get(f"{TASKS}/leader").text == URL
    assert world.get(f"{TASKS}/isLeader") == {"leader": True}
    assert world.get_object("/status") == {
        "version": "1.2.3",
        "modules": [],
        "leader": True,
        "leaderUrl": URL,
    }


def test_another_overlord_sends_writes_to_the_leader_and_workers_hear_who_leads(
    follower: World,
) -> None:
    """Source: D5: a redirect is not followed here, so nothing may have been carried out."""
    leader = _follows_a_leader_that_is_down(follower)
    agent = follower.agent("w1")

    for path, body in ((f"{SUPERVISORS}?a=b", spec_document()), (f"{SUPERVISORS}/x/suspend", None)):
        moved = follower.client.post(path, json=body, follow_redirects=False)
        assert moved.status_code == 307
        assert moved.headers["location"] == f"{leader}{path}"
        assert moved.json()["type"] == "/problems/not-the-leader"
        assert moved.json()["leader"] == leader
    response = agent.post(agent.request())
    assert (response.status_code, response.json()["leader"]) == (503, leader)
    assert follower.get(SUPERVISORS) == []


def test_another_overlord_asks_the_leader_for_soft_state_and_tells_if_it_is_away(
    follower: World,
) -> None:
    """Goal: what the rows tell, any overlord tells; what only the leader knows is not made up."""
    leader = _follows_a_leader_that_is_down(follower)

    for path in (f"{SUPERVISORS}/x/status", f"{SUPERVISORS}?full=true", f"{TASKS}/workers"):
        answer = follower.client.get(path)
        assert answer.status_code == 503
        assert answer.json()["type"] == "/problems/not-the-leader"
        assert answer.json()["leader"] == leader
        assert answer.headers["retry-after"] == "1"
    assert follower.get(f"{TASKS}/isLeader", 404) == {"leader": False}
    assert follower.client.get(f"{TASKS}/leader").text == leader
    assert follower.get(SUPERVISORS) == []
    assert follower.get_rows(f"{TASKS}/tasks") == []
    assert follower.get("/status/health") is True


def _follows_a_leader_that_is_down(follower: World) -> str:
    leader = "http://127.0.0.1:1"
    with follower.store.writing() as tx:
        tx.lease.take(None, "two", leader)
    follower.leadership.step()
    return leader


def test_who_has_lost_the_lead_still_lists_tasks_and_takes_the_running_for_reported(
    world: World,
) -> None:
    world.streams.create(TOPIC, 1)
    world.agent("w1").sync()
    world.post(SUPERVISORS, spec_document(replicas=1))
    world.settle()
    assert [r["runnerStatusCode"] for r in world.get_rows(f"{TASKS}/tasks")] == ["PENDING"]

    with world.store.writing() as tx:
        tx.lease.take(tx.lease.read(), "two", "http://two.example:8090")
    world.leadership.step()

    assert [r["runnerStatusCode"] for r in world.get_rows(f"{TASKS}/tasks")] == ["RUNNING"]


def test_nobody_leads_and_says_so(follower: World) -> None:
    answer = follower.client.get(f"{TASKS}/leader")

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


def test_a_new_leader_fences_the_old_ones_writes(world: World) -> None:
    with world.store.writing() as tx:
        seen = tx.lease.read()
        assert isinstance(tx.lease.take(seen, "two", "http://two.example:8090"), Lease)

    answer = world.client.post(SUPERVISORS, json=spec_document(), follow_redirects=False)

    assert (answer.status_code, answer.json()["leader"]) == (307, "http://two.example:8090")
    assert world.get(SUPERVISORS) == []
