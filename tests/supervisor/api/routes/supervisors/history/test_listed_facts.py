"""The cheap list's headroom, best step and running operation, as of the last passes."""

from datetime import timedelta

import pytest

from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, Json, World, task_ids

PATH = "/api/v1/supervisors"
MINUTE = timedelta(minutes=1)


def rows(world: World, query: str = "") -> list[Json]:
    found = world.get_object(f"{PATH}{query}")["supervisors"]
    assert isinstance(found, list)
    return found


def test_a_row_says_how_long_retention_leaves_and_the_best_step(world: World) -> None:
    agents = world.start(partitions=2, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 1_000)
    for agent in agents:  # a task that starts may yet read what Kafka holds no more
        assert world.post(f"{TASKS}/worker/{agent.id}/disable").status_code == 200
    offsets = {"type": "end", "stream": TOPIC, "partitionOffsetMap": {"0": 600}}
    body = {"type": "kafka", "partitions": offsets}
    assert world.post(f"{SUPERVISORS}/{TOPIC}/resetOffsets", body).status_code == 200
    assert rows(world)[0]["headroomMillis"] is None
    for earliest in (100, 200, 300):
        world.streams.expire(TOPIC, 0, earliest)
        look(world)

    [row] = rows(world)

    assert row["headroomMillis"] == pytest.approx(3 * 60_000, rel=0.01)
    world.streams.expire(TOPIC, 0, 700)
    look(world)
    [row] = rows(world, "?sort=headroomMillis")
    assert (row["detailedState"], row["headroomMillis"]) == ("OFFSETS_UNREADABLE", 0)
    explained = world.get_object(f"{PATH}/{TOPIC}/explain")["remedies"]
    assert row["remedy"] == explained[0]  # type: ignore[index]
    assert row["remedy"]["params"] == {"offsets": {"0": 700}}  # type: ignore[index]


def look(world: World) -> None:
    """Let a minute pass, and the leader look at Kafka."""
    world.clock.advance(MINUTE)
    world.settle()
    world.watching.after_pass(TOPIC)


def test_a_row_names_the_operation_that_runs_until_it_is_done(world: World) -> None:
    agents = world.start(partitions=2, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 50)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 50)
    world.round(agents)
    posted = world.post(f"{SUPERVISORS}/{TOPIC}/suspend")
    [row] = rows(world)
    running = row["operation"]
    assert isinstance(running, dict)
    assert (running["id"], running["kind"]) == (posted.headers["tidegate-operation"], "suspend")
    world.settle()
    full = world.get_object(f"/api/v1/operations/{running['id']}")
    assert (full["state"], rows(world)[0]["operation"]["waitsFor"]) == (  # type: ignore[index]
        "running",
        full["waitsFor"],
    )

    world.round(agents)
    assert agent.publish(task_id).status_code == 200
    world.settle()

    assert world.get_object(f"/api/v1/operations/{running['id']}")["state"] == "done"
    assert rows(world)[0]["operation"] is None
    assert rows(world)[0]["remedy"]["action"] == "resume"  # type: ignore[index]
