"""The overview: counts, what needs somebody, grants, what it costs, and who cannot say much."""

from datetime import timedelta

from tests.supervisor.api.routes.supervisors.test_listing import (
    store_specs,
)
from tests.supervisor.api.world import TOPIC, Json, World

PATH = "/api/v1/overview"
MINUTE = timedelta(minutes=1)


def overview(world: World, query: str = "") -> Json:
    return world.get_object(PATH + query)


def part(whole: Json, name: str) -> Json:
    found = whole[name]
    assert isinstance(found, dict)
    return found


def items(world: World, query: str = "") -> list[Json]:
    found = overview(world, query)["attention"]
    assert isinstance(found, list)
    return found


# -- counts ----------------------------------------------------------------------------------------


def test_counts_are_those_of_the_list_and_the_workers(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=2)
    world.streams.append(TOPIC, 0, 50)
    world.settle()
    store_specs(world, ["unseen"])

    found = overview(world)

    supervisors, slots = part(found, "supervisors"), part(found, "slots")
    assert (supervisors["total"], supervisors["unhealthy"], supervisors["suspended"]) == (2, 0, 0)
    assert supervisors["states"] == {"PENDING": 1, "RUNNING": 1}
    assert part(found, "lag")["records"] == 50
    assert slots == {"needed": 4, "used": 4, "free": 4, "total": 8}
    assert part(found, "workers") == {"alive": len(agents), "silent": 0, "lost": 0}
    assert part(found, "queues") == {"dead": 0, "failed": 0, "oldestMillis": None}
    assert part(found, "exports") == {"total": 0, "behind": 0, "stuck": 0}
    assert part(found, "database")["ok"] is True
    leader = part(found, "leader")
    assert (leader["url"], leader["term"]) == ("http://localhost:8090", 1)
    assert (found["attention"], found["more"]) == ([], 0)
    assert found["totals"] == {"broken": 0, "atRisk": 0, "toKnow": 0}
