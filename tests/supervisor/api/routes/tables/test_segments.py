"""Marking segments by Druid's paths, retention rules, and forgetting a supervisor."""

from datetime import timedelta
from typing import cast

import pytest

from supervisor.verify.ledger import CheckedLedger
from tests.supervisor.api.world import (
    SUPERVISORS,
    TOPIC,
    Agent,
    Json,
    World,
    spec_document,
    task_ids,
)

DRUID = f"/druid/indexer/v1/datasources/{TOPIC}"
OURS = f"/api/v1/datasources/{TOPIC}"
HOUR = "2026-01-05T12:00Z/2026-01-05T13:00Z"
"""Of every segment that an agent publishes."""
FORGET = f"/api/v1/supervisors/{TOPIC}/forget"
LEDGER = f"/api/v1/supervisors/{TOPIC}/ledger"


def publish(world: World) -> tuple[list[Agent], str]:
    """Ten records are published, and a successor reads on; return the segment's id."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 50)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 10)
    world.pass_time(timedelta(minutes=11), agents)
    world.round(agents)
    assert agent.publish(task_id).json()["outcome"] == "committed"
    world.settle()
    world.round(agents)
    return agents, f"{task_id}/0"


def listed(world: World, query: str = "") -> list[Json]:
    return cast("list[Json]", world.get_object(f"{OURS}/segments{query}")["segments"])


def files(world: World) -> list[object]:
    return cast("list[object]", world.get_object(f"{OURS}/files")["files"])


def changed(number: int) -> Json:
    return {"numChangedSegments": number, "segmentStateChanged": number > 0}


# -- marking ---------------------------------------------------------------------------------------


def test_a_segment_leaves_its_table_and_comes_back_by_druids_paths(world: World) -> None:
    _, segment = publish(world)

    assert world.post(f"{DRUID}/markUnused", {"segmentIds": [segment]}).json() == changed(1)
    assert files(world) == []
    assert world.post(f"{DRUID}/markUnused", {"segmentIds": [segment]}).json() == changed(0)

    assert world.post(f"{DRUID}/markUsed", {"interval": HOUR}).json() == changed(1)
    assert len(files(world)) == 1


def test_all_of_a_table_is_marked_without_a_body(world: World) -> None:
    publish(world)

    assert world.client.delete(DRUID).json() == changed(1)
    assert (files(world), len(listed(world, "?used=false"))) == ([], 1)
    assert world.post(DRUID).json() == changed(1)
    assert len(listed(world, "?used=true")) == 1


def test_an_interval_marks_only_what_lies_wholly_inside(world: World) -> None:
    publish(world)

    body = {"interval": "2026-01-05T12:30Z/2026-01-06"}

    assert world.post(f"{DRUID}/markUnused", body).json() == changed(0)
    assert world.post(f"{DRUID}/markUnused", {"interval": "2026-01-05/2026-01-06"}).json() == (
        changed(1)
    )


def test_a_segment_tells_until_when_it_can_be_put_back(world: World) -> None:
    _, segment = publish(world)
    world.client.delete(DRUID)

    [row] = listed(world)

    assert row["id"] == segment
    assert (row["used"], row["rows"], row["deletedAt"]) == (False, 10, None)
    assert str(row["unusedAt"]).startswith("2026-01-05T12:11")
    assert str(row["deleteAfter"]).startswith("2026-02-04T12:11")


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        ({"interval": "yesterday"}, "/interval", "start/end in ISO 8601"),
        ({"interval": "2026-01-02/2026-01-01"}, "/interval", "ends before it has begun"),
        ({"interval": "2026-01-01/2026-13-01"}, "/interval", "'2026-13-01' is no time"),
        ({"interval": 7}, "/interval", "string"),
        ({}, "", "either interval"),
        ({"interval": HOUR, "segmentIds": ["a"]}, "", "either interval"),
        ({"segmentIds": []}, "/segmentIds", "at least 1"),
        ({"versions": ["1"]}, "/versions", "not permitted"),
    ],
)
def test_a_selection_of_another_form_is_refused_with_its_place(
    world: World, body: Json, pointer: str, detail: str
) -> None:
    for verb in ("markUnused", "markUsed"):
        response = world.post(f"{DRUID}/{verb}", body)

        assert response.status_code == 400
        problem = response.json()
        assert problem["type"] == "/problems/invalid-request"
        assert [each["pointer"] for each in problem["errors"]] == [pointer]
        assert detail in problem["detail"]


def test_a_table_that_nobody_knows_is_404(world: World) -> None:
    unknown = "/druid/indexer/v1/datasources/unknown"
    ours = "/api/v1/datasources/unknown"
    answers = [
        world.post(f"{unknown}/markUnused", {"interval": HOUR}),
        world.post(f"{unknown}/markUsed", {"interval": HOUR}),
        world.client.delete(unknown),
        world.post(unknown),
        world.client.get(f"{ours}/segments"),
        world.client.get(f"{ours}/retention"),
        world.client.put(f"{ours}/retention", json={"keepFor": "P1D"}),
        world.client.delete(f"{ours}/retention"),
    ]

    assert [(a.status_code, a.json()["type"]) for a in answers] == [
        (404, "/problems/data-source-not-found")
    ] * len(answers)


def test_only_the_leader_marks(follower: World) -> None:
    answer = follower.client.delete(DRUID)

    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-the-leader")


def test_the_author_is_in_the_audit_log(world: World) -> None:
    publish(world)

    world.client.delete(DRUID, headers={"X-Druid-Author": "ada"})

    with world.store.reading() as tx:
        [entry] = [e for e in tx.audit.recent(9) if e.action == "mark-unused"]
    assert (entry.actor, entry.subject, entry.detail["segments"]) == ("ada", TOPIC, "1")


def test_the_ledger_tells_what_was_let_go(world: World) -> None:
    """Goal: `verify` neither reads these files nor takes their rows for lost."""
    _, segment = publish(world)
    world.client.delete(DRUID)

    [publication] = CheckedLedger.model_validate(world.get(LEDGER)).publications

    assert publication.segments == ()
    [gone] = publication.let_go
    assert gone.file.path == f"{TOPIC}/data/{segment.removesuffix('/0')}/part-0.parquet"
    assert (publication.rows, gone.file.rows, gone.deleted_at) == (10, 10, None)


# -- retention -------------------------------------------------------------------------------------


def test_a_rule_is_set_shown_applied_and_dropped(world: World) -> None:
    publish(world)
    assert world.get_object(f"{OURS}/retention")["keepFor"] is None

    world.clock.advance(timedelta(hours=2))
    headers = {"X-Druid-Author": "ada"}
    put = world.client.put(f"{OURS}/retention", json={"keepFor": "P30D"}, headers=headers)
    assert put.status_code == 200
    assert len(files(world)) == 1
    rule = world.get_object(f"{OURS}/retention")
    assert (rule["keepFor"], rule["author"]) == ("P30D", "ada")

    assert world.client.put(f"{OURS}/retention", json={"keepFor": "PT1H"}).status_code == 200
    assert files(world) == []
    assert world.get_object(f"{OURS}/retention")["keepFor"] == "PT3600S"
    assert world.client.delete(f"{OURS}/retention").json()["keepFor"] is None


@pytest.mark.parametrize("keep", ["", "P1M", "PT0S", "forever", 3, None])
def test_a_period_of_another_form_is_refused(world: World, keep: object) -> None:
    publish(world)

    answer = world.client.put(f"{OURS}/retention", json={"keepFor": keep})

    assert answer.status_code == 400
    assert [each["pointer"] for each in answer.json()["errors"]] == ["/keepFor"]


# -- forgetting ------------------------------------------------------------------------------------


def test_a_running_supervisor_is_not_forgotten(world: World) -> None:
    publish(world)

    answer = world.post(FORGET)

    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/not-forgettable")
    assert answer.json()["supervisorId"] == TOPIC
    assert "terminate it first" in answer.json()["detail"]


def test_a_forgotten_supervisor_leaves_its_table_and_begins_anew(world: World) -> None:
    """Goal: re-posted, it is a new supervisor: its ledger claims nothing of the old one's."""
    agents, segment = publish(world)
    assert world.post(f"{SUPERVISORS}/{TOPIC}/terminate").status_code == 200
    world.settle()
    world.round(agents)
    world.settle()

    assert world.post(FORGET).json() == {"id": TOPIC}

    assert len(files(world)) == 1
    assert world.client.get(f"{SUPERVISORS}/{TOPIC}/history").status_code == 404
    assert world.post(FORGET).status_code == 404
    posted = world.post(SUPERVISORS, spec_document(task_count=1, replicas=1))
    assert posted.json()["version"] == 1
    world.settle()
    world.round(agents)
    ledger = CheckedLedger.model_validate(world.get(LEDGER))
    assert ledger.publications == ()
    assert [row.first_offset for row in ledger.committed] == [0]
    old_task = segment.removesuffix("/0")
    assert [task for _, task in task_ids(agents)] != [old_task]
    ended_task = world.get_object(f"/druid/indexer/v1/task/{old_task}")
    assert cast("Json", ended_task["payload"])["dataSchema"] is None


def test_a_list_of_segments_is_of_a_window_and_of_a_supervisor(world: World) -> None:
    _, segment = publish(world)
    [whole] = listed(world)
    start, end = str(whole["intervalStart"]), str(whole["intervalEnd"])

    for query in (f"from={start}", f"to={end}", f"from={start}&to={end}&supervisor={TOPIC}"):
        assert [each["id"] for each in listed(world, f"?{query}")] == [segment], query
    for query in (f"from={end}", f"to={start}", "supervisor=other", f"used=false&from={start}"):
        assert listed(world, f"?{query}") == [], query


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("from=2026-01-05T12:00:00", "/query/from"),
        ("from=2026-01-05T12:00:00Z&to=2026-01-05T11:00:00Z", "/query/to"),
    ],
)
def test_a_window_of_segments_that_makes_no_sense_is_refused(
    world: World, query: str, place: str
) -> None:
    problem = world.get_object(f"{OURS}/segments?{query}", status=400)
    [error] = cast("list[Json]", problem["errors"])
    assert error["pointer"] == place


def test_reports_go_with_a_supervisor_where_there_are_any(world: World) -> None:
    publish(world)

    answer = world.post(f"{FORGET}?reports=true")

    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-report-store")
    assert "TIDEGATE_REPORTS=off" in answer.json()["detail"]
    assert world.post(f"{FORGET}?reports=true&dryRun=true").status_code == 404
