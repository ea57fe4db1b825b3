"""Lists of compactions and segments, page by page, while others come and go."""

from dataclasses import replace
from typing import cast

import pytest

from tests.conformance.tables.test_compaction import compaction
from tests.supervisor.api.routes.tables.test_compaction import ALL, publish_two
from tests.supervisor.api.routes.tables.test_segments import DRUID, OURS
from tests.supervisor.api.world import TOPIC, Json, World

SEGMENTS = f"{OURS}/segments"


def add(world: World, *names: str) -> None:
    """Compactions of the table, and of another one, as if they had been asked for."""
    with world.store.leading(world.leadership.term()) as tx:
        for name in names:
            table = "other" if name.startswith("o") else TOPIC
            tx.compactions.add(replace(compaction(name), data_source=table))


def test_a_walk_over_compactions_sees_each_once_while_others_are_added(world: World) -> None:
    world.start()
    add(world, "c1", "o1", "c2", "c3", "c4")
    seen: list[object] = []
    query = f"?limit=2&dataSource={TOPIC}"
    cursor: object = ""
    while cursor is not None:
        page = world.get_object(f"{ALL}{query}" + (f"&cursor={cursor}" if cursor else ""))
        seen += [row["id"] for row in cast("list[Json]", page["compactions"])]
        cursor = page["next"]
        add(world, f"c{10 + len(seen)}")

    assert seen == ["c4", "c3", "c2", "c1"]
    newest = world.get_object(f"{ALL}?limit=1")["compactions"]
    assert [row["id"] for row in cast("list[Json]", newest)] == ["c14"]


def test_a_walk_over_segments_sees_each_once_though_one_is_taken_out(world: World) -> None:
    publish_two(world)
    whole = world.get_object(SEGMENTS)
    ids = [row["id"] for row in cast("list[Json]", whole["segments"])]
    assert (len(ids), whole["next"]) == (2, None)

    first = world.get_object(f"{SEGMENTS}?limit=1&used=true")
    assert world.post(f"{DRUID}/markUnused", {"segmentIds": ids[:1]}).status_code == 200
    second = world.get_object(f"{SEGMENTS}?limit=1&used=true&cursor={first['next']}")

    listed_ids = [
        row["id"] for page in (first, second) for row in cast("list[Json]", page["segments"])
    ]
    assert listed_ids == ids
    assert second["next"] is None


@pytest.mark.parametrize("path", [ALL, SEGMENTS])
def test_a_cursor_of_no_page_is_refused(world: World, path: str) -> None:
    publish_two(world)

    answer = world.client.get(f"{path}?limit=1&cursor=abc")

    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/bad-cursor")
