"""What needs somebody, over HTTP: the worst first, since it began, with what may help."""

from datetime import timedelta

from supervisor.core.queue.events import QueueConfig, encode
from supervisor.core.tables.exports import Export, queue_of
from supervisor.core.values.export_formats import ExportFormat
from tests.supervisor.api.routes.cluster.overview.answers import (
    MINUTE,
    awaited,
    items,
    overview,
    part,
    part_list,
)
from tests.supervisor.api.routes.cluster.test_queues import EVENT, QUEUE, add, kill, set_aside
from tests.supervisor.api.world import (
    SUPERVISORS,
    TOPIC,
    World,
    spec_document,
    task_ids,
)


def test_the_worst_is_first_with_its_beginning_and_its_remedies(world: World) -> None:
    world.watch()
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.pass_time(MINUTE, agents)
    world.streams.create(TOPIC, 1, "id-2")
    world.settle()
    began = world.clock.now()
    world.clock.advance(MINUTE)  # nobody syncs

    broken, silent, _ = awaited(world, "supervisor-unhealthy", "worker-silent", "worker-silent")

    assert broken["severity"] == "broken"
    assert broken["about"] == {"kind": "supervisor", "id": TOPIC}
    assert f"{TOPIC} is UNHEALTHY_SUPERVISOR (TOPIC_CHANGED): " in str(broken["text"])
    assert str(broken["since"])[:19] == began.isoformat()[:19]
    first = broken["remedies"][0]  # type: ignore[index]  # a list
    assert (first["action"], first["command"]) == (
        "reset",
        f"tidegate supervisor reset {TOPIC}",
    )
    assert silent["severity"] == "at-risk"
    answered = overview(world, "?limit=1")
    assert (len(part_list(answered)), answered["more"]) == (1, 2)
    assert answered["totals"] == {"broken": 1, "atRisk": 1, "toKnow": 1}


def test_a_handoff_that_does_not_end_is_late_since_it_began(world: World) -> None:
    world.watch()
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    world.streams.append(TOPIC, 0, 5)
    world.pass_time(10 * MINUTE, agents)
    began = world.clock.now()
    world.round(agents)  # the range pauses, and its end is fixed; nobody publishes
    assert items(world) == []

    world.pass_time(16 * MINUTE, agents)

    [late] = awaited(world, "handoff-late")
    assert late["severity"] == "at-risk"
    assert str(late["since"])[:19] == began.isoformat()[:19]


def test_a_lag_that_rises_for_a_quarter_of_an_hour_is_at_risk(world: World) -> None:
    world.watch()
    world.streams.create(TOPIC, 1)
    agents = [world.agent("w1")]
    agents[0].sync()
    document = spec_document(task_count=1, replicas=1, taskDuration="PT2H")
    assert world.post(SUPERVISORS, document).status_code == 200
    world.settle()
    world.round(agents)
    began = world.clock.now()
    for _ in range(17):
        world.streams.append(TOPIC, 0, 100)
        world.pass_time(MINUTE, agents)

    [slow] = awaited(world, "lag-rising")
    assert slow["severity"] == "at-risk"
    assert abs(int(str(slow["since"])[14:16]) - began.minute) <= 1
    assert slow["remedies"][0]["params"] == {  # type: ignore[index]  # a list
        "pointer": "/spec/ioConfig/taskCount"
    }
    assert slow["partitions"] == [{"topic": TOPIC, "partition": 0}]
    assert str(slow["text"]).endswith(f"records behind, all of it in partition 0 of topic {TOPIC}")


def test_a_suspended_supervisor_whose_lag_grows_is_to_know_with_the_way_to_resume(
    world: World,
) -> None:
    world.watch()
    agents = world.start(partitions=2, task_count=1, replicas=1)
    assert world.post(f"{SUPERVISORS}/{TOPIC}/suspend").status_code == 200
    world.round(agents)
    for agent, task_id in task_ids(agents):
        agent.publish(task_id)
    world.round(agents)
    for _ in range(17):
        world.streams.append(TOPIC, 1, 100)
        world.pass_time(MINUTE, agents)

    # Nobody handles the event of its last publication in this world.
    _, forgotten = awaited(world, "queue-late", "suspended-behind")

    assert forgotten["severity"] == "to-know"
    assert forgotten["partitions"][0] == {"topic": TOPIC, "partition": 1}  # type: ignore[index]
    assert forgotten["remedies"][0]["action"] == "resume"  # type: ignore[index]


def test_replicas_without_a_slot_wait_since_they_do(world: World) -> None:
    world.watch()
    world.streams.create(TOPIC, 2)
    agents = [world.agent("w1", slots=1)]
    agents[0].sync()
    assert world.post(SUPERVISORS, spec_document(replicas=1)).status_code == 200
    world.settle()
    world.pass_time(timedelta(seconds=6), agents)

    [waiting] = awaited(world, "replicas-pending")

    assert (waiting["severity"], waiting["dataSource"]) == ("at-risk", TOPIC)
    assert f"nobody reads {TOPIC}:1; 0 slots are free" in str(waiting["text"])


def test_a_dead_queue_is_one_item_though_its_supervisor_is_unhealthy_by_it(world: World) -> None:
    world.watch()
    world.start(partitions=1, task_count=1, replicas=1)
    add(world)
    kill(world)
    world.settle()
    began = world.clock.now()

    [dead] = awaited(world, "queue-dead")

    answered = overview(world)
    assert dead["severity"] == "broken"
    assert dead["about"] == {"kind": "queue", "id": f"supervisor:{TOPIC}/task-output"}
    assert str(dead["since"])[:19] == began.isoformat()[:19]
    assert (part(answered, "queues")["dead"], part(answered, "supervisors")["unhealthy"]) == (1, 1)


def test_events_that_wait_or_were_set_aside_are_told(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    add(world)
    since = world.clock.now()
    set_aside(world, 9, encode(EVENT))
    world.clock.advance(timedelta(minutes=11))

    kinds = {item["kind"]: item for item in items(world)}

    assert {"queue-late", "events-failed"} <= kinds.keys()
    assert str(kinds["queue-late"]["since"])[:19] == since.isoformat()[:19]
    queues = part(overview(world), "queues")
    assert (queues["failed"], queues["oldestMillis"]) == (1, 11 * 60 * 1_000)
    assert queues["waiting"] == 1


def test_events_that_are_not_due_are_counted_and_no_trouble(world: World) -> None:
    """Goal: Home and the list of queues do not contradict each other."""
    world.start(partitions=1, task_count=1, replicas=1)
    now = world.clock.now()
    with world.store.leading(world.leadership.term()) as tx:
        tx.events.add(QUEUE, EVENT, QueueConfig(), now, not_before=now + timedelta(hours=1))
    world.clock.advance(timedelta(minutes=11))

    answered = overview(world)

    listed = world.get_rows("/api/v1/queues")
    queues = part(answered, "queues")
    assert (queues["waiting"], queues["oldestMillis"]) == (1, None)
    assert [each["outstandingEvents"] for each in listed] == [1]
    assert "queue-late" not in [item["kind"] for item in part_list(answered)]


def test_exports_are_counted_and_a_stuck_one_is_broken(world: World) -> None:
    began = world.clock.now()
    stuck = Export("a", ExportFormat.DELTA, enabled=True, problem="columns", behind_since=began)
    behind = Export("b", ExportFormat.DELTA, enabled=True)
    with world.store.leading(world.leadership.term()) as tx:
        for export in (stuck, behind, Export("c", ExportFormat.DELTA, enabled=False)):
            tx.exports.put(export)
    add(world, queue=queue_of("b", ExportFormat.DELTA))
    world.clock.advance(timedelta(minutes=11))

    answered = overview(world)

    assert part(answered, "exports") == {"total": 2, "behind": 2, "stuck": 1}
    assert [(i["kind"], i["about"]) for i in part_list(answered)] == [
        ("export-stuck", {"kind": "export", "id": "a/delta"}),
        ("export-behind", {"kind": "export", "id": "b/delta"}),
    ]
    queues = part(answered, "queues")
    assert (queues["waiting"], queues["oldestMillis"]) == (0, None), "it is an export's"
