"""Totals of tables and the timeline of one: members, rights, bad input, and what they cost."""

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import FOREIGN, OWN, a_guarded_world, grants_of
from tests.supervisor.api.routes.supervisors.test_listing import counted
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, spec_document, task_ids

PATH = "/api/v1/datasources"
TIMELINE = f"{PATH}/{TOPIC}/timeline"
SECOND = timedelta(seconds=1)


def stats(world: World) -> list[Json]:
    return cast("list[Json]", world.get_object(f"{PATH}?stats=true")["stats"])


def buckets(world: World, query: str = "") -> list[Json]:
    return cast("list[Json]", world.get_object(f"{TIMELINE}{query}")["buckets"])


def published(world: World) -> None:
    """Ten records are published, and a successor reads on."""
    agents = world.start(partitions=1, task_count=1, replicas=1)
    world.streams.append(TOPIC, 0, 50)
    [(agent, task_id)] = task_ids(agents)
    agent.read(task_id, 10)
    world.pass_time(timedelta(minutes=11), agents)
    world.round(agents)
    assert agent.publish(task_id).json()["outcome"] == "committed"
    world.settle()


def test_a_table_has_the_totals_of_its_files_and_who_feeds_it(world: World) -> None:
    published(world)
    [file] = cast("list[Json]", world.get_object(f"{PATH}/{TOPIC}/files")["files"])

    [row] = stats(world)

    assert (row["name"], row["supervisors"], row["exports"]) == (TOPIC, [TOPIC], [])
    assert (row["rows"], row["bytes"]) == (file["rows"], file["sizeBytes"])
    assert (row["files"], row["smallFiles"], row["unusedFiles"]) == (1, 1, 0)
    assert row["timeMin"] is not None
    assert row["lastPublishedAt"] is not None
    plain = world.get_object(PATH)
    assert plain == {"dataSources": [TOPIC]}


def test_a_table_without_a_file_has_zeros_and_no_times(world: World) -> None:
    world.start()

    [row] = stats(world)

    assert (row["rows"], row["bytes"], row["files"], row["unusedFiles"]) == (0, 0, 0, 0)
    assert (row["timeMin"], row["timeMax"], row["lastPublishedAt"]) == (None, None, None)


def test_what_is_small_goes_by_the_specs_that_feed_a_table_as_its_timeline_has_it(
    world: World,
) -> None:
    published(world)
    spec = spec_document(task_count=1, replicas=1)
    tuning = {"type": "kafka", "maxRowsPerSegment": 10}
    document = cast("dict[str, Json]", spec)["spec"] | {"tuningConfig": tuning}
    before = [row["smallFiles"] for row in stats(world)]

    assert world.post(SUPERVISORS, spec | {"spec": document}).status_code == 200
    world.clock.advance(timedelta(minutes=1))

    assert (before, [row["smallFiles"] for row in stats(world)]) == ([1], [0])
    assert [bucket["small"] for bucket in buckets(world)] == [0]


def test_what_is_taken_out_is_counted_apart(world: World) -> None:
    published(world)
    world.clock.advance(2 * SECOND)
    assert world.client.delete(f"/druid/indexer/v1/datasources/{TOPIC}").status_code == 200

    [row] = stats(world)

    assert (row["rows"], row["files"], row["unusedFiles"]) == (0, 0, 1)
    [bucket] = buckets(world)
    assert (bucket["rows"], bucket["files"], bucket["unused"]) == (0, 0, 1)


def test_the_sums_are_kept_for_a_moment_however_often_they_are_asked_for(world: World) -> None:
    """Goal: they go over the rows of all files, so a page that polls must not repeat them."""
    published(world)
    with counted(world) as first:
        before = stats(world)
    with counted(world) as again:
        assert [stats(world) for _ in range(5)] == [before] * 5
    assert [s for s in first if "FROM segments" in s]
    assert not [s for s in again if "FROM segments" in s]
    world.clock.advance(2 * SECOND)
    with counted(world) as later:
        stats(world)
    assert len([s for s in later if "FROM segments" in s]) == len(
        [s for s in first if "FROM segments" in s]
    )


def test_a_timeline_counts_by_buckets_of_the_wanted_length(world: World) -> None:
    published(world)

    [day] = buckets(world)
    [hour] = buckets(world, "?bucket=PT1H")

    assert str(day["start"]).endswith("T00:00:00Z")
    assert (day["rows"], day["files"], day["small"]) == (10, 1, 1)
    assert hour | {"start": day["start"]} == day
    begin = str(hour["start"])
    assert buckets(world, f"?from={begin}") != []
    assert buckets(world, f"?to={begin}") == []
    assert world.get_object(f"{TIMELINE}?bucket=PT1H")["bucket"] == "PT3600S"
    assert world.get_object(TIMELINE)["more"] is False


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("?bucket=PT1S", "/query/bucket"),
        ("?bucket=PT90.5S", "/query/bucket"),
        ("?bucket=day", "/query/bucket"),
        ("?from=2026-01-05T12:00:00", "/query/from"),
        ("?from=2026-01-05T12:00:00Z&to=2026-01-05T12:00:00Z", "/query/to"),
        ("?limit=0", "/query/limit"),
    ],
)
def test_bad_input_is_a_problem_that_names_its_place(world: World, query: str, place: str) -> None:
    world.start()
    problem = world.get_object(f"{TIMELINE}{query}", status=400)
    [error] = cast("list[Json]", problem["errors"])
    assert str(error["pointer"]) == place


def test_a_table_that_nobody_knows_is_404(world: World) -> None:
    problem = world.get_object(f"{PATH}/never/timeline", status=404)
    assert problem["type"] == "/problems/data-source-not-found"


def test_a_follower_answers_from_the_rows(follower: World) -> None:
    assert stats(follower) == []


def test_foreign_tables_are_nowhere(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        admin = guarded.token("admin", *grants_of(Role.ADMIN, "*"))
        viewer = guarded.token("viewer", *grants_of(Role.VIEWER, OWN))
        for table in (OWN, FOREIGN):
            guarded.world.streams.create(table, 1)
            document = spec_document(task_count=1, replicas=1, topic=table)
            document["spec"]["dataSchema"]["dataSource"] = table  # type: ignore[index]
            assert guarded.ask("POST", SUPERVISORS, admin, document).status_code == 200

        everything = guarded.ask("GET", f"{PATH}?stats=true", admin).json()
        own = guarded.ask("GET", f"{PATH}?stats=true", viewer).json()

        assert {each["name"] for each in everything["stats"]} == {OWN, FOREIGN}
        assert ([each["name"] for each in own["stats"]], own["dataSources"]) == ([OWN], [OWN])
        assert guarded.ask("GET", f"{PATH}/{OWN}/timeline", viewer).status_code == 200
        assert guarded.ask("GET", f"{PATH}/{FOREIGN}/timeline", viewer).status_code == 404
