"""Rows a second in the list: of one replica of each range, and steady over handoffs."""

from datetime import timedelta

from tests.supervisor.api.routes.supervisors.test_listing import MINUTE, rows
from tests.supervisor.api.world import SUPERVISORS, TOPIC, World, task_ids


def test_rows_a_second_are_those_of_one_replica_of_each_range(world: World) -> None:
    """Goal: two replicas read the same records; and what is heard of just now has no rate."""
    agents = world.start(partitions=1, task_count=1, replicas=2)
    world.streams.append(TOPIC, 0, 600)
    assert rows(world)[0]["rowsPerSecond"] is None, "the tasks are seconds old"
    world.pass_time(MINUTE, agents)
    assert rows(world)[0]["rowsPerSecond"] == 0.0
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 600)
    world.pass_time(timedelta(seconds=10), agents)

    assert rows(world)[0]["rowsPerSecond"] == 10.0


def test_a_handoff_makes_no_dip_in_rows_a_second(world: World) -> None:
    """Goal: what a task made within the last minute counts, also when the task has ended."""
    [agent, *_] = agents = world.start(partitions=1, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 1_200)
    world.pass_time(MINUTE, agents)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 600)
    world.pass_time(timedelta(seconds=10), agents)
    assert rows(world)[0]["rowsPerSecond"] == 10.0

    world.post(f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff", {"taskGroupIds": [0]})
    world.settle()
    world.round(agents)
    shown = [rows(world)[0]["rowsPerSecond"]]
    assert agent.publish(task_id).json()["outcome"] == "committed"
    for _ in range(3):
        world.round(agents)
        shown.append(rows(world)[0]["rowsPerSecond"])
        world.pass_time(timedelta(seconds=12), agents)
    assert task_id not in agent.held, "the task has ended, and its worker forgot it"
    assert shown == [10.0] * 4

    world.pass_time(MINUTE, agents)
    assert rows(world)[0]["rowsPerSecond"] == 0.0
