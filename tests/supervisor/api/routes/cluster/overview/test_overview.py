"""The overview: counts, grants, what it costs, and overlords that know little."""

from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.core.queue.events import QueueName, container_of
from supervisor.core.tables.exports import Export
from supervisor.core.values.errors import MetadataUnavailable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.core.values.permissions import ANYONE, Role
from supervisor.ports.store import Store, Transaction
from supervisor.services.services import Services
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.routes.cluster.overview.answers import (
    PATH,
    overview,
    part,
    part_list,
)
from tests.supervisor.api.routes.cluster.test_queues import add, kill
from tests.supervisor.api.routes.supervisors.test_listing import (
    counted,
    make_passes,
    spec_of,
    store_specs,
)
from tests.supervisor.api.world import (
    SUPERVISORS,
    TOPIC,
    World,
    a_world,
    task_ids,
)
from tests.supervisor.cli.overlord import Reply, overlord

# -- counts ----------------------------------------------------------------------------------------


def test_counts_are_those_of_the_list_and_the_workers(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=2)
    world.streams.append(TOPIC, 0, 50)
    world.settle()
    store_specs(world, ["unseen"])

    answered = overview(world)

    supervisors, slots = part(answered, "supervisors"), part(answered, "slots")
    assert (supervisors["total"], supervisors["unhealthy"], supervisors["suspended"]) == (2, 0, 0)
    assert supervisors["states"] == {"PENDING": 1, "RUNNING": 1}
    assert part(answered, "lag")["records"] == 50
    assert part(answered, "lag")["lookedAt"] == answered["at"], "the last pass looked just now"
    assert slots == {"needed": 4, "used": 4, "free": 4, "total": 8}
    assert part(answered, "workers") == {"alive": len(agents), "silent": 0, "lost": 0}
    assert part(answered, "queues") == {"dead": 0, "failed": 0, "waiting": 0, "oldestMillis": None}
    assert part(answered, "exports") == {"total": 0, "behind": 0, "stuck": 0}
    assert part(answered, "database")["ok"] is True
    leader = part(answered, "leader")
    assert (leader["url"], leader["term"]) == ("http://localhost:8090", 1)
    assert (answered["attention"], answered["more"]) == ([], 0)
    assert answered["totals"] == {"broken": 0, "atRisk": 0, "toKnow": 0}


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

        answered = guarded.ask("GET", PATH, nobody).json()

        assert guarded.ask("GET", PATH).status_code == 401
        assert answered["leader"]["term"] == 1
        assert [answered[name] for name in ("slots", "workers", "queues", "exports")] == [None] * 4
        assert (answered["supervisors"]["total"], answered["attention"]) == (0, [])


def test_tokens_that_end_are_told_to_who_manages_them_and_to_their_own(
    tmp_path: Path, migrated: Path
) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        ends = guarded.world.clock.now() + timedelta(days=9)
        viewer = grants_of(Role.VIEWER, "*")
        short = guarded.principals.add_token("short", viewer, "test", expires_at=ends)
        other = guarded.token("other", *viewer)
        admin = guarded.token("admin", *grants_of(Role.ADMIN, "*"))

        def announced(token: str) -> list[str]:
            answered = guarded.ask("GET", PATH, token).json()["attention"]
            return [item["about"]["id"] for item in answered if item["kind"] == "token-ending"]

        assert announced(short) == ["short"]
        assert announced(other) == []
        assert announced(admin) == ["short"]


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
    answered = overview(follower)

    assert (answered["leader"], answered["supervisors"], answered["slots"]) == (None, None, None)
    assert part(answered, "database")["ok"] is True
    [item] = part_list(answered)
    assert (item["severity"], item["kind"]) == ("broken", "no-leader")
    assert answered["totals"] == {"broken": 1, "atRisk": 0, "toKnow": 0}


class Silent:
    """A store whose database does not answer."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """Fail."""
        raise MetadataUnavailable("no answer in 5 s")


@pytest.mark.parametrize("leads", [True, False])
def test_without_the_database_that_is_what_it_says(
    tmp_path: Path, migrated: Path, leads: bool
) -> None:
    with a_world(tmp_path, migrated, leads=leads) as world:
        parts: Services = world.client.app.state.parts  # type: ignore[attr-defined]  # a FastAPI
        silent: Store = Silent()  # type: ignore[assignment]  # only read
        answered = replace(parts.overviews, store=silent).of(ANYONE, 100)

    assert (answered.database.ok, answered.database.millis) == (False, None)
    assert (answered.leader is not None) is leads
    assert [(each.kind, "no answer in 5 s" in each.text) for each in answered.attention] == [
        ("database-silent", True)
    ]
    [item] = answered.attention
    assert item.since is not None
    assert answered.supervisors is None
