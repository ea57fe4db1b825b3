"""The ranges of a supervisor with the times of their steps."""

from datetime import timedelta

from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, task_ids

PATH = f"/api/v1/supervisors/{TOPIC}/generations"


def ranges(world: World, query: str = "") -> list[Json]:
    found = world.get_object(PATH + query)["generations"]
    assert isinstance(found, list)
    return found


def test_a_range_tells_its_steps_and_its_attempts(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=2)
    for agent, task_id in task_ids(agents):
        agent.read(task_id, 5)
    world.clock.advance(timedelta(seconds=30))
    world.post(f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff", {"taskGroupIds": [0]})
    world.settle()
    world.clock.advance(timedelta(seconds=2))
    world.round(agents)
    world.clock.advance(timedelta(seconds=3))
    old = ranges(world)[-1]
    attempts = old["attempts"]
    assert isinstance(attempts, list)
    holder = next(a for a in agents if attempts[0]["taskId"] in a.held)
    holder.publish(attempts[0]["taskId"])
    world.settle()

    new, old = ranges(world)
    assert (new["state"], new["end"], new["rows"], new["endedAt"]) == ("READING", None, None, None)
    assert (old["state"], old["records"], old["rows"]) == ("PUBLISHED", 5, 5)
    assert old["publishedBy"] == attempts[0]["taskId"]
    took = old["durations"]
    assert isinstance(took, dict)
    assert [took[step] // 1_000 for step in ("reading", "pausing", "finishing", "publishing")] == [
        *(30, 2, 3, 0),
    ]
    parts = sum(ms for step, ms in took.items() if step != "total")
    assert 0 <= took["total"] - parts <= 4  # each is cut to whole milliseconds
    assert [(a["replica"], a["status"]) for a in attempts] == [(0, "RUNNING"), (1, "RUNNING")]


def test_pages_follow_each_other(world: World) -> None:
    world.start(partitions=2, task_count=2)
    every = ranges(world)
    first = world.get_object(f"{PATH}?limit=1")
    second = world.get_object(f"{PATH}?limit=1&cursor={first['next']}")
    assert [first["generations"], second["generations"]] == [[each] for each in every]
    assert second["next"] is None


def test_an_unknown_supervisor_is_not_found(world: World) -> None:
    answer = world.client.get("/api/v1/supervisors/never/generations")
    assert answer.status_code == 404
