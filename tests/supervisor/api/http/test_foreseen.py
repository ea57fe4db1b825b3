"""A preview of a verb is its effect: each is shown, done with its digest, and compared."""

from typing import cast

import pytest

from supervisor.core.model.rows import GenerationState
from tests.supervisor.api.changes import OF_SUPERVISOR, STORIES, a_task
from tests.supervisor.api.http.test_verb_previews import ask, shown
from tests.supervisor.api.routes.supervisors.test_resets import reading
from tests.supervisor.api.routes.tables.test_compaction import COMPACT, publish_two
from tests.supervisor.api.routes.tables.test_segments import DRUID, files, listed, publish
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, Agent, Json, World, task_ids


def states(world: World) -> dict[str, GenerationState]:
    """Each range of the supervisor and what became of it."""
    with world.store.reading() as tx:
        newest = tx.generations.newest(TOPIC)
        assert newest is not None
        ids = [f"{TOPIC}:{number}" for number in range(1, newest.ordinal + 1)]
        found = [tx.generations.get(each) for each in ids]
    return {each.id: each.state for each in found if each is not None}


def names(preview: Json, member: str) -> set[object]:
    """The ids of the ranges of one member."""
    return {each["generationId"] for each in cast("list[Json]", preview[member])}


def ended(world: World) -> set[object]:
    """Ids of the tasks that have ended."""
    return {row["id"] for row in world.get_rows(f"{TASKS}/completeTasks")}


def read_some(world: World) -> list[Agent]:
    """Two groups with two replicas each; one of the groups has read, and has reported so."""
    agents = reading(world)
    for agent, task_id in task_ids(agents):
        if agent.held[task_id].wanted.generation_id == f"{TOPIC}:1":
            agent.read(task_id, 5)
    world.round(agents)
    return agents


def go_on(world: World, agents: list[Agent]) -> None:
    """Let ranges pause, finish and publish, until there is nothing more to do."""
    for _ in range(3):
        world.settle()
        world.round(agents)
        with world.store.reading() as tx:
            states = {g.id: g.state for g in tx.generations.live(TOPIC)}
        for agent, task_id in [*task_ids(agents)]:
            generation = agent.held[task_id].wanted.generation_id
            if states.get(generation) is GenerationState.PUBLISHING:
                agent.publish(task_id)
        world.settle()
        world.round(agents)


@pytest.mark.parametrize("verb", ["suspend", "terminate"])
def test_what_ends_and_what_publishes_is_what_was_shown(world: World, verb: str) -> None:
    agents = read_some(world)
    preview = shown(world, "post", f"{OF_SUPERVISOR}/{verb}")
    assert (names(preview, "publishes"), preview["stays"]) == ({f"{TOPIC}:1"}, [])
    held = {each["task"]: each["unpublished"] for each in cast("list[Json]", preview["ends"])}
    assert sorted(cast("list[int]", held.values())) == [0, 0, 5, 5]
    assert preview["givesUp"] == []
    assert "5 offsets read so far" in str(preview["text"])

    digest = preview["digest"]
    assert ask(world, "post", f"{OF_SUPERVISOR}/{verb}", f"expect={digest}")[0] == 200
    go_on(world, agents)

    assert states(world) == {
        f"{TOPIC}:1": GenerationState.PUBLISHED,
        f"{TOPIC}:2": GenerationState.EMPTY,
    }
    assert ended(world) == set(held)
    assert sum(cast("int", row["rows"]) for row in listed(world)) == 5


def test_what_a_terminate_gives_up_is_what_was_shown(world: World) -> None:
    """Case: every task of a range was lost before, and none is started any more (P19)."""
    agents = read_some(world)
    for agent in agents:  # nobody takes what would replace them
        assert world.post(f"{TASKS}/worker/{agent.id}/disable").status_code == 200
    lost = [t for a, t in task_ids(agents) if a.held[t].wanted.generation_id == f"{TOPIC}:1"]
    for task_id in lost:
        assert world.post(f"{TASKS}/task/{task_id}/shutdown").status_code == 200
    world.settle()

    preview = shown(world, "post", f"{OF_SUPERVISOR}/terminate")

    assert names(preview, "givesUp") == {f"{TOPIC}:1"}
    assert "in no table" in str(preview["warnings"])
    digest = preview["digest"]
    assert ask(world, "post", f"{OF_SUPERVISOR}/terminate", f"expect={digest}")[0] == 200
    go_on(world, agents)
    assert states(world)[f"{TOPIC}:1"] is GenerationState.DISCARDED


def test_what_hands_off_and_what_reads_on_is_what_was_shown(world: World) -> None:
    agents = read_some(world)
    path, body = f"{OF_SUPERVISOR}/taskGroups/handoff", {"taskGroupIds": [0, 1]}
    preview = shown(world, "post", path, body)
    assert names(preview, "publishes") == {f"{TOPIC}:1"}
    assert names(preview, "stays") == {f"{TOPIC}:2"}

    assert ask(world, "post", path, f"expect={preview['digest']}", body)[0] == 202
    go_on(world, agents)

    found = states(world)
    assert found[f"{TOPIC}:1"] is GenerationState.PUBLISHED
    assert found[f"{TOPIC}:2"] is GenerationState.READING
    assert {each["task"] for each in cast("list[Json]", preview["ends"])} == ended(world)


def test_resuming_ends_nothing_but_what_publishes_already(world: World) -> None:
    agents = read_some(world)
    world.post(f"{OF_SUPERVISOR}/suspend")
    world.settle()
    world.round(agents)
    preview = shown(world, "post", f"{OF_SUPERVISOR}/resume")
    assert names(preview, "publishes") == {f"{TOPIC}:1"}

    digest = preview["digest"]
    assert ask(world, "post", f"{OF_SUPERVISOR}/resume", f"expect={digest}")[0] == 200
    go_on(world, agents)

    assert states(world)[f"{TOPIC}:1"] is GenerationState.PUBLISHED
    assert world.payload()["suspended"] is False


def test_what_reads_a_range_again_is_what_was_shown(world: World) -> None:
    agents = read_some(world)
    before = {t for _, t in task_ids(agents)}
    [mine, other] = [
        t for a, t in task_ids(agents) if a.held[t].wanted.generation_id == f"{TOPIC}:1"
    ]
    preview = shown(world, "post", f"{TASKS}/task/{mine}/shutdown")
    assert [each["task"] for each in cast("list[Json]", preview["ends"])] == [mine]
    [again] = cast("list[Json]", preview["givesUp"])
    assert again["offsets"] == [{"topic": TOPIC, "partition": 0, "from": 0, "to": 5}]
    assert preview["tasks"] == [other]

    digest = preview["digest"]
    assert ask(world, "post", f"{TASKS}/task/{mine}/shutdown", f"expect={digest}")[0] == 200
    world.settle()
    world.round(agents)

    assert ended(world) == {mine}
    held = {t: a.held[t].wanted for a, t in task_ids(agents)}
    [new] = [t for t in held if t not in before]
    assert held[new].generation_id == f"{TOPIC}:1"
    assert [str(at) for at in held[new].start.values()] == ["0"]
    assert other in held


def test_all_tasks_of_a_table_end_as_shown_and_no_other(world: World) -> None:
    agents = read_some(world)
    before = {t for _, t in task_ids(agents)}
    preview = shown(world, "post", f"{DRUID}/shutdownAllTasks")
    assert {each["task"] for each in cast("list[Json]", preview["ends"])} == before
    assert preview["tasks"] == []

    digest = preview["digest"]
    assert ask(world, "post", f"{DRUID}/shutdownAllTasks", f"expect={digest}")[0] == 200
    assert ended(world) == before


def test_a_task_that_has_ended_changes_nothing(world: World) -> None:
    path, _ = a_task(world)
    assert world.post(path).status_code == 200

    preview = shown(world, "post", path)

    assert (preview["ends"], preview["givesUp"]) == ([], [])
    assert "nothing changes" in str(preview["text"])


def test_files_leave_and_come_back_as_shown(world: World) -> None:
    publish(world)
    [file] = cast("list[Json]", files(world))
    preview = shown(world, "delete", DRUID)
    assert preview["files"] == {"n": 1, "rows": 10, "bytes": file["sizeBytes"]}
    assert "ends" not in preview

    status, done = ask(world, "delete", DRUID, f"expect={preview['digest']}")
    assert (status, done["numChangedSegments"]) == (200, 1)
    assert files(world) == []
    assert cast("Json", shown(world, "delete", DRUID)["files"])["n"] == 0

    back = shown(world, "post", DRUID)
    assert back["files"] == preview["files"]
    assert ask(world, "post", DRUID, f"expect={back['digest']}")[1]["numChangedSegments"] == 1
    assert len(files(world)) == 1


def test_files_that_are_named_leave_and_come_back_as_shown(world: World) -> None:
    """Goal: of two files the one that is named, and no other."""
    publish_two(world)
    first, second = listed(world)
    named = {"segmentIds": [first["id"]]}
    one = {"n": 1, "rows": first["rows"], "bytes": first["sizeBytes"]}
    for verb, left in (("markUnused", [second["id"]]), ("markUsed", [first["id"], second["id"]])):
        path = f"{DRUID}/{verb}"
        preview = shown(world, "post", path, named)
        assert preview["files"] == one

        status, done = ask(world, "post", path, f"expect={preview['digest']}", named)

        assert (status, done["numChangedSegments"]) == (200, 1)
        assert [each["id"] for each in listed(world, "?used=true")] == left


def test_files_become_as_few_as_shown(world: World) -> None:
    publish_two(world)
    before = cast("list[Json]", files(world))
    preview = shown(world, "post", COMPACT, {})
    sizes = sum(cast("int", file["sizeBytes"]) for file in before)
    assert preview["files"] == {"n": 2, "rows": 20, "bytes": sizes}
    assert "become 1" in str(preview["text"])

    status, done = ask(world, "post", COMPACT, f"expect={preview['digest']}", {})

    [begun] = cast("list[Json]", done["compactions"])
    assert (status, begun["files"], begun["rows"]) == (200, 2, 20)
    assert cast("Json", shown(world, "post", COMPACT, {})["files"])["n"] == 0


def test_forgetting_says_what_comes_in_twice(world: World) -> None:
    path, _ = STORIES["post", "/api/v1/supervisors/{supervisor_id}/forget"](world)
    preview = shown(world, "post", path)
    assert cast("Json", preview["files"])["rows"] == 10
    assert "10 rows" in str(preview["warnings"])
    assert preview["undo"] == "it cannot be undone"

    assert ask(world, "post", path, f"expect={preview['digest']}")[0] == 200
    assert len(files(world)) == 1
    assert world.client.get(f"{SUPERVISORS}/{TOPIC}/history").status_code == 404


def test_a_disabled_worker_finishes_what_was_shown(world: World) -> None:
    first, second = world.start()
    preview = shown(world, "post", f"{TASKS}/worker/w1/disable")
    assert set(cast("list[str]", preview["tasks"])) == set(first.held)
    assert preview["ends"] == []

    digest = preview["digest"]
    assert ask(world, "post", f"{TASKS}/worker/w1/disable", f"expect={digest}")[0] == 200
    world.round([first, second])
    assert set(first.held) == set(cast("list[str]", preview["tasks"]))
    assert "already" in str(shown(world, "post", f"{TASKS}/worker/w1/disable")["text"])


def test_an_enabled_worker_takes_tasks_again_as_shown(world: World) -> None:
    world.start()
    path = f"{TASKS}/worker/w1"
    assert world.post(f"{path}/disable").status_code == 200
    preview = shown(world, "post", f"{path}/enable")
    assert preview["text"] == "w1 takes tasks again."

    assert ask(world, "post", f"{path}/enable", f"expect={preview['digest']}")[0] == 200

    assert world.get_rows("/api/v1/workers")[0]["disabled"] is False
    assert "already" in str(shown(world, "post", f"{path}/enable")["text"])
