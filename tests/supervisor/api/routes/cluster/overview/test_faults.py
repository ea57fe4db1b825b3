"""Faults of the surroundings, over HTTP: one item each, since it began, with what may help."""

from datetime import timedelta

from supervisor.core.planning.observed import StreamTrouble
from tests.supervisor.api.routes.cluster.overview.answers import (
    MINUTE,
    awaited,
    items,
    overview,
    part,
)
from tests.supervisor.api.routes.supervisors.test_listing import make_passes, spec_of
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document, task_ids
from tests.waiting import wait_until

BROKERS = "localhost:9092"
SECOND = timedelta(seconds=1)


def first_remedy(item: Json) -> Json:
    remedies = item["remedies"]
    assert isinstance(remedies, list)
    assert isinstance(remedies[0], dict)
    return remedies[0]


def test_silent_brokers_are_one_item_for_all_who_read_them(world: World) -> None:
    """Goal: from the first failed look on, since then, and nobody is unhealthy besides."""
    world.watch()
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.round(agents)
    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer from localhost:9092")
    began = world.clock.now()
    world.settle()

    [first] = awaited(world, "stream-silent")

    assert (first["about"], first["severity"]) == ({"kind": "brokers", "id": BROKERS}, "broken")
    assert (first["supervisors"], first["dataSource"]) == ([TOPIC], TOPIC)
    assert "no answer from localhost:9092" in str(first["text"])
    assert str(first["since"])[:19] == began.isoformat()[:19]
    assert first_remedy(first)["action"] == "ask-brokers"

    with world.store.leading(world.leadership.term()) as tx:
        tx.specs.append("web", spec_of("web"), world.clock.now(), "ada")
    for _ in range(3):
        world.pass_time(MINUTE, agents)
        make_passes(world, ["web"])
    [both] = awaited(world, "stream-silent")
    assert part(overview(world), "supervisors")["unhealthy"] == 2
    assert (both["supervisors"], both["dataSource"]) == ([TOPIC, "web"], None)
    assert both["since"] == first["since"]

    world.streams.heal()
    make_passes(world, ["web", TOPIC])
    assert items(world) == []


def test_a_silence_and_its_end_are_an_event_each_at_once(world: World) -> None:
    """Goal: pages look anew at the first failed look, though the state waits for more."""
    world.watch()
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.round(agents)
    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer from localhost:9092")
    world.settle()
    wait_until(lambda: bool(_silences(world)))  # an event is written behind the pass
    assert _silences(world) == [("stream-silent", {"why": "no answer from localhost:9092"})]
    for _ in range(3):
        world.pass_time(MINUTE, agents)
    assert len(_silences(world)) == 1

    world.streams.heal()
    make_passes(world, [TOPIC])
    wait_until(lambda: len(_silences(world)) > 1)
    make_passes(world, [TOPIC])

    assert _silences(world)[0] == ("stream-answers", {})
    assert len(_silences(world)) == 2


def _silences(world: World) -> list[tuple[object, object]]:
    params = {"type": ["stream-silent", "stream-answers"], "limit": 10}
    answer = world.client.get("/api/v1/events", params=params).raise_for_status()
    return [(each["type"], each["detail"]) for each in answer.json()["events"]]


def test_without_a_worker_one_item_stands_for_all_replicas_that_wait(world: World) -> None:
    world.watch()
    world.streams.create(TOPIC, 2)
    assert world.post(SUPERVISORS, spec_document()).status_code == 200
    world.settle()
    began = world.clock.now()
    world.pass_time(6 * SECOND, [])

    [nobody] = awaited(world, "no-workers")

    assert (nobody["about"], nobody["severity"]) == ({"kind": "cluster", "id": ""}, "broken")
    assert (nobody["supervisors"], nobody["dataSource"]) == ([TOPIC], TOPIC)
    assert str(nobody["since"])[:19] == began.isoformat()[:19]
    assert first_remedy(nobody)["command"] == "tidegate worker"


def test_deleted_records_of_a_suspended_supervisor_are_counted_with_a_way_on(
    world: World,
) -> None:
    world.watch()
    agents = world.start(partitions=1, task_count=1, replicas=1)
    assert world.post(f"{SUPERVISORS}/{TOPIC}/suspend").status_code == 200
    world.round(agents)
    for agent, task_id in task_ids(agents):
        agent.publish(task_id)
    world.round(agents)
    world.streams.append(TOPIC, 0, 50)
    world.settle()
    assert items(world) == []
    world.streams.expire(TOPIC, 0, 12)
    began = world.clock.now()
    world.settle()

    [deleted] = awaited(world, "retention-passed")

    assert deleted["severity"] == "broken"
    assert (deleted["about"], deleted["dataSource"]) == ({"kind": "supervisor", "id": TOPIC}, TOPIC)
    assert f"{TOPIC} would next read 12 records of partition 0" in str(deleted["text"])
    assert deleted["partitions"] == [{"topic": TOPIC, "partition": 0}]
    assert str(deleted["since"])[:19] == began.isoformat()[:19]
    step = first_remedy(deleted)
    assert (step["action"], step["params"]) == ("reset-offsets", {"offsets": {"0": 12}})
