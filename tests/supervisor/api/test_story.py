"""One handoff, told through HTTP alone: what workers say, what they are answered, what is shown."""

from datetime import timedelta

from tasks.contract.messages import TaskPhase
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, World, task_ids


def test_a_group_is_handed_off_and_published_once_while_its_successor_reads(world: World) -> None:
    """Goal: two replicas read apart, end at the further one, one publishes, the other succeeds."""
    agents = world.start(partitions=2, task_count=2, replicas=2)
    for number in range(2):
        world.streams.append(TOPIC, number, 1_000)
    first, second = agents
    assert [len(agent.held) for agent in agents] == [2, 2]  # replicas on different workers
    for task_id in first.held:
        first.read(task_id, 600)
    for task_id in second.held:
        second.read(task_id, 450)
    world.pass_time(timedelta(minutes=9), agents)
    assert _states(world) == ["READING", "READING"]

    world.pass_time(timedelta(minutes=2), agents)  # taskDuration is over: pause is ordered
    assert _states(world) == ["PAUSING", "PAUSING"]
    world.round(agents)  # they pause, the end is fixed, they read to it; successors start

    assert sorted(map(str, _states(world))) == ["PUBLISHING", "PUBLISHING", "READING", "READING"]
    payload = world.payload()
    assert [g["end"] for g in _groups(world) if g["end"]] == [{"0": 600}, {"1": 600}]
    assert payload["committedOffsets"] == {"0": 0, "1": 0}  # nothing counts before it is published
    assert payload["minimumLag"] == {"0": 400, "1": 400}

    publishing = [
        (agent, task_id)
        for agent, task_id in task_ids(agents)
        if agent.held[task_id].phase is TaskPhase.PUBLISHING
    ]
    assert len(publishing) == 4
    for task_id in [task_id for agent, task_id in publishing if agent is second]:
        assert second.publish(task_id).json()["outcome"] == "committed"
    for agent, task_id in publishing:  # the others, and again those whose answer was lost
        expected = "committed" if agent is second else "already-published"
        assert agent.publish(task_id).json()["outcome"] == expected
    world.settle()
    world.round(agents)

    assert _states(world) == ["READING", "READING"]
    assert [g["start"] for g in _groups(world)] == [{"0": 600}, {"1": 600}]
    assert world.payload()["committedOffsets"] == {"0": 600, "1": 600}
    ended = world.get_rows(f"{TASKS}/completeTasks")
    assert {(row["id"], row["status"]) for row in ended} == {(t, "SUCCESS") for _, t in publishing}
    reasons = [str(row["reason"]).partition(" ")[2] for row in ended if row["workerId"] == first.id]
    assert reasons == ["published the range"] * 2  # ended with the winner, before they asked
    _check_table(world, {task_id for agent, task_id in publishing if agent is second})


def _check_table(world: World, winners: set[str]) -> None:
    files = world.get_object(f"/api/v1/datasources/{TOPIC}/files")["files"]
    assert isinstance(files, list)
    assert {f["taskId"] for f in files} == winners
    assert [f["rows"] for f in files] == [600, 600]
    ledger = world.get_object(f"/api/v1/supervisors/{TOPIC}/ledger")
    assert isinstance(ledger["publications"], list)
    assert sorted(list(p["end"].items()) for p in ledger["publications"]) == [
        [(f"{TOPIC}:0", 600)],
        [(f"{TOPIC}:1", 600)],
    ]


def test_a_suspended_supervisor_publishes_what_it_has_and_reads_no_more(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 10)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 10)
    agent.sync()

    assert world.post(f"{SUPERVISORS}/{TOPIC}/suspend").json()["suspended"] is True
    world.settle()
    world.round(agents)
    assert agent.publish(task_id).json()["outcome"] == "committed"
    world.round(agents)

    payload = world.payload()
    assert (payload["state"], payload["healthy"], payload["suspended"]) == ("SUSPENDED", True, True)
    assert payload["groups"] == []
    assert payload["committedOffsets"] == {"0": 10}


def test_a_terminated_supervisor_is_shown_stopping_and_then_gone_and_keeps_its_ledger(
    world: World,
) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 10)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 10)
    agent.sync()

    assert world.post(f"{SUPERVISORS}/{TOPIC}/terminate").json()["id"] == TOPIC
    world.settle()
    assert world.payload()["state"] == "STOPPING"
    assert world.get(SUPERVISORS) == []
    world.round(agents)
    assert agent.publish(task_id).json()["outcome"] == "committed"
    world.round(agents)

    assert world.client.get(f"{SUPERVISORS}/{TOPIC}/status").status_code == 404
    ledger = world.get_object(f"/api/v1/supervisors/{TOPIC}/ledger")
    assert isinstance(ledger["publications"], list)
    assert [p["rows"] for p in ledger["publications"]] == [10]
    assert world.get_object("/api/v1/datasources") == {"dataSources": [TOPIC]}


def _groups(world: World) -> list[dict[str, object]]:
    groups = world.payload()["groups"]
    assert isinstance(groups, list)
    return groups


def _states(world: World) -> list[object]:
    return [group["state"] for group in _groups(world)]
