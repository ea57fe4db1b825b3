"""Offsets of a time, of the ends of the log, of a shift: what the dialogs of a reset ask."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.planning.wished_offsets import TimedRecord
from supervisor.core.values.permissions import Role
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.world import NOON, SUPERVISORS, TOPIC, Json, World, spec_document

PATH = f"/api/v1/supervisors/{TOPIC}/offsets"
SECOND = timedelta(seconds=1)


def find(world: World, query: str) -> list[Json]:
    found = world.get_object(f"{PATH}?{query}")["partitions"]
    assert isinstance(found, list)
    return found


def written(world: World) -> None:
    """Two partitions; the first has records each second from noon on, of which ten are gone."""
    world.start(partitions=2, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 100)
    world.streams.expire(TOPIC, 0, 10)
    world.streams.times[TopicPartition(TOPIC, 0)] = [
        TimedRecord(n, NOON + n * SECOND) for n in range(10, 100)
    ]


def test_a_time_finds_the_first_record_of_then_or_later(world: World) -> None:
    written(world)

    first, second = find(world, "at=2026-01-05T12:00:30Z")

    assert (first["topic"], first["partition"], first["name"]) == (TOPIC, 0, "0")
    assert (first["offset"], first["exact"], first["committed"]) == (30, True, 0)
    assert (first["time"], first["why"]) == ("2026-01-05T12:00:30Z", None)
    assert (second["offset"], second["exact"], second["time"]) == (0, False, None)
    assert "end of the log" in str(second["why"])
    for text, offset in (("2026-01-05T12:00:30.5Z", 31), ("2026-01-05T13:00:31+01:00", 31)):
        between = find(world, f"at={quote(text)}")[0]
        assert (between["offset"], between["exact"]) == (offset, text.endswith("+01:00"))
    before = find(world, "at=1969-12-31T00:00:00Z")[0]
    assert (before["offset"], before["exact"]) == (10, False)


def test_the_ends_and_a_shift(world: World) -> None:
    written(world)
    assert [row["offset"] for row in find(world, "at=earliest")] == [10, 0]
    assert [row["offset"] for row in find(world, "at=latest")] == [100, 0]
    [forward, _] = find(world, "shift=40")
    assert (forward["offset"], forward["exact"]) == (40, True)
    assert [row["offset"] for row in find(world, "at=latest&shift=-25")] == [75, 0]
    [back, _] = find(world, "shift=-1")
    assert (back["offset"], back["exact"]) == (10, False)
    assert back["why"] == "Kafka holds 10 to 100, and not -1"


def test_a_reset_takes_what_is_answered(world: World) -> None:
    written(world)
    offsets = {row["name"]: row["offset"] for row in find(world, "at=2026-01-05T12:00:30Z")}
    named = {"type": "end", "stream": TOPIC, "partitionOffsetMap": offsets}

    answer = world.post(
        f"{SUPERVISORS}/{TOPIC}/resetOffsets", {"type": "kafka", "partitions": named}
    )

    assert answer.status_code == 200, answer.text
    assert [row["to"] for row in answer.json()["partitions"]] == [30, 0]
    assert [row["committed"] for row in find(world, "")] == [30, 0]


def test_it_changes_nothing(world: World) -> None:
    written(world)
    before = world.get_object("/api/v1/audit")
    find(world, "at=earliest")
    assert world.get_object("/api/v1/audit") == before


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("at=yesterday", "/query/at"),
        ("at=", "/query/at"),
        ("at=2026-01-05T12:00:00", "/query/at"),
        ("at=2026-01-05T12:00:00+02:00", "/query/at"),
        (f"at={'9' * 101}", "/query/at"),
        ("shift=x", "/query/shift"),
        (f"shift={2**63}", "/query/shift"),
    ],
)
def test_bad_input_is_a_problem_with_its_place(world: World, query: str, pointer: str) -> None:
    world.start()
    answer = world.client.get(f"{PATH}?{query}")
    assert answer.status_code == 400, answer.text
    problem = answer.json()
    assert (problem["title"], problem["status"]) == ("The request is not acceptable", 400)
    [error] = problem["errors"]
    assert error["pointer"] == pointer
    assert error["message"]
    assert error["hint"]


def test_a_kafka_that_does_not_answer_is_a_problem_and_no_offset(world: World) -> None:
    world.start()
    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer from localhost:9092")
    answer = world.client.get(f"{PATH}?at=latest")
    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/source-unreadable")
    assert "no answer from localhost:9092" in answer.json()["detail"]


def test_who_is_not_there_is_not_found(world: World) -> None:
    assert world.client.get("/api/v1/supervisors/never/offsets?at=latest").status_code == 404


def test_who_does_not_lead_does_not_ask_kafka(world: World) -> None:
    written(world)
    world.leadership.lost()
    answer = world.client.get(f"{PATH}?at=latest")
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


def test_it_needs_the_permission_to_reset(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        admin = guarded.token("admin", *grants_of(Role.ADMIN, "*"))
        own = guarded.token("own", *grants_of(Role.ADMIN, OWN))
        viewer = guarded.token("viewer", *grants_of(Role.VIEWER, OWN))
        for table in (OWN, FOREIGN):
            guarded.world.streams.create(table, 1)
            document = spec_document(task_count=1, replicas=1, topic=table)
            document["spec"]["dataSchema"]["dataSource"] = table  # type: ignore[index]
            assert guarded.ask("POST", SUPERVISORS, admin, document).status_code == 200

        def ask(table: str, token: str) -> int:
            path = f"/api/v1/supervisors/{table}/offsets?at=latest"
            return guarded.ask("GET", path, token).status_code

        assert [ask(OWN, own), ask(OWN, viewer), ask(FOREIGN, own)] == [200, 403, 404]
