"""The list of terminated supervisors: what is known of each end, filters, pages and grants."""

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.routes.supervisors.test_listing import counted, spec_of, store_specs
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World

PATH = "/api/v1/supervisors/terminated"


def page(world: World, query: str = "") -> Json:
    return world.get_object(PATH + query)


def rows(world: World, query: str = "") -> list[Json]:
    found = page(world, query)["supervisors"]
    assert isinstance(found, list)
    return found


def ids(world: World, query: str = "") -> list[object]:
    return [row["id"] for row in rows(world, query)]


def end(world: World, *names: str) -> None:
    """Terminate supervisors without a request each, a second after one another."""
    for name in names:
        world.clock.advance(timedelta(seconds=1))
        with world.store.leading(world.leadership.term()) as tx:
            tx.specs.append(name, None, world.clock.now(), "ada")


def test_a_row_has_when_by_whom_why_and_what_brings_it_back(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    assert rows(world) == []
    answer = world.post(f"{SUPERVISORS}/{TOPIC}/terminate?reason=moved%20to%20eu", {})
    assert answer.status_code == 200, answer.text

    [row] = rows(world)

    assert row | {"terminatedAt": None} == {
        "id": TOPIC,
        "dataSource": TOPIC,
        "terminatedAt": None,
        "terminatedBy": "anonymous",
        "reason": "moved to eu",
        "version": 1,
    }
    versions = world.get_object(f"/api/v1/supervisors/{TOPIC}/history?limit=1")["versions"]
    assert [row["terminatedAt"]] == [each["at"] for each in cast("list[Json]", versions)]
    back = world.post(f"/api/v1/supervisors/{TOPIC}/rollback", {"version": row["version"]})
    assert back.status_code == 200, back.text
    assert rows(world) == []


def test_what_is_forgotten_is_not_listed(world: World) -> None:
    store_specs(world, ["a", "b"])
    end(world, "a", "b")
    assert world.post("/api/v1/supervisors/a/forget", {}).status_code == 200

    assert ids(world) == ["b"]


def test_the_newest_end_is_first_and_pages_have_each_once(world: World) -> None:
    store_specs(world, ["a", "b", "c", "runs"])
    end(world, "b", "a", "c")

    first = page(world, "?limit=2")
    end_of_more = ["later"]
    store_specs(world, end_of_more)
    end(world, *end_of_more)
    second = page(world, f"?limit=2&cursor={first['next']}")

    assert ids(world) == ["later", "c", "a", "b"]
    assert (first["matching"], second["matching"], second["next"]) == (3, 4, None)
    shown = [row for each in (first, second) for row in cast("list[Json]", each["supervisors"])]
    assert [row["id"] for row in shown] == ["c", "a", "b"]


def test_those_that_ended_at_once_are_by_id(world: World) -> None:
    store_specs(world, ["c", "a", "b"])
    with world.store.leading(world.leadership.term()) as tx:
        for name in ("b", "c", "a"):
            tx.specs.append(name, None, world.clock.now(), "ada")

    first = page(world, "?limit=1")
    assert ids(world, f"?cursor={first['next']}") == ["b", "c"]


def test_filters_are_by_name_and_by_table(world: World) -> None:
    with world.store.leading(world.leadership.term()) as tx:
        for name, table in (("orders-eu", "orders"), ("orders-us", "orders"), ("visits", "views")):
            tx.specs.append(name, spec_of(table), world.clock.now(), "ada")
    end(world, "orders-eu", "orders-us", "visits")

    assert ids(world, "?q=EU") == ["orders-eu"]
    assert ids(world, "?q=ORDERS") == ["orders-us", "orders-eu"]
    assert ids(world, "?q=v*s") == ["visits"]
    assert ids(world, "?dataSource=view*") == ["visits"]
    assert ids(world, "?dataSource=view") == []
    assert page(world, "?q=eu&dataSource=views") == {"supervisors": [], "matching": 0, "next": None}


@pytest.mark.parametrize(
    ("query", "pointer"),
    [("limit=0", "/query/limit"), ("limit=1001", "/query/limit"), ("q=" + "a" * 1_001, "/query/q")],
)
def test_bad_input_is_a_problem_that_names_it(world: World, query: str, pointer: str) -> None:
    answer = world.client.get(f"{PATH}?{query}")

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, pointer)


def test_a_cursor_of_another_list_is_a_problem(world: World) -> None:
    store_specs(world, ["a", "b"])
    other = world.get_object("/api/v1/supervisors?sort=id&limit=1")["next"]

    for cursor in (other, "1"):
        answer = world.client.get(f"{PATH}?cursor={cursor}")
        assert (answer.status_code, "cursor" in answer.json()["detail"]) == (400, True), cursor


def test_a_reader_of_one_table_sees_nothing_of_another(tmp_path: Path, migrated: Path) -> None:
    """Goal: neither in rows nor in counts, whatever the filter; also once fed by another table."""
    with a_guarded_world(tmp_path, migrated) as guarded:
        world = guarded.world
        reader = guarded.token("reader", *grants_of(Role.VIEWER))
        everywhere = guarded.token("everywhere", *grants_of(Role.VIEWER, "*"))
        nobody = guarded.token("nobody")
        with world.store.leading(world.leadership.term()) as tx:
            for table in (OWN, FOREIGN):
                tx.specs.append(table, spec_of(table), world.clock.now(), "ada")
            tx.specs.append("moved", spec_of(OWN), world.clock.now(), "ada")
            tx.specs.append("moved", spec_of(FOREIGN), world.clock.now(), "ada")
        end(world, OWN, FOREIGN, "moved")

        for query in ("", f"?q={FOREIGN}", f"?dataSource={FOREIGN}", "?q=moved", "?limit=1"):
            text = guarded.ask("GET", PATH + query, reader).text
            assert FOREIGN not in text, query
            assert "moved" not in text, query
        own = guarded.ask("GET", PATH, reader).json()
        assert ([row["id"] for row in own["supervisors"]], own["matching"]) == ([OWN], 1)
        assert own["next"] is None
        assert guarded.ask("GET", PATH, everywhere).json()["matching"] == 3
        assert guarded.ask("GET", PATH, nobody).status_code == 403
        assert guarded.ask("GET", PATH).status_code == 401


def test_many_ends_cost_one_statement(world: World) -> None:
    names = [f"s{number:03}" for number in range(30)]
    store_specs(world, names)
    end(world, *names)

    with counted(world) as statements:
        assert len(rows(world)) == len(names)

    assert [each for each in statements if "supervisor_specs" in each] == [statements[-1]]


def test_an_answer_that_is_known_is_not_sent_again(world: World) -> None:
    store_specs(world, ["a", "b"])
    end(world, "a")
    tag = world.client.get(PATH).headers["etag"]

    assert world.client.get(PATH, headers={"If-None-Match": tag}).status_code == 304
    end(world, "b")
    assert world.client.get(PATH, headers={"If-None-Match": tag}).status_code == 200
