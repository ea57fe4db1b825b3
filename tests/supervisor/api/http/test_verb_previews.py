"""Dry runs of verbs: they change nothing, say what the verb does, and bind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest
from sqlalchemy import event, select

from supervisor.api.http.deps import WORKERS_HEADER
from supervisor.core.queue.events import container_of
from supervisor.core.values.permissions import Kind, Role
from supervisor.metadata.schema.tables import METADATA
from tests.supervisor.api.changes import GROUPS, OF_SUPERVISOR, STORIES, Story, a_task
from tests.supervisor.api.guarded import OWN, Guarded, bearer, grants_of
from tests.supervisor.api.routes.tables.test_segments import (
    DRUID,
    FORGET,
)
from tests.supervisor.api.world import (
    SUPERVISORS,
    TASKS,
    TOPIC,
    Json,
    World,
    spec_document,
)

_V1 = "/druid/indexer/v1"
VERBS = (
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/suspend"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/resume"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/terminate"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/shutdown"),
    ("post", f"{SUPERVISORS}/suspendAll"),
    ("post", f"{SUPERVISORS}/resumeAll"),
    ("post", f"{SUPERVISORS}/terminateAll"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/taskGroups/handoff"),
    ("post", f"{_V1}/task/{{task_id}}/shutdown"),
    ("post", f"{_V1}/datasources/{{data_source}}/shutdownAllTasks"),
    ("post", f"{_V1}/datasources/{{data_source}}/markUnused"),
    ("post", f"{_V1}/datasources/{{data_source}}/markUsed"),
    ("post", f"{_V1}/datasources/{{data_source}}"),
    ("delete", f"{_V1}/datasources/{{data_source}}"),
    ("post", "/api/v1/datasources/{data_source}/compact"),
    ("post", "/api/v1/supervisors/{supervisor_id}/forget"),
    ("post", "/api/v1/supervisors/{supervisor_id}/quarantine/replay"),
    ("post", f"{_V1}/worker/{{host}}/disable"),
    ("post", f"{_V1}/worker/{{host}}/enable"),
    ("post", f"{_V1}/worker/{{host}}/forget"),
    ("post", "/api/v1/queues/{container}/{name}/failed/replay"),
    ("post", "/api/v1/queues/{container}/{name}/failed/{seq}/replay"),
    ("delete", "/api/v1/queues/{container}/{name}/failed/{seq}"),
    ("post", "/api/v1/queues/{container}/{name}/repair"),
    ("post", "/api/v1/compactions/{compaction}/cancel"),
    ("put", "/api/v1/datasources/{data_source}/compaction"),
    ("delete", "/api/v1/datasources/{data_source}/compaction"),
    ("put", "/api/v1/datasources/{data_source}/retention"),
    ("delete", "/api/v1/datasources/{data_source}/retention"),
)
STALE = "0" * 32


def rows(world: World) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the database, but the heartbeat of the leader."""
    with world.store._engine.connect() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in METADATA.sorted_tables
            if table.name != "leader_renewal"
        }


def ask(world: World, method: str, path: str, query: str, body: object = None) -> tuple[int, Json]:
    """Send a verb with a query; return status and answer."""
    answer = world.client.request(method.upper(), f"{path}?{query}", json=body)
    return answer.status_code, cast("Json", answer.json() if answer.content else {})


def shown(world: World, method: str, path: str, body: object = None) -> Json:
    """The answer to the dry run of a verb."""
    status, preview = ask(world, method, path, "dryRun=true", body)
    assert status == 200, preview
    return preview


@pytest.mark.parametrize(
    ("method", "story"), [pytest.param(v[0], STORIES[v], id=" ".join(v)) for v in VERBS]
)
def test_nothing_changes_until_an_act_has_the_digest_of_what_it_does(
    world: World, method: str, story: Story
) -> None:
    """Goal: neither a dry run nor an act with another digest changes a row; the right one does."""
    path, body = story(world)
    world.settle()
    before = rows(world)

    preview = shown(world, method, path, body)
    status, problem = ask(world, method, path, f"expect={STALE}", body)

    world.settle()
    assert rows(world) == before
    assert preview["dryRun"] is True
    for member in ("verb", "id", "text", "undo", "digest"):
        assert preview[member]
    assert (status, problem["type"]) == (409, "/problems/preview-outdated")
    assert problem["preview"] == preview, "the same state, the same preview"
    assert ask(world, method, path, f"expect={preview['digest']}", body)[0] < 300
    assert rows(world) != before


def test_whoever_may_not_do_it_is_not_shown_it(guarded: Guarded) -> None:
    world = guarded.world
    world.client.headers[WORKERS_HEADER] = guarded.token("worker", kind=Kind.WORKER)
    admin = bearer(guarded.token("admin", *grants_of(Role.ADMIN, "*")))
    viewer = guarded.token("viewer", *grants_of(Role.VIEWER, OWN))
    stranger = guarded.token("stranger", *grants_of(Role.ADMIN, "views"))
    world.client.headers.update(admin)
    task, _ = a_task(world)
    given = {"{supervisor_id}": TOPIC, "{data_source}": TOPIC, "{host}": "w1"}
    given |= {"{container}": container_of(TOPIC), "{name}": "task-output", "{seq}": "7"}
    given["/task/{task_id}"] = task.removeprefix(TASKS).removesuffix("/shutdown")

    for method, template in VERBS:
        if "{compaction}" in template:  # one that is not there is found by nobody
            continue
        path = template
        for name, value in given.items():
            path = path.replace(name, value)
        of_all = "/worker/" in path or path.endswith("All")
        for token, status in ((viewer, 403), (stranger, 403 if of_all else 404)):
            headers = {**bearer(token), WORKERS_HEADER: token}
            sent = f"{path}?dryRun=true"
            answer = world.client.request(method.upper(), sent, json={}, headers=headers)
            assert answer.status_code == status, path
            assert "digest" not in answer.text


def test_a_follower_shows_nothing_that_it_does_not_know(follower: World) -> None:
    """Goal: how far tasks have read is known to the leader alone."""
    for method, path, body in (
        ("post", f"{OF_SUPERVISOR}/suspend", None),
        ("post", f"{SUPERVISORS}/terminateAll", None),
        ("post", f"{OF_SUPERVISOR}/taskGroups/handoff", GROUPS),
        ("post", f"{DRUID}/shutdownAllTasks", None),
        ("delete", DRUID, None),
        ("post", FORGET, None),
        ("post", f"{TASKS}/worker/w1/disable", None),
    ):
        status, problem = ask(follower, method, path, "dryRun=true", body)
        assert (status, problem["type"]) == (503, "/problems/not-the-leader"), path


# -- what a dry run refuses, and what it costs -----------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        (f"{OF_SUPERVISOR}/resume", 400, "already-in-state"),
        (f"{SUPERVISORS}/other/suspend", 404, "supervisor-not-found"),
        (FORGET, 409, "not-forgettable"),
        (f"{TASKS}/worker/w9/disable", 404, "worker-not-found"),
        ("/druid/indexer/v1/datasources/other/shutdownAllTasks", 404, "data-source-not-found"),
        (f"{OF_SUPERVISOR}/suspend?dryRun=maybe", 400, "invalid-request"),
        (f"{OF_SUPERVISOR}/suspend?expect=xyz", 400, "invalid-request"),
    ],
)
def test_a_dry_run_is_refused_as_its_act_is(
    world: World, path: str, status: int, kind: str
) -> None:
    world.start()
    sent = path if "?" in path else f"{path}?dryRun=true"

    answer = world.client.post(sent, headers={"Accept": "application/problem+json"})

    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (status, f"/problems/{kind}")
    assert problem["title"]
    assert problem["detail"]


def test_a_dry_run_holds_the_condition_of_its_act(world: World) -> None:
    world.start()
    headers = {"If-Match": '"9-0123456789abcdef"'}

    answer = world.client.post(f"{OF_SUPERVISOR}/suspend?dryRun=true", headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (412, "/problems/precondition-failed")


@contextmanager
def statements(world: World) -> Iterator[list[str]]:
    """The statements that are sent in the block."""
    seen: list[str] = []

    def executed(_1: object, _2: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    event.listen(world.store._engine, "before_cursor_execute", executed)
    yield seen
    event.remove(world.store._engine, "before_cursor_execute", executed)


def test_a_dry_run_takes_as_many_statements_for_twelve_ranges_as_for_one(world: World) -> None:
    world.start(partitions=1, task_count=1, replicas=1)
    verbs = ("suspend", "terminate")
    few = [_count(world, f"{OF_SUPERVISOR}/{verb}") for verb in verbs]

    world.streams.create("views", 12)
    other = spec_document(task_count=12, replicas=1, topic="views")
    assert world.post(SUPERVISORS, other | {"id": "views"}).status_code == 200
    world.settle("views")

    assert [_count(world, f"{SUPERVISORS}/views/{verb}") for verb in verbs] == few


@pytest.mark.parametrize("verb", ["suspendAll", "terminateAll"])
def test_a_dry_run_of_all_looks_at_them_in_one_view(world: World, verb: str) -> None:
    """Goal: the supervisors of a large plane cost their own rows, and no view each."""
    world.start()
    path = f"{SUPERVISORS}/{verb}"
    one = _views(world, path)
    for number in range(3):
        document = spec_document(topic=TOPIC) | {"id": f"{TOPIC}-{number}"}
        assert world.post(SUPERVISORS, document).status_code == 200
        world.settle(f"{TOPIC}-{number}")

    assert _views(world, path) == one


def _views(world: World, path: str) -> int:
    with statements(world) as seen:
        shown(world, "post", path)
    return sum("leader_term" in statement for statement in seen)


def _count(world: World, path: str) -> int:
    with statements(world) as seen:
        shown(world, "post", path)
    return len(seen)
