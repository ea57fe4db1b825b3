"""A replay of bad records over HTTP: what it would send, what binds it, and who may ask for it."""

from pathlib import Path
from typing import cast

import pytest

from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import OWN, Guarded, bearer, grants_of
from tests.supervisor.api.routes.tables.test_quarantine import PATH, Raw, publish
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document

REPLAY = f"{PATH}/replay"
AGAIN = f"{TOPIC}-again"


def wanted(**members: object) -> Json:
    return {"topic": AGAIN} | members


@pytest.fixture
def kept(world: World, tmp_path: Path) -> World:
    """A supervisor with four bad records, of two reasons and two partitions."""
    assert world.post(SUPERVISORS, spec_document()).status_code == 200
    records = [Raw(3, b"{"), Raw(7, b"{{"), Raw(9, b"", "empty"), Raw(2, b"[", partition=1)]
    publish(world, tmp_path, 1, records)
    return world


def preview_of(world: World, body: Json) -> Json:
    answer = world.post(f"{REPLAY}?dryRun=true", body)
    assert answer.status_code == 200, answer.text
    return cast("Json", answer.json())


def test_a_dry_run_counts_what_fits(kept: World) -> None:
    every = preview_of(kept, wanted())
    some = preview_of(kept, wanted(reason="not-json", partition=0, most=1))
    none = preview_of(kept, wanted(reason="nothing-like-it"))

    assert every["text"] == f"At most 4 records are sent to {AGAIN} as they were, all at once."
    assert every["sent"] == {
        "topic": AGAIN,
        "matching": 4,
        "there": None,
        "sends": 4,
        "records": [
            {"reason": "empty", "topic": TOPIC, "partition": 0, "records": 1},
            {"reason": "not-json", "topic": TOPIC, "partition": 0, "records": 2},
            {"reason": "not-json", "topic": TOPIC, "partition": 1, "records": 1},
        ],
        "readers": [],
    }
    sent = cast("Json", some["sent"])
    assert (sent["matching"], sent["sends"]) == (2, 1)
    assert "1 record is left for another replay" in cast("str", some["text"])
    assert none["text"] == "No bad record that is kept fits: nothing is sent."
    assert "cannot be undone" in cast("str", every["undo"])


def test_the_act_is_an_operation_that_the_leader_carries_out(kept: World) -> None:
    preview = preview_of(kept, wanted(reason="not-json"))

    answer = kept.post(f"{REPLAY}?expect={preview['digest']}", wanted(reason="not-json"))

    operation = answer.json()
    assert (answer.status_code, operation["kind"], operation["state"]) == (202, "replay", "running")
    assert operation["waitsFor"] == "the leader, which sends its records"
    assert answer.headers["tidegate-operation"] == operation["id"]
    assert operation["replay"] == {
        "topic": AGAIN,
        "reason": "not-json",
        "partition": None,
        "most": 10_000,
        "keepTime": False,
        "sent": None,
        "there": None,
        "more": None,
        "ends": {},
        "problem": None,
    }
    [queue] = [each for each in kept.get_rows("/api/v1/queues") if each["name"] == "replays"]
    assert queue["container"] == f"supervisor:{TOPIC}"


def test_more_records_or_another_reader_outdate_a_preview(kept: World, tmp_path: Path) -> None:
    """Goal: what was confirmed is what happens; else the new preview comes with the refusal."""
    first = preview_of(kept, wanted())
    publish(kept, tmp_path, 2, [Raw(20, b"{")])

    more = kept.post(f"{REPLAY}?expect={first['digest']}", wanted())
    second = more.json()["preview"]
    other = spec_document(topic=AGAIN) | {"id": "reader"}
    assert kept.post(SUPERVISORS, other).status_code == 200
    read = kept.post(f"{REPLAY}?expect={second['digest']}", wanted())
    third = read.json()["preview"]

    assert [each.status_code for each in (more, read)] == [409, 409]
    assert (second["sent"]["matching"], third["sent"]["readers"]) == (5, ["reader"])
    warning = f"reader reads {AGAIN}: these records come there as new ones"
    assert third["warnings"] == [warning]
    assert kept.post(f"{REPLAY}?expect={third['digest']}", wanted()).status_code == 202


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/topic"),
        (wanted(topic="a b"), "/topic"),
        (wanted(topic=TOPIC), "/topic"),
        (wanted(topic="__consumer_offsets"), "/topic"),
        (wanted(topic=".."), "/topic"),
        (wanted(most=0), "/most"),
        (wanted(most=100_001), "/most"),
        (wanted(most="7"), "/most"),
        (wanted(partition=-1), "/partition"),
        (wanted(keepTime="yes"), "/keepTime"),
        (wanted(most_of_all=1), "/most_of_all"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_its_field(kept: World, body: Json, pointer: str) -> None:
    for query in ("", "?dryRun=true"):
        answer = kept.post(f"{REPLAY}{query}", body)
        problem = answer.json()
        assert (answer.status_code, problem["type"]) == (400, "/problems/invalid-request")
        assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_supervisor_that_never_was_has_nothing_to_send(world: World) -> None:
    path = "/api/v1/supervisors/nobody/quarantine/replay"
    assert world.post(path, wanted()).json()["type"] == "/problems/supervisor-not-found"


def test_nobody_feeds_a_table_that_is_not_theirs(guarded: Guarded) -> None:
    """Goal: a topic that another table's supervisor reads is closed, and the id is not shown."""
    world = guarded.world
    world.client.headers.update(bearer(guarded.token("admin", *grants_of(Role.ADMIN, "*"))))
    assert world.post(SUPERVISORS, spec_document()).status_code == 200
    foreign = spec_document(topic=AGAIN) | {"id": "secret-reader"}
    schema = cast("Json", cast("Json", foreign["spec"])["dataSchema"])
    schema["dataSource"] = "views"
    assert world.post(SUPERVISORS, foreign).status_code == 200
    own = bearer(guarded.token("own", *grants_of(Role.ADMIN, OWN)))

    for query in ("", "?dryRun=true"):
        answer = world.client.post(f"{REPLAY}{query}", json=wanted(), headers=own)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/not-allowed")
        assert "secret-reader" not in answer.text
