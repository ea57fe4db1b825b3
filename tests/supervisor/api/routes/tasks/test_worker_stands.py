"""Workers that people take out: they finish what they have, and are given nothing new.

Source: Druid's OverlordResource and WorkerResource.
"""

from datetime import timedelta

import pytest

from tests.supervisor.api.world import (
    SUPERVISORS,
    TASKS,
    TOPIC,
    Agent,
    World,
    spec_document,
    task_ids,
)

W1, W2 = "w1.example:8091", "w2.example:8091"


def _rows(world: World) -> dict[object, dict[str, object]]:
    by_id = {}
    for row in world.get_rows(f"{TASKS}/workers"):
        worker = row["worker"]
        assert isinstance(worker, dict)
        by_id[worker["id"]] = row
    return by_id


@pytest.mark.parametrize("name", [W1, "w1"])
def test_a_disabled_worker_keeps_its_tasks_and_gets_no_new_ones(world: World, name: str) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=1)
    before = {task_id: agent.id for agent, task_id in task_ids(agents)}
    assert sorted(before.values()) == ["w1", "w2"]

    answer = world.post(f"{TASKS}/worker/{name}/disable")

    assert (answer.status_code, answer.json()) == (200, {W1: "disabled"})
    world.round(agents)
    assert {task_id: agent.id for agent, task_id in task_ids(agents)} == before
    for task_id in before:
        world.post(f"{TASKS}/task/{task_id}/shutdown")
        world.settle()
    world.round(agents)
    assert [agent.id for agent, _ in task_ids(agents)] == ["w2", "w2"]


def test_a_supervisor_without_slots_says_that_a_worker_is_disabled(world: World) -> None:
    world.streams.create(TOPIC, 1)
    agent = world.agent("w1")
    agent.sync()
    world.post(f"{TASKS}/worker/w1/disable")
    world.post(SUPERVISORS, spec_document(replicas=1))
    world.settle()

    payload = world.payload()
    assert payload["detailedState"] == "NO_CAPACITY"
    assert "enable a worker that is disabled (w1)" in str(payload["why"])

    assert world.post(f"{TASKS}/worker/w1/enable").json() == {W1: "enabled"}
    world.settle()
    agent.sync()

    assert len(agent.held) == 1


def test_it_stays_disabled_over_its_own_start_and_a_new_leader(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    for agent in agents:
        world.post(f"{TASKS}/worker/{agent.id}/disable")

    again = world.agent("w1", incarnation=2)
    again.sync()

    rows = _rows(world)
    assert [rows[name]["disabled"] for name in ("w1", "w2")] == [True, True]
    worker = rows["w1"]["worker"]
    assert isinstance(worker, dict)
    assert worker["version"] == ""  # how Druid's console knows
    with world.store.reading() as tx:
        assert [row.disabled for row in tx.workers.all()] == [True, True]
    assert world.get_object(f"{TASKS}/totalWorkerCapacity")["currentClusterCapacity"] == 0


def test_who_took_it_out_is_in_the_audit_log_once(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)

    for author in ("ann", "bob"):
        headers = {"X-Druid-Author": author}
        world.client.post(f"{TASKS}/worker/w1/disable", headers=headers)

    with world.store.reading() as tx:
        rows = [row for row in tx.audit.recent(50) if row.action == "disable-worker"]
    assert [(row.actor, row.subject) for row in rows] == [("ann", "w1")]


@pytest.mark.parametrize("verb", ["enable", "disable"])
def test_an_unknown_worker_is_told_the_known_ones(world: World, verb: str) -> None:
    world.start(partitions=1, task_count=1, replicas=1)

    answer = world.post(f"{TASKS}/worker/w9/{verb}")

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/worker-not-found")
    assert answer.json()["known"] == ["w1", "w2"]


def test_only_the_leader_takes_workers_out(follower: World) -> None:
    answer = follower.post(f"{TASKS}/worker/w1/disable")

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


def test_a_worker_hears_that_it_is_taken_out(world: World) -> None:
    [agent, _] = world.start(partitions=1, task_count=1, replicas=1)
    before = agent.known
    world.post(f"{TASKS}/worker/w1/disable")

    response = agent.post(agent.request()).json()

    assert response["disabled"] is True
    assert response["revision"] != before


def test_how_workers_are_chosen_is_shown_and_not_changed(world: World) -> None:
    config = world.get_object(f"{TASKS}/worker")
    answer = world.post(f"{TASKS}/worker", {"type": "default"})

    strategy = {"type": "equalDistribution"}
    assert config == {"type": "default", "selectStrategy": strategy, "autoScaler": None}
    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/not-offered")
    assert world.get(f"{TASKS}/worker/history") == []


def test_an_overlord_that_answers_has_discovered_itself(world: World) -> None:
    assert world.get("/status/selfDiscovered/status") == {"selfDiscovered": True}
    assert world.client.get("/status/selfDiscovered").status_code == 200


def _for_long(world: World, agents: list[Agent]) -> None:
    """Pass more time than a worker may be silent; the lease is renewed meanwhile."""
    for _ in range(3):
        world.pass_time(timedelta(hours=10), agents)


def _refused(world: World, name: str) -> str:
    answer = world.post(f"{TASKS}/worker/{name}/forget")
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/worker-not-lost")
    return str(answer.json()["error"])


def test_a_worker_that_is_gone_for_good_is_listed_until_it_is_forgotten(world: World) -> None:
    """Goal: nobody waits for it any more, and the audit log says who decided so."""
    first, second = world.start(partitions=2, task_count=2, replicas=1)
    assert "ALIVE" in _refused(world, "w2")
    _for_long(world, [first])
    world.round([first])
    assert _rows(world)["w2"]["liveness"] == "LOST"

    answer = world.post(f"{TASKS}/worker/{W2}/forget")

    assert (answer.status_code, answer.json()) == (200, {"worker": "w2"})
    assert list(_rows(world)) == ["w1"]
    assert world.post(f"{TASKS}/worker/w2/forget").status_code == 404
    entries = world.get_object("/api/v1/audit")["entries"]
    assert isinstance(entries, list)
    assert ("forget-worker", "w2") in [(each["action"], each["subject"]) for each in entries]
    second.sync()
    assert (second.held, _rows(world)["w2"]["liveness"]) == ({}, "ALIVE"), "it comes as a new one"


def test_a_leader_that_knows_no_worker_yet_forgets_none(world: World) -> None:
    """Goal: a term that has just begun takes no living worker for one that is gone."""
    world.start(partitions=1, task_count=1, replicas=1)
    registry = world.client.app.state.parts.workers.registry  # type: ignore[attr-defined]  # a FastAPI
    registry.reset([])

    assert "UNKNOWN" in _refused(world, "w2")


def test_a_worker_is_not_forgotten_before_its_tasks_are_replaced(world: World) -> None:
    first, second = world.start(partitions=2, task_count=2, replicas=1)
    world.loop.stop()
    for _ in range(3):
        world.clock.advance(timedelta(hours=10))
        world.leadership.step()
        first.sync()
    assert (_rows(world)["w2"]["liveness"], len(second.held)) == ("LOST", 1)

    assert "tasks are assigned to w2" in _refused(world, "w2")
