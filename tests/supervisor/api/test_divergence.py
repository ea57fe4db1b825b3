"""What users are told when a replica made something else of a range than was published."""

from pydantic import JsonValue

from tasks.contract.digests import digest_of
from tests.supervisor.api.agents import TOPIC, Agent
from tests.supervisor.api.routes.cluster.test_metrics_counted import ending, value
from tests.supervisor.api.world import SUPERVISORS, World

GOOD, BAD = digest_of(1), digest_of(2)


def published(world: World, *digests: str | None) -> list[tuple[Agent, str]]:
    """Let replicas read a range, each making this of it, and the first of them publish."""
    agents = world.start(partitions=1, task_count=1, replicas=2)
    for agent, digest in zip(agents, digests, strict=True):
        agent.digest = digest
    ended = ending(world, agents)
    world.round(agents)
    first, task_id = ended[0]
    assert first.publish(task_id).json()["outcome"] == "committed"
    world.settle()
    return ended


def warnings(world: World) -> list[JsonValue]:
    payload = world.get_object(f"{SUPERVISORS}/{TOPIC}/status")["payload"]
    assert isinstance(payload, dict)
    found = payload["warnings"]
    assert isinstance(found, list)
    return found


def range_of(world: World) -> dict[str, JsonValue]:
    found = world.get_object(f"/api/v1/supervisors/{TOPIC}/generations")["generations"]
    assert isinstance(found, list)
    [one] = [g for g in found if isinstance(g, dict) and g["state"] == "PUBLISHED"]
    return one


def test_a_difference_is_told_wherever_people_look(world: World) -> None:
    (_, winner), (_, other) = published(world, GOOD, BAD)

    generation = range_of(world)
    assert (generation["publishedBy"], generation["digest"]) == (winner, GOOD)
    assert generation["diverged"] == [
        {"taskId": other, "digest": BAD, "records": 1, "found": "other-rows"}
    ]
    [warning] = warnings(world)
    assert "different rows" in str(warning)
    assert str(generation["id"]) in str(warning)
    sentences = world.get_object(f"/api/v1/supervisors/{TOPIC}/explain")["sentences"]
    assert str(warning) in str(sentences)
    events = world.get_object("/api/v1/events")["events"]
    assert isinstance(events, list)
    [event] = [e for e in events if isinstance(e, dict) and e["type"] == "replicas-diverged"]
    assert event["generationId"] == generation["id"]
    entries = world.get_object("/api/v1/audit?action=alert")["entries"]
    assert isinstance(entries, list)
    assert [other in str(entry) for entry in entries] == [True]
    name, of = "tidegate_replicas_compared_total", {"supervisor": TOPIC, "table": TOPIC}
    assert value(world, name, **of, found="other-rows") == 1
    assert value(world, name, **of, found="same") == 0


def test_replicas_that_agree_are_counted_and_nobody_is_told(world: World) -> None:
    published(world, GOOD, GOOD)

    assert (range_of(world)["digest"], range_of(world)["diverged"]) == (GOOD, [])
    assert warnings(world) == []
    name, of = "tidegate_replicas_compared_total", {"supervisor": TOPIC, "table": TOPIC}
    assert value(world, name, **of, found="same") == 1


def test_workers_without_digests_publish_as_before(world: World) -> None:
    published(world, None, GOOD)

    assert (range_of(world)["digest"], range_of(world)["diverged"]) == (None, [])
    assert warnings(world) == []
