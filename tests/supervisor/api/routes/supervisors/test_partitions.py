"""Partitions of a supervisor: what the leader's last look and the rows know, and no new look."""

from datetime import timedelta
from pathlib import Path
from threading import get_ident

import pytest
from sqlalchemy import event

from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.values.permissions import Role
from supervisor.services.services import Services
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document, task_ids

PATH = f"/api/v1/supervisors/{TOPIC}/partitions"
MINUTE = timedelta(minutes=1)


def rows(world: World, query: str = "") -> list[Json]:
    found = world.get_object(PATH + query)["partitions"]
    assert isinstance(found, list)
    return found


def look(world: World) -> None:
    """Let a minute pass, and the leader look at Kafka."""
    world.clock.advance(MINUTE)
    world.settle()
    world.watching.after_pass(TOPIC)


def test_a_partition_shows_its_log_its_offsets_and_its_task(world: World) -> None:
    agents = world.start(partitions=2, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 100)
    world.streams.append(TOPIC, 1, 30)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 30)
    world.round(agents)
    look(world)

    page = world.get_object(PATH)
    [first, second] = rows(world)

    last = world.loop.last_pass(TOPIC)
    assert last is not None
    assert last.seen.stream.read_at is not None
    assert page["readAt"] == last.seen.stream.read_at.isoformat().replace("+00:00", "Z")
    assert (page["count"], page["next"], page["trouble"]) == (2, None, None)
    assert (first["topic"], first["partition"], first["group"]) == (TOPIC, 0, 0)
    log = [first[name] for name in ("earliest", "firstOffset", "committed", "stable", "latest")]
    assert log == [0, 0, 0, 100, 100]
    assert first["lagRecords"] == 70
    assert first["tasks"] == [
        {
            "id": task_id,
            "generationId": first["generationId"],
            "replica": 0,
            "workerId": agent.id,
            "position": 30,
            "lag": 70,
        }
    ]
    assert (second["lagRecords"], second["lagMillis"]) == (0, 0)
    assert set(second["unknown"]) == {"headroomMillis"}  # type: ignore[call-overload]


def test_headroom_is_the_time_until_retention_reaches_what_is_not_published(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 1_000)
    offsets = {"type": "end", "stream": TOPIC, "partitionOffsetMap": {"0": 600}}
    body = {"type": "kafka", "partitions": offsets}
    assert world.post(f"{SUPERVISORS}/{TOPIC}/resetOffsets", body).status_code == 200
    look(world)
    [still] = rows(world)
    assert (still["headroomRecords"], still["headroomMillis"]) == (600, None)
    assert "deleted nothing" in still["unknown"]["headroomMillis"]  # type: ignore[index]

    for earliest in (100, 200, 300):
        world.streams.expire(TOPIC, 0, earliest)
        look(world)

    [row] = rows(world)
    assert row["headroomRecords"] == 300
    millis = row["headroomMillis"]
    assert isinstance(millis, int)
    assert millis == pytest.approx(3 * 60_000, rel=0.01)
    world.streams.expire(TOPIC, 0, 700)
    look(world)
    [row] = rows(world)
    assert (row["headroomRecords"], row["headroomMillis"]) == (-100, 0)


def test_it_starts_no_look_at_kafka_and_asks_as_much_for_one_as_for_many(world: World) -> None:
    """Goal: an open page costs Kafka nothing, and the database the same for each supervisor."""
    world.start(partitions=2, task_count=2, replicas=2)
    before = world.get_object(PATH)
    world.streams.append(TOPIC, 0, 500)

    assert world.get_object(PATH) == before, "what came since is not looked for"
    few = statements_of(world)
    for number in range(3):
        document = spec_document() | {"id": f"other-{number}"}
        assert world.post(SUPERVISORS, document).status_code == 200
        world.settle(f"other-{number}")
    assert statements_of(world) == few


def statements_of(world: World) -> int:
    """Count what one answer asks the database; passes run in threads of their own."""
    here, count = get_ident(), 0

    def executed(*_: object) -> None:
        nonlocal count
        count += get_ident() == here

    parts: Services = world.client.app.state.parts  # type: ignore[attr-defined]
    event.listen(world.store._engine, "before_cursor_execute", executed)
    parts.supervisors.partitions(TOPIC)
    event.remove(world.store._engine, "before_cursor_execute", executed)
    assert count, "the database of the reads"
    return count


def test_a_look_that_failed_leaves_what_was_known_and_is_named(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    known = world.get_object(PATH)
    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer from localhost:9092")
    look(world)

    page = world.get_object(PATH)

    assert page["trouble"] == {"code": "unreachable", "text": "no answer from localhost:9092"}
    assert (page["readAt"], rows(world)[0]["latest"]) == (known["readAt"], 0)


def test_pages_follow_each_other_in_any_order(world: World) -> None:
    world.start(partitions=4, task_count=2, replicas=1)
    for number in range(4):
        world.streams.append(TOPIC, number, 10 * (4 - number))
    look(world)

    for sort, order in (("partition", [0, 1, 2, 3]), ("-lagRecords", [0, 1, 2, 3])):
        first = world.get_object(f"{PATH}?sort={sort}&limit=3")
        second = world.get_object(f"{PATH}?sort={sort}&limit=3&cursor={first['next']}")
        pages = [*first["partitions"], *second["partitions"]]  # type: ignore[misc]
        assert [row["partition"] for row in pages] == order
        assert (first["count"], second["next"]) == (4, None)
        other = world.client.get(f"{PATH}?sort=lagMillis&cursor={first['next']}")
        assert (other.status_code, other.json()["type"]) == (400, "/problems/bad-cursor")


def test_a_part_of_them_is_chosen_before_the_pages_are_cut(world: World) -> None:
    """Goal: the third page of those behind is not the third page of all."""
    world.start(partitions=4, task_count=2, replicas=1)
    for number in (0, 1, 3):
        world.streams.append(TOPIC, number, 10 * (4 - number))
    look(world)
    query = "?only=behind&sort=-lagRecords&limit=2"

    first = world.get_object(PATH + query)
    world.streams.append(TOPIC, 2, 5)
    second = world.get_object(f"{PATH}{query}&cursor={first['next']}")

    pages = [*first["partitions"], *second["partitions"]]  # type: ignore[misc]
    assert [row["partition"] for row in pages] == [0, 1, 3]
    assert (first["count"], first["fitting"], second["next"]) == (4, 3, None)
    other = world.client.get(f"{PATH}?sort=-lagRecords&cursor={first['next']}")
    assert other.status_code == 400, "a cursor is of one filter"


def test_the_partitions_at_risk_are_those_of_the_overview(world: World) -> None:
    """Goal: one rule, whoever shows it; what is deleted already is among them."""
    world.watch()
    world.start(partitions=3, task_count=1, replicas=1)
    for number in range(3):
        world.streams.append(TOPIC, number, 1_000)
    offsets = {"type": "end", "stream": TOPIC, "partitionOffsetMap": {"0": 400, "1": 900, "2": 900}}
    body = {"type": "kafka", "partitions": offsets}
    assert world.post(f"{SUPERVISORS}/{TOPIC}/suspend").status_code == 200
    assert world.post(f"{SUPERVISORS}/{TOPIC}/resetOffsets", body).status_code == 200
    look(world)
    assert world.get_object(PATH + "?only=at-risk")["fitting"] == 0

    for earliest in (100, 200, 300):
        world.streams.expire(TOPIC, 0, earliest)
        world.streams.expire(TOPIC, 1, earliest * 3 + 50)
        look(world)

    at_risk = {row["partition"]: row["atRisk"] for row in rows(world)}
    assert at_risk == {0: True, 1: True, 2: False}
    page = world.get_object(PATH + "?only=at-risk&sort=headroomMillis")
    assert [row["partition"] for row in rows(world, "?only=at-risk")] == [0, 1]
    assert (page["count"], page["fitting"]) == (3, 2)
    last = world.loop.last_pass(TOPIC)
    assert last is not None
    conditions = world.watching.conditions(last.seen)
    assert conditions is not None
    assert {p.partition for p in conditions.risks} == {0}
    assert {p.partition for p in conditions.passed} == {1}


def test_what_the_client_has_is_not_sent_again(world: World) -> None:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    first = world.client.get(PATH)
    tag = first.headers["etag"]

    same = world.client.get(PATH, headers={"If-None-Match": tag})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    other = world.client.get(f"{PATH}?sort=-partition&limit=1", headers={"If-None-Match": '"no"'})
    assert other.status_code == 200
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 5)
    world.round(agents)
    changed = world.client.get(PATH, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.headers["etag"] == tag) == (200, False)


@pytest.mark.parametrize("query", ["sort=lag", "only=slow", "limit=0", "limit=x", "cursor=a.b"])
def test_bad_input_is_a_problem_with_its_place(world: World, query: str) -> None:
    world.start()
    answer = world.client.get(f"{PATH}?{query}")
    assert answer.status_code == 400
    problem = answer.json()
    assert problem["title"]
    assert problem["detail"]
    if "cursor" not in query:
        [error] = problem["errors"]
        assert error["pointer"] == f"/query/{query.partition('=')[0]}"
        assert error["hint"]


def test_who_is_not_there_is_not_found(world: World) -> None:
    assert world.client.get("/api/v1/supervisors/never/partitions").status_code == 404


def test_one_that_was_never_looked_at_says_so(world: World) -> None:
    """Goal: a completed bounded supervisor is in no pass any more; nothing of it is shown as 0."""
    world.streams.create(TOPIC, 1)
    bounds = {"startSequenceNumbers": {"0": 0}, "endSequenceNumbers": {"0": 0}}
    assert world.post(SUPERVISORS, spec_document(boundedStreamConfig=bounds)).status_code == 200
    world.settle()
    world.streams.forget(TOPIC)

    page = world.get_object(PATH)

    [row] = rows(world)
    assert page["readAt"] is None
    assert (row["latest"], row["committed"]) == (None, 0)
    assert "not looked at" in row["unknown"]["latest"]  # type: ignore[index]


def test_what_the_page_shows_besides_comes_along_where_it_is_named(world: World) -> None:
    """Goal: a page that polls asks once for all that it shows."""
    world.start(partitions=1, task_count=1, replicas=1)
    look(world)

    brought = world.get_object(f"{PATH}?along=row&along=explanation")
    bare = world.get_object(PATH)

    listed = world.get_object(f"/api/v1/supervisors?q={TOPIC}")["supervisors"]
    assert [brought["row"]] == listed
    assert brought["explanation"] == world.get_object(f"/api/v1/supervisors/{TOPIC}/explain")
    assert brought["overview"] is None
    assert (bare["row"], bare["explanation"]) == (None, None)


def test_a_follower_does_not_answer_from_memory_that_it_does_not_have(follower: World) -> None:
    assert follower.client.get(PATH).status_code == 503


def test_a_foreign_supervisor_is_not_there(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        admin = guarded.token("admin", *grants_of(Role.ADMIN, "*"))
        viewer = guarded.token("viewer", *grants_of(Role.VIEWER, OWN))
        for table in (OWN, FOREIGN):
            guarded.world.streams.create(table, 1)
            document = spec_document(task_count=1, replicas=1, topic=table)
            document["spec"]["dataSchema"]["dataSource"] = table  # type: ignore[index]
            assert guarded.ask("POST", SUPERVISORS, admin, document).status_code == 200
            guarded.world.settle(table)

        answers = [
            guarded.ask("GET", f"/api/v1/supervisors/{table}/partitions", viewer)
            for table in (OWN, FOREIGN, "nowhere")
        ]
        along = "along=overview&along=row&along=explanation"
        own = guarded.ask("GET", f"/api/v1/supervisors/{OWN}/partitions?{along}", viewer).json()

    assert own["overview"]["supervisors"]["total"] == 1
    assert [answer.status_code for answer in answers] == [200, 404, 404]
    assert answers[1].text.replace(FOREIGN, "nowhere") == answers[2].text
