"""`GET /api/v1/tasks`: tasks page by page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from supervisor.core.values.permissions import Kind, Role
from tests.supervisor.api.guarded import a_guarded_world, grants_of
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, World, spec_document, task_ids

PATH = "/api/v1/tasks"


@contextmanager
def _counted(world: World) -> Iterator[list[str]]:
    """Collect the statements that look for a page; the loop's passes read beside them."""
    collected: list[str] = []

    def executed(_: Connection, __: object, statement: str, *___: object) -> None:
        if "looked_at" in statement or "tasks.created_at DESC" in statement:
            collected.append(statement)

    event.listen(world.store._engine, "before_cursor_execute", executed)
    yield collected
    event.remove(world.store._engine, "before_cursor_execute", executed)


def _ids(world: World, query: str) -> list[object]:
    page = world.get_object(f"{PATH}?{query}")
    rows = page["tasks"]
    assert isinstance(rows, list)
    assert page["next"] is None
    return [row["id"] for row in rows]


def test_the_rows_are_those_of_the_list_page_by_page(world: World) -> None:
    world.start(partitions=2, task_count=2, replicas=2)
    rows = world.get_rows(f"{TASKS}/tasks")
    assert len(rows) == 4

    paged: list[object] = []
    cursor = ""
    while True:
        page = world.get_object(f"{PATH}?limit=1{cursor}")
        shown = page["tasks"]
        assert isinstance(shown, list)
        paged += shown
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"

    assert paged == rows


def test_it_filters_by_what_a_task_is_of(world: World) -> None:
    agents = world.start(partitions=2, task_count=2, replicas=1)
    of_group = {row["generationId"]: row["id"] for row in world.get_rows(f"{TASKS}/tasks")}
    generations = world.get_object(f"/api/v1/supervisors/{TOPIC}/generations")["generations"]
    assert isinstance(generations, list)
    for generation in generations:
        mine = [of_group[generation["id"]]]
        assert _ids(world, f"generation={generation['id']}") == mine
        assert _ids(world, f"supervisor={TOPIC}&group={generation['group']}") == mine
    for agent, task_id in task_ids(agents):
        assert task_id in _ids(world, f"worker={agent.id}&status=RUNNING")
        assert _ids(world, f"q={task_id[-8:]}") == [task_id]
    assert _ids(world, "ownFailure=true") == []
    assert _ids(world, "supervisor=nobody") == []


@pytest.mark.parametrize(("query", "statements"), [("", 1), ("q=index", 2)])
def test_its_statements_are_as_many_for_many_tasks(
    world: World, query: str, statements: int
) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    with _counted(world) as of_one:
        assert len(_ids(world, query)) == 1
    world.post(SUPERVISORS, spec_document(task_count=1, replicas=4))
    world.settle()
    with _counted(world) as of_more:
        assert len(_ids(world, query)) > 1
    assert len(of_more) == len(of_one) == statements


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("cursor=nonsense", "bad-cursor"),
        ("limit=0", "invalid-request"),
        ("limit=1001", "invalid-request"),
        ("status=running", "invalid-request"),
        ("group=-1", "invalid-request"),
        ("group=9999999999", "invalid-request"),
        ("q=", "invalid-request"),
        (f"q={'x' * 201}", "invalid-request"),
        ("ownFailure=perhaps", "invalid-request"),
    ],
)
def test_what_it_does_not_take_is_named(world: World, query: str, slug: str) -> None:
    answer = world.client.get(f"{PATH}?{query}")

    assert (answer.status_code, answer.json()["type"]) == (400, f"/problems/{slug}")
    assert answer.json()["detail"]


def test_the_cursor_of_another_list_is_none_of_this(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=2)
    other = world.get_object("/api/v1/events?limit=1")["next"]
    mine = world.get_object(f"{PATH}?limit=1")["next"]
    assert other
    assert mine

    for path, cursor in ((PATH, other), ("/api/v1/events", mine)):
        answer = world.client.get(f"{path}?cursor={cursor}")
        assert (answer.status_code, answer.json()["type"]) == (400, "/problems/bad-cursor")


def test_foreign_tasks_are_nowhere(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        everywhere = guarded.token("all", *grants_of(Role.ADMIN, "*"))
        own = guarded.token("own", *grants_of(Role.VIEWER, "cli*"))
        foreign = guarded.token("foreign", *grants_of(Role.VIEWER, "views"))
        world = guarded.world
        world.client.headers["Authorization"] = f"Bearer {everywhere}"
        world.client.headers["X-Tidegate-Token"] = guarded.token("w", kind=Kind.WORKER)
        world.start(partitions=1, task_count=1, replicas=2)

        seen = {
            name: guarded.ask("GET", f"{PATH}?limit=1", token).json()
            for name, token in (("all", everywhere), ("own", own), ("foreign", foreign))
        }
        of_another = guarded.ask("GET", f"{PATH}?supervisor={TOPIC}", foreign).json()

    assert len(seen["own"]["tasks"]) == 1
    assert seen["own"] == seen["all"]
    assert seen["foreign"] == of_another == {"tasks": [], "next": None}
