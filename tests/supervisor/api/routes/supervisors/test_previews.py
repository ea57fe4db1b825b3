"""Previews by HTTP: a dry run has a digest, the act takes it, else 409 with the new preview."""

from typing import cast

import pytest

from tests.supervisor.api.routes.supervisors.test_resets import (
    RESET,
    RESET_OFFSETS,
    body,
    committed,
    reading,
)
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Json, World, task_ids

BACKFILL = f"{SUPERVISORS}/{TOPIC}/resetToLatestAndBackfill"


def preview(world: World, path: str, document: object = None) -> Json:
    mark = "&" if "?" in path else "?"
    answer = world.post(f"{path}{mark}dryRun=true", document)
    assert answer.status_code == 200
    return cast("Json", answer.json())


def act(world: World, path: str, digest: object, document: object = None) -> tuple[int, Json]:
    mark = "&" if "?" in path else "?"
    answer = world.post(f"{path}{mark}expect={digest}", document)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    ("path", "document"),
    [
        (f"{RESET}?to=latest", None),
        (f"{RESET}?to=earliest", None),
        (RESET_OFFSETS, body({"1": 4})),
        (BACKFILL, None),
    ],
)
def test_the_act_does_what_its_preview_shows(world: World, path: str, document: object) -> None:
    reading(world)
    shown = preview(world, path, document)
    before = committed(world)
    assert before == {"0": 0, "1": 0}

    status, done = act(world, path, shown["digest"], document)

    assert (status, done["dryRun"], done["digest"]) == (200, False, shown["digest"])
    assert (done["partitions"], done["discarded"]) == (shown["partitions"], shown["discarded"])
    moved = {str(each["partition"]): each["to"] for each in cast("list[Json]", shown["partitions"])}
    assert committed(world) == cast("Json", before) | moved


@pytest.mark.parametrize(
    ("path", "document"),
    [(f"{RESET}?to=earliest", None), (RESET_OFFSETS, body({"1": 4})), (BACKFILL, None)],
)
def test_an_outdated_preview_is_409_with_the_new_one(
    world: World, path: str, document: object
) -> None:
    """Goal: nothing happens that nobody has read."""
    agents = reading(world)
    shown = preview(world, path, document)
    for agent, task_id in [*task_ids(agents)]:
        agent.read(task_id, 5)
    world.post(f"{SUPERVISORS}/{TOPIC}/taskGroups/handoff", {"taskGroupIds": [0, 1]})
    world.settle()
    world.round(agents)
    before = committed(world)

    status, problem = act(world, path, shown["digest"], document)

    assert (status, problem["type"]) == (409, "/problems/preview-outdated")
    assert "nothing is done" in str(problem["detail"])
    assert committed(world) == before
    now = cast("Json", problem["preview"])
    again = preview(world, path, document)
    assert now == again != shown
    assert act(world, path, now["digest"], document)[0] == 200


def test_what_is_given_up_is_named_with_its_offsets(world: World) -> None:
    reading(world)

    [first, second] = cast("list[Json]", preview(world, RESET)["discarded"])

    assert first["offsets"] == [{"topic": TOPIC, "partition": 0, "from": 0, "to": None}]
    assert second["offsets"] == [{"topic": TOPIC, "partition": 1, "from": 0, "to": None}]


@pytest.mark.parametrize("query", ["expect=1", "expect=" + "g" * 32, "to=sometime"])
def test_bad_input_is_named(world: World, query: str) -> None:
    reading(world)
    answer = world.post(f"{RESET}?{query}")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == f"/query/{query.partition('=')[0]}"
