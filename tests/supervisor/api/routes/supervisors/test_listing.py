"""The cheap list: rows of the last passes, filters, orders, pages, grants, and what it costs."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document
from tests.supervisor.cli.overlord import Reply, overlord
from tests.waiting import wait_until

PATH = "/api/v1/supervisors"
MINUTE = timedelta(minutes=1)


def page(world: World, query: str = "") -> Json:
    return world.get_object(f"{PATH}{query}")


def rows(world: World, query: str = "") -> list[Json]:
    found = page(world, query)["supervisors"]
    assert isinstance(found, list)
    return found


def ids(world: World, query: str = "") -> list[object]:
    return [row["id"] for row in rows(world, query)]


def store_specs(world: World, names: list[str]) -> None:
    """Store specs without a request each; nothing has looked at them yet."""
    with world.store.leading(world.leadership.term()) as tx:
        for name in names:
            spec = read_spec(spec_document(task_count=1, replicas=1)).spec
            named = spec.model_copy(update={"id": name})
            tx.specs.append(name, named, world.clock.now(), "ada")


def spec_of(table: str) -> SupervisorSpec:
    """A spec that fills a table."""
    document = spec_document()
    section = document["spec"]
    assert isinstance(section, dict)
    section["dataSchema"] = section["dataSchema"] | {"dataSource": table}
    return read_spec(document).spec


def make_passes(world: World, names: list[str]) -> None:
    """Return when each has a good pass behind it, and none is to come."""
    for name in names:
        world.loop.wake(name)
    wait_until(lambda: all(world.loop.last_pass(name) for name in names))
    for name in names:
        world.settle(name)


@contextmanager
def counted(world: World) -> Iterator[list[str]]:
    """Collect the statements of all threads."""
    collected: list[str] = []

    def executed(_: Connection, __: object, statement: str, *___: object) -> None:
        collected.append(statement)

    event.listen(world.store._engine, "before_cursor_execute", executed)
    yield collected
    event.remove(world.store._engine, "before_cursor_execute", executed)


# -- rows ------------------------------------------------------------------------------------------


def test_a_row_tells_how_a_supervisor_stands(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=2)
    world.watch()
    world.pass_time(MINUTE, agents)
    world.watching.sample()
    world.streams.append(TOPIC, 0, 50)
    world.pass_time(15 * MINUTE - MINUTE, agents)
    world.pass_time(MINUTE, agents)
    world.round(agents)

    [row] = rows(world)

    status = world.payload()
    for name in ("dataSource", "stream", "state", "detailedState", "healthy", "suspended", "why"):
        assert row[name] == status[name], name
    assert (row["id"], row["version"], row["versionBy"]) == (TOPIC, 1, "anonymous")
    assert (row["lagRecords"], row["trend"]) == (status["aggregateLag"], "rising")
    assert row["lagRecords"] == 50
    groups, replicas = row["groups"], row["replicas"]
    assert isinstance(groups, dict)
    assert isinstance(replicas, dict)
    assert sum(groups.values()) == len(_list(status["groups"]))
    assert replicas["pending"] == status["pendingReplicas"]
    assert replicas["unread"] == 0
    dues = [group["nextPublishDue"] for group in _list(status["groups"]) if group["nextPublishDue"]]
    assert (row["nextPublishDue"] is None) == (not dues)
    assert row["lastPublishedAt"] is None
    assert (row["badRecords"], row["warnings"]) == (0, status["warnings"])
    with world.store.reading() as tx:
        stored = tx.watched.state(TOPIC)
    assert stored is not None
    assert str(row["since"])[:19] == stored.since.isoformat()[:19]


def _list(value: object) -> list[Json]:
    assert isinstance(value, list)
    return value


def test_what_no_pass_has_seen_is_null_and_said(world: World) -> None:
    """Goal: a leader that has just begun makes nothing up."""
    store_specs(world, ["new"])

    [row] = rows(world)

    assert (row["state"], row["observedAt"], row["healthy"]) == ("PENDING", None, True)
    assert row["why"] == "the leading overlord has made no pass over it yet"
    unknown = ("lagRecords", "lagMillis", "trend", "groups", "replicas", "since", "badRecords")
    assert [row[name] for name in unknown] == [None] * len(unknown)
    assert (row["dataSource"], row["stream"]) == (TOPIC, TOPIC)


def test_a_list_looks_at_nothing_anew(world: World) -> None:
    """Goal: what it shows is what the last pass saw, and says of when that is."""
    world.start(partitions=1, task_count=1, replicas=1)
    [before] = rows(world)
    world.clock.advance(timedelta(seconds=5))
    world.streams.append(TOPIC, 0, 70)

    assert rows(world) == [before]
    assert world.payload()["aggregateLag"] == 70
    world.settle()
    [after] = rows(world)
    assert after["lagRecords"] == 70
    assert str(after["observedAt"]) > str(before["observedAt"])


def test_a_supervisor_at_rest_has_read_all(world: World) -> None:
    world.watch()
    world.streams.create(TOPIC, 1)
    bounds = {"startSequenceNumbers": {"0": 0}, "endSequenceNumbers": {"0": 0}}
    assert world.post(SUPERVISORS, spec_document(boundedStreamConfig=bounds)).status_code == 200
    wait_until(lambda: _rests(world))

    [row] = rows(world)

    assert (row["state"], row["healthy"], row["lagRecords"]) == ("COMPLETED", True, 0)
    assert (row["groups"], row["rowsPerSecond"], row["observedAt"]) == ({}, 0.0, None)


def _rests(world: World) -> bool:
    with world.store.reading() as tx:
        return bool(tx.specs.at_rest())


def test_an_id_that_comes_back_with_another_table_shows_nothing_of_the_one_before(
    world: World,
) -> None:
    """Goal: who may read the new table alone hears nothing of the topics and tasks of the other."""
    world.start(partitions=1, task_count=1, replicas=1)
    assert rows(world)[0]["observedAt"] is not None

    with world.store.leading(world.leadership.term()) as tx:
        tx.specs.append(TOPIC, None, world.clock.now(), "ada")
        tx.specs.append(TOPIC, spec_of("other"), world.clock.now(), "ada")
    [row] = rows(world)

    assert (row["dataSource"], row["state"], row["observedAt"]) == ("other", "PENDING", None)
    assert (row["lagRecords"], row["groups"], row["lastError"], row["warnings"]) == (
        *(None, None, None),
        [],
    )


def test_a_terminated_supervisor_is_not_listed(world: World) -> None:
    store_specs(world, ["a", "b"])
    with world.store.leading(world.leadership.term()) as tx:
        tx.specs.append("a", None, world.clock.now(), "ada")

    assert ids(world) == ["b"]
    assert page(world)["totals"] == {"PENDING": 1}


# -- filters, orders, pages ------------------------------------------------------------------------


def test_the_overview_comes_along_where_it_is_named(world: World) -> None:
    """Goal: a page that shows both asks once."""
    store_specs(world, ["orders-eu"])
    make_passes(world, ["orders-eu"])

    overview = world.get_object("/api/v1/overview")
    brought = page(world, "?along=overview")["overview"]

    assert page(world)["overview"] is None
    assert isinstance(brought, dict)
    for name in ("supervisors", "attention", "lag", "leader"):
        assert brought[name] == overview[name], name
    assert world.client.get("/api/v1/supervisors?along=row").status_code == 400


def test_filters_orders_and_pages_are_the_servers(world: World) -> None:
    store_specs(world, ["orders-eu", "orders-us", "views"])
    make_passes(world, ["orders-eu"])
    state = rows(world, "?q=EU")[0]["state"]

    assert ids(world, "?sort=-id") == ["views", "orders-us", "orders-eu"]
    assert ids(world, "?q=ORD&sort=id") == ["orders-eu", "orders-us"]
    assert ids(world, f"?state=pending&state={state}&sort=id") == [
        "orders-eu",
        "orders-us",
        "views",
    ]
    assert ids(world, "?dataSource=other") == []
    assert ids(world, f"?topic={TOPIC}&q=views&healthy=true") == ["views"]
    first = page(world, "?sort=id&limit=2")
    assert (first["matching"], len(_list(first["supervisors"]))) == (3, 2)
    assert first["totals"] == {"PENDING": 2, str(state): 1}
    store_specs(world, ["a", "tides"])
    second = page(world, f"?sort=id&limit=2&cursor={first['next']}")
    assert [row["id"] for row in _list(second["supervisors"])] == ["tides", "views"]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("query", "pointer", "hint"),
    [
        ("sort=lagg", "/query/sort", "lagMillis"),
        ("limit=0", "/query/limit", ""),
        ("limit=many", "/query/limit", ""),
        ("healthy=perhaps", "/query/healthy", ""),
        ("q=" + "a" * 1_001, "/query/q", ""),
    ],
)
def test_bad_input_is_a_problem_that_names_it(
    world: World, query: str, pointer: str, hint: str
) -> None:
    answer = world.client.get(f"{PATH}?{query}")

    problem = answer.json()
    assert (answer.status_code, problem["title"] != "", problem["detail"] != "") == (
        400,
        True,
        True,
    )
    [error] = problem["errors"]
    assert error["pointer"] == pointer
    assert hint in str(error)


def test_a_cursor_of_another_order_is_a_problem(world: World) -> None:
    store_specs(world, ["a", "b"])
    following = page(world, "?sort=id&limit=1")["next"]

    for query in (f"sort=-id&cursor={following}", f"cursor={following}x", "cursor=1"):
        answer = world.client.get(f"{PATH}?{query}")
        assert (answer.status_code, "cursor" in answer.json()["detail"]) == (400, True), query


# -- grants ----------------------------------------------------------------------------------------


def test_foreign_tables_are_nowhere(tmp_path: Path, migrated: Path) -> None:
    """Goal: not in rows, totals or counts, whatever the filter."""
    with a_guarded_world(tmp_path, migrated) as guarded:
        world = guarded.world
        reader = guarded.token("reader", *grants_of(Role.VIEWER))
        everywhere = guarded.token("everywhere", *grants_of(Role.VIEWER, "*"))
        nobody = guarded.token("nobody")
        with world.store.leading(world.leadership.term()) as tx:
            for table in (OWN, FOREIGN):
                tx.specs.append(table, spec_of(table), world.clock.now(), "ada")

        for query in ("", f"?q={FOREIGN}", f"?dataSource={FOREIGN}", "?sort=dataSource&limit=1"):
            text = guarded.ask("GET", PATH + query, reader).text
            assert FOREIGN not in text, query
        own = guarded.ask("GET", PATH, reader).json()
        assert ([row["id"] for row in own["supervisors"]], own["totals"]) == ([OWN], {"PENDING": 1})
        assert own["matching"] == 1
        assert guarded.ask("GET", PATH, everywhere).json()["totals"] == {"PENDING": 2}
        assert guarded.ask("GET", PATH, nobody).status_code == 403
        assert guarded.ask("GET", PATH).status_code == 401


# -- cost ------------------------------------------------------------------------------------------


def test_a_hundred_supervisors_cost_the_statements_of_one(world: World) -> None:
    """Goal: neither a new leader nor a later call looks at each supervisor."""
    costs = []
    names: list[str] = []
    for more in (["s000"], [f"s{number:03}" for number in range(1, 100)]):
        names += more
        store_specs(world, more)
        with counted(world) as first:
            assert len(rows(world)) == len(names)
        make_passes(world, more)
        with counted(world) as later:
            assert {row["observedAt"] is None for row in rows(world)} == {False}
        costs.append((len(first), len(later)))

    assert costs[0] == costs[1]
    assert costs[0][1] == costs[0][0] - 1, "documents are read of new versions alone"


# -- conditional, compressed -----------------------------------------------------------------------


def test_an_answer_that_is_known_is_not_sent_again(world: World) -> None:
    store_specs(world, [f"s{number}" for number in range(10)])
    make_passes(world, [f"s{number}" for number in range(10)])
    answer = world.client.get(PATH, headers={"Accept-Encoding": "identity"})
    tag = answer.headers["etag"]

    for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = world.client.get(PATH, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert world.client.get(PATH, headers={"If-None-Match": '"other"'}).status_code == 200
    assert world.client.get(PATH, headers={"If-None-Match": "other"}).status_code == 400
    store_specs(world, ["one-more"])
    assert world.client.get(PATH, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("identity", False),
        ("gzip;q=0", False),
        ("*;q=0.1, gzip;q=0", False),
        ("gzip;q=x", False),
        ("br", False),
    ],
)
def test_a_large_answer_is_compressed_for_who_takes_it(
    world: World, accepted: str, packed: bool
) -> None:
    store_specs(world, [f"s{number}" for number in range(10)])
    plain = world.client.get(PATH, headers={"Accept-Encoding": "identity"})
    with world.client.stream("GET", PATH, headers={"Accept-Encoding": accepted}) as answer:
        sent = b"".join(answer.iter_raw())

    assert (answer.headers.get("content-encoding") == "gzip") is packed
    assert (gzip.decompress(sent) if packed else sent) == plain.content
    assert not packed or len(sent) < len(plain.content) / 3
    small = world.client.get(f"{PATH}?limit=1", headers={"Accept-Encoding": accepted})
    assert "content-encoding" not in small.headers, "below 1 KiB"


def test_a_follower_passes_the_answer_on_as_the_leader_sent_it(follower: World) -> None:
    """Goal: what the client has and takes reaches the leader, and nothing is unpacked between."""
    sent = {"Content-Encoding": "gzip", "ETag": 'W/"b"', "Vary": "Accept-Encoding"}
    with overlord() as leader:
        leader.on("GET", PATH, Reply("packed", headers=sent), Reply("", 304, headers=sent))
        with follower.store.writing() as tx:
            tx.lease.take(None, "two", leader.url)
        follower.leadership.step()
        asked = {"If-None-Match": 'W/"a"', "Accept-Encoding": "gzip"}
        with follower.client.stream("GET", PATH, headers=asked) as answer:
            body = b"".join(answer.iter_raw())
        again = follower.client.get(PATH, headers={"Accept-Encoding": "identity"})

    assert (answer.status_code, body) == (200, b'"packed"')
    assert {name: answer.headers[name] for name in sent} == sent
    assert (again.status_code, again.headers["etag"]) == (304, 'W/"b"')
    first, second = (request.headers for request in leader.requests)
    assert (first["if-none-match"], first["accept-encoding"]) == ('W/"a"', "gzip")
    assert ("if-none-match" in second, second["accept-encoding"]) == (False, "identity")
