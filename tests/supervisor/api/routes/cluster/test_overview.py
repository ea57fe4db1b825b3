"""The overview: counts, what needs somebody, grants, what it costs, and who cannot say much."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.core.queue.events import QueueName, container_of, encode
from supervisor.core.tables.exports import Export, queue_of
from supervisor.core.values.errors import MetadataUnavailable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.core.values.permissions import ANYONE, Role
from supervisor.ports.store import Store, Transaction
from supervisor.services.services import Services
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.routes.cluster.test_queues import EVENT, add, kill, set_aside
from tests.supervisor.api.routes.supervisors.test_listing import (
    counted,
    make_passes,
    spec_of,
    store_specs,
)
from tests.supervisor.api.world import (
    SUPERVISORS,
    TOPIC,
    Json,
    World,
    a_world,
    spec_document,
    task_ids,
)
from tests.supervisor.cli.overlord import Reply, overlord
from tests.waiting import wait_until

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


def part_list(whole: Json) -> list[Json]:
    found = whole["attention"]
    assert isinstance(found, list)
    return found


def awaited(world: World, *kinds: str) -> list[Json]:
    """The items, once they are of these kinds and their beginnings known.

    What follows a pass, such as the row of its state, follows it in a thread.
    """

    def is_there() -> bool:
        found = items(world)
        return [item["kind"] for item in found] == [*kinds] and all(i["since"] for i in found)

    wait_until(is_there)
    return items(world)


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


def test_operations_count_while_they_run(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    assert overview(world)["operations"] == 0
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    assert world.post(f"{SUPERVISORS}/{TOPIC}/suspend").status_code == 200
    world.settle()
    running = world.get_object("/api/v1/operations")["operations"]
    assert isinstance(running, list)
    assert running[0]["state"] == "running"

    assert overview(world)["operations"] == 1

    world.round(agents)
    agent.publish(task_id)
    world.round(agents)
    assert overview(world)["operations"] == 0


# -- attention -------------------------------------------------------------------------------------


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
    found = overview(world, "?limit=1")
    assert (len(part_list(found)), found["more"]) == (1, 2)
    assert found["totals"] == {"broken": 1, "atRisk": 1, "toKnow": 1}


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
    agents = world.start(partitions=1, task_count=1, replicas=1, taskDuration="PT2H")
    world.settle()
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


def test_replicas_without_a_slot_wait_since_they_do(world: World) -> None:
    world.watch()
    world.streams.create(TOPIC, 2)
    assert world.post(SUPERVISORS, spec_document()).status_code == 200
    world.settle()
    world.pass_time(2 * MINUTE, [])

    [waiting] = awaited(world, "replicas-pending")

    assert waiting["severity"] == "at-risk"
    assert "nobody reads 2 ranges; 0 slots are free" in str(waiting["text"])


def test_a_dead_queue_is_one_item_though_its_supervisor_is_unhealthy_by_it(world: World) -> None:
    world.watch()
    world.start(partitions=1, task_count=1, replicas=1)
    add(world)
    kill(world)
    world.settle()
    began = world.clock.now()

    [dead] = awaited(world, "queue-dead")

    found = overview(world)
    assert dead["severity"] == "broken"
    assert dead["about"] == {"kind": "queue", "id": f"supervisor:{TOPIC}/task-output"}
    assert str(dead["since"])[:19] == began.isoformat()[:19]
    assert (part(found, "queues")["dead"], part(found, "supervisors")["unhealthy"]) == (1, 1)


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


def test_exports_are_counted_and_a_stuck_one_is_broken(world: World) -> None:
    began = world.clock.now()
    stuck = Export("a", ExportFormat.DELTA, enabled=True, problem="columns", behind_since=began)
    behind = Export("b", ExportFormat.DELTA, enabled=True)
    with world.store.leading(world.leadership.term()) as tx:
        for export in (stuck, behind, Export("c", ExportFormat.DELTA, enabled=False)):
            tx.exports.put(export)
    add(world, queue=queue_of("b", ExportFormat.DELTA))
    world.clock.advance(timedelta(minutes=11))

    found = overview(world)

    assert part(found, "exports") == {"total": 2, "behind": 2, "stuck": 1}
    assert [(i["kind"], i["about"]) for i in part_list(found)] == [
        ("export-stuck", {"kind": "export", "id": "a/delta"}),
        ("export-behind", {"kind": "export", "id": "b/delta"}),
    ]
    assert part(found, "queues")["oldestMillis"] is None, "it is an export's"


# -- grants ----------------------------------------------------------------------------------------


def test_foreign_tables_are_nowhere(tmp_path: Path, migrated: Path) -> None:
    """Goal: not in counts, not in totals, not in sentences."""
    with a_guarded_world(tmp_path, migrated) as guarded:
        world = guarded.world
        own = guarded.token("own", *grants_of(Role.VIEWER))
        everywhere = guarded.token("everywhere", *grants_of(Role.ADMIN, "*"))
        alone = guarded.ask("GET", PATH, own).json()
        with world.store.leading(world.leadership.term()) as tx:
            for table in (OWN, FOREIGN):
                tx.specs.append(table, spec_of(table), world.clock.now(), "ada")
            tx.exports.put(Export(FOREIGN, ExportFormat.DELTA, enabled=True, problem="columns"))
        for table in (OWN, FOREIGN):
            add(world, queue=QueueName(container_of(table), "task-output"))
            kill(world, QueueName(container_of(table), "task-output"))

        shown = guarded.ask("GET", PATH, own)
        whole = guarded.ask("GET", PATH, everywhere).json()

        assert FOREIGN not in shown.text
        mine = shown.json()
        assert mine["supervisors"] == alone["supervisors"] | {
            "total": 1,
            "states": {"PENDING": 1},
        }
        assert (mine["queues"]["dead"], mine["exports"]["total"]) == (1, 0)
        assert mine["totals"] == {"broken": 1, "atRisk": 0, "toKnow": 0}
        assert (whole["queues"]["dead"], whole["exports"]["stuck"]) == (2, 1)
        assert (whole["supervisors"]["total"], whole["totals"]["broken"]) == (2, 3)


def test_who_may_read_nothing_hears_who_leads_and_nothing_else(
    tmp_path: Path, migrated: Path
) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        nobody = guarded.token("nobody")

        found = guarded.ask("GET", PATH, nobody).json()

        assert guarded.ask("GET", PATH).status_code == 401
        assert found["leader"]["term"] == 1
        assert [found[name] for name in ("slots", "workers", "queues", "exports")] == [None] * 4
        assert (found["supervisors"]["total"], found["attention"]) == (0, [])


def test_tokens_that_end_are_told_to_who_manages_them_and_to_their_own(
    tmp_path: Path, migrated: Path
) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        ends = guarded.world.clock.now() + timedelta(days=9)
        viewer = grants_of(Role.VIEWER, "*")
        short = guarded.principals.add_token("short", viewer, "test", expires_at=ends)
        other = guarded.token("other", *viewer)
        admin = guarded.token("admin", *grants_of(Role.ADMIN, "*"))

        def told(token: str) -> list[str]:
            found = guarded.ask("GET", PATH, token).json()["attention"]
            return [item["about"]["id"] for item in found if item["kind"] == "token-ending"]

        assert told(short) == ["short"]
        assert told(other) == []
        assert told(admin) == ["short"]


# -- cost ------------------------------------------------------------------------------------------


def test_a_hundred_supervisors_cost_the_statements_of_one_and_no_look(world: World) -> None:
    """Goal: no supervisor is observed anew, whoever polls."""
    costs = []
    names: list[str] = []
    for more in (["s000"], [f"s{number:03}" for number in range(1, 100)]):
        names += more
        store_specs(world, more)
        make_passes(world, more)
        overview(world)
        seen = [world.loop.last_pass(name) for name in names]
        looks = [world.streams.last(name) for name in names]
        with counted(world) as statements:
            assert part(overview(world), "supervisors")["total"] == len(names)
        assert [world.loop.last_pass(name) for name in names] == seen
        assert all(
            world.streams.last(name) is look for name, look in zip(names, looks, strict=True)
        )
        costs.append(len(statements))

    assert costs[0] == costs[1]


def test_an_answer_that_is_known_is_not_sent_again(world: World) -> None:
    """Goal: the time of the answer, and how fast the database was, are no news."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    answer = world.client.get(PATH)
    tag = answer.headers["etag"]
    world.clock.advance(timedelta(seconds=3))

    again = world.client.get(PATH, headers={"If-None-Match": tag})

    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    world.streams.append(TOPIC, 0, 50)
    world.round(agents)
    assert world.client.get(PATH, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=many"])
def test_bad_input_is_a_problem_that_names_it(world: World, query: str) -> None:
    answer = world.client.get(f"{PATH}?{query}")

    problem = answer.json()
    assert (answer.status_code, problem["title"] != "", problem["detail"] != "") == (
        400,
        True,
        True,
    )
    [error] = problem["errors"]
    assert (error["pointer"], error["hint"] != "") == ("/query/limit", True)


# -- overlords that know little --------------------------------------------------------------------


def test_a_follower_passes_on_what_the_leader_says(follower: World) -> None:
    with overlord() as leader:
        leader.on("GET", PATH, Reply({"attention": []}, headers={"ETag": 'W/"a"'}))
        with follower.store.writing() as tx:
            tx.lease.take(None, "two", leader.url)
        follower.leadership.step()
        answer = follower.client.get(PATH)

    assert (answer.status_code, answer.headers["etag"]) == (200, 'W/"a"')
    assert answer.json() == {"attention": []}


def test_without_a_leader_that_is_what_it_says(follower: World) -> None:
    found = overview(follower)

    assert (found["leader"], found["supervisors"], found["slots"]) == (None, None, None)
    assert part(found, "database")["ok"] is True
    [item] = part_list(found)
    assert (item["severity"], item["kind"]) == ("broken", "no-leader")
    assert found["totals"] == {"broken": 1, "atRisk": 0, "toKnow": 0}


class Silent:
    """A store whose database does not answer."""

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Fail."""
        raise MetadataUnavailable("no answer in 5 s")
        yield

    writing = leading = on_added = reading  # not called


@pytest.mark.parametrize("leads", [True, False])
def test_without_the_database_that_is_what_it_says(
    tmp_path: Path, migrated: Path, leads: bool
) -> None:
    with a_world(tmp_path, migrated, leads=leads) as world:
        parts: Services = world.client.app.state.parts  # type: ignore[attr-defined]  # a FastAPI
        silent: Store = Silent()  # type: ignore[assignment]  # only read
        found = replace(parts.overviews, store=silent).of(ANYONE, 100)

    assert (found.database.ok, found.database.millis) == (False, None)
    assert (found.leader is not None) is leads
    assert [(each.kind, "no answer in 5 s" in each.text) for each in found.attention] == [
        ("database-silent", True)
    ]
    assert found.supervisors is None
