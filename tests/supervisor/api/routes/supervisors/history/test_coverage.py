"""Coverage by HTTP: what is published, read, lost and repeated; what it costs; whose it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import delete

from supervisor.core.values.permissions import Role
from supervisor.metadata.repositories.segments import SqlSegments
from supervisor.metadata.schema.tables import publications, segment_spans, segments
from tests.supervisor.api.guarded import FOREIGN, a_guarded_world, grants_of
from tests.supervisor.api.routes.supervisors.test_resets import RESET_OFFSETS, body
from tests.supervisor.api.world import (
    SUPERVISORS,
    TOPIC,
    Agent,
    Json,
    World,
    spec_document,
    task_ids,
)

PATH = f"/api/v1/supervisors/{TOPIC}/coverage"


def coverage(world: World, query: str = "") -> Json:
    return world.get_object(f"{PATH}{query}")


def partitions(world: World, query: str = "") -> list[Json]:
    return cast("list[Json]", coverage(world, query)["partitions"])


def run(first: int, to: int, kind: str, *counts: int | None) -> Json:
    """A run; its counts are rows, rejected records and generations."""
    known = dict(zip(("rows", "rejected", "generations"), counts, strict=True))
    return {"from": first, "to": to, "kind": kind, **known}


def publish(world: World, agents: list[Agent], records: int) -> None:
    """Each task that reads has some records more published."""
    for agent, task_id in [*task_ids(agents)]:
        agent.read(task_id, records)
    world.pass_time(timedelta(minutes=11), agents)
    world.round(agents)
    for agent, task_id in [*task_ids(agents)]:
        if agent.held[task_id].wanted.order.end is not None:
            assert agent.publish(task_id).json()["outcome"] == "committed"
    world.settle()
    world.round(agents)


def begun(world: World) -> list[Agent]:
    agents = world.start(partitions=2, task_count=2, replicas=1)
    for partition in range(2):
        world.streams.append(TOPIC, partition, 500)
    return agents


@contextmanager
def ranges_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Collect how many publications each question reads."""
    numbers: list[int] = []
    read = SqlSegments.published_ranges

    def counted(self: SqlSegments, *given: object) -> object:
        ranges = read(self, *given)  # type: ignore[arg-type]  # as they come
        numbers.append(len(ranges))
        return ranges

    with monkeypatch.context() as patched:
        patched.setattr(SqlSegments, "published_ranges", counted)
        yield numbers


def test_what_is_published_and_what_is_read(world: World) -> None:
    agents = begun(world)
    publish(world, agents, 10)
    for agent, task_id in [*task_ids(agents)]:
        agent.read(task_id, 5)
    world.round(agents)
    world.settle()

    whole = coverage(world)

    assert (whole["supervisorId"], whole["dataSource"], whole["complete"]) == (TOPIC, TOPIC, True)
    counts = cast("Json", whole["counts"])
    assert (counts["committed"], counts["published"], counts["reading"]) == (20, 20, 10)
    assert (whole["ranges"], whole["rows"]) == (2, 20)
    for number, each in enumerate(partitions(world)):
        assert (each["partition"], each["firstOffset"], each["nextOffset"]) == (number, 0, 10)
        assert each["runs"] == [
            run(0, 10, "published", 10, 0, 1),
            run(10, 15, "reading", None, None, 1),
        ]
        assert (each["more"], each["recreatedAt"]) == (False, None)


def test_a_skip_and_a_repeat_are_shown_as_they_were_declared(world: World) -> None:
    agents = begun(world)
    publish(world, agents, 10)
    assert world.post(RESET_OFFSETS, body({"0": 40, "1": 4})).status_code == 200
    world.settle()
    world.round(agents)

    first, second = partitions(world)

    assert first["runs"] == [
        run(0, 10, "published", 10, 0, 1),
        run(10, 40, "skipped", 0, 0, 0),
    ]
    assert second["runs"] == [
        run(0, 4, "published", None, None, None),
        run(4, 10, "repeated", None, None, None),
    ]
    assert coverage(world)["complete"] is True


def test_a_window_narrows_partitions_and_runs_and_not_the_sum(world: World) -> None:
    agents = begun(world)
    publish(world, agents, 10)

    narrow = coverage(world, f"?topic={TOPIC}&partition=1&from=3&to=7")

    [only] = cast("list[Json]", narrow["partitions"])
    assert (only["partition"], only["runs"]) == (1, [run(3, 7, "published", None, None, None)])
    assert narrow["counts"] == coverage(world)["counts"]
    assert partitions(world, "?topic=other") == []


def test_only_new_publications_are_read_while_all_is_explained(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a page may ask often, whatever is published already."""
    agents = begun(world)
    for _ in range(12):
        publish(world, agents, 10)

    with ranges_read(monkeypatch) as numbers:
        first, again = coverage(world), coverage(world)

    assert first == again
    assert cast("Json", first["counts"])["published"] == 240
    assert numbers[0] == 24
    assert numbers[1] < 15, "those of the last hour"


def test_a_publication_that_is_gone_is_unexplained(world: World) -> None:
    """Goal: committed offsets alone prove nothing."""
    agents = begun(world)
    publish(world, agents, 10)
    with world.store.leading(world.leadership.term()) as tx:
        for table in (segment_spans, segments, publications):
            cast("SqlSegments", tx.segments)._db.execute(delete(table))

    assert coverage(world)["complete"] is False
    assert partitions(world)[0]["runs"] == [run(0, 10, "unexplained", 0, 0, 0)]


def test_what_a_forgotten_one_published_does_not_count(world: World) -> None:
    """Goal: an answer that was kept of the earlier supervisor hides nothing of the new one."""
    agents = begun(world)
    publish(world, agents, 10)
    assert cast("Json", coverage(world)["counts"])["published"] == 20
    world.post(f"{SUPERVISORS}/{TOPIC}/terminate")
    world.settle()
    world.round(agents)
    for agent, task_id in [*task_ids(agents)]:
        agent.publish(task_id)
    world.settle()
    world.round(agents)
    assert world.post(f"/api/v1/supervisors/{TOPIC}/forget").status_code == 200
    assert world.post(SUPERVISORS, spec_document(task_count=2, replicas=1)).status_code == 200
    world.settle()
    world.round(agents)

    whole = coverage(world)

    assert (whole["complete"], whole["ranges"], whole["rows"]) == (True, 0, 0)
    assert [each["runs"] for each in partitions(world)] == [[], []]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("from=-1", "/query/from"),
        ("to=many", "/query/to"),
        ("from=9&to=8", "/query/to"),
        ("partition=-1", "/query/partition"),
        (f"from={2**63}", "/query/from"),
    ],
)
def test_bad_input_is_named(world: World, query: str, pointer: str) -> None:
    begun(world)
    answer = world.client.get(f"{PATH}?{query}")

    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_one_that_never_was_is_not_found(world: World) -> None:
    assert world.client.get("/api/v1/supervisors/never/coverage").status_code == 404


def test_a_terminated_one_keeps_its_coverage(world: World) -> None:
    agents = begun(world)
    publish(world, agents, 10)
    world.post(f"{SUPERVISORS}/{TOPIC}/terminate")
    world.settle()
    world.round(agents)
    world.settle()

    assert cast("Json", coverage(world)["counts"])["published"] == 20


def test_the_coverage_of_a_foreign_table_is_not_there(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        reader = guarded.token("reader", *grants_of(Role.VIEWER))

        answer = guarded.ask("GET", f"/api/v1/supervisors/{FOREIGN}/coverage", reader)

        assert answer.status_code == 404
