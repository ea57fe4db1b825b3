"""The reason of a change: each changing route takes one, and it is on record beside the author."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import cast
from urllib.parse import quote

import pytest

from supervisor.api.http.idempotency import METHODS
from supervisor.core.queue.events import encode
from supervisor.core.values.permissions import Role
from supervisor.core.values.reasons import REASON_MAX
from tests.supervisor.api.description import description
from tests.supervisor.api.guarded import Guarded, bearer, grants_of
from tests.supervisor.api.routes.cluster.test_audit import entries
from tests.supervisor.api.routes.cluster.test_queues import EVENT, PATH, add, kill, set_aside
from tests.supervisor.api.routes.supervisors.test_resets import reading
from tests.supervisor.api.routes.tables.test_compaction import COMPACT, RULE, publish_two
from tests.supervisor.api.routes.tables.test_segments import DRUID, FORGET, OURS, publish
from tests.supervisor.api.routes.tasks.submitted import TASK, task_document
from tests.supervisor.api.world import (
    SUPERVISORS,
    TASKS,
    TOPIC,
    Json,
    World,
    spec_document,
    task_ids,
)


def events(world: World, kind: str) -> list[Json]:
    """Events of one kind, newest first."""
    return cast("list[Json]", world.get_object(f"/api/v1/events?type={kind}")["events"])


OF_SUPERVISOR = f"{SUPERVISORS}/{TOPIC}"
REASON = "kafka moves: größer, 日本語 & 100 %"
Call = tuple[str, object]
"""Path and body."""
Story = Callable[[World], Call]

CHANGES_NOTHING = {
    ("post", "/api/v1/supervisors/validate"),
    ("post", "/druid/indexer/v1/action"),
    ("post", "/druid/indexer/v1/lockedIntervals/v2"),
    ("post", "/druid/indexer/v1/sampler"),
    ("post", "/druid/indexer/v1/taskStatus"),
    ("post", "/druid/indexer/v1/worker"),
    ("delete", "/druid/indexer/v1/pendingSegments/{data_source}"),
}
"""They ask, or are refused, or have nothing to delete."""
OWN_SESSION = {("post", "/api/v1/sessions"), ("delete", "/api/v1/sessions/current")}
"""A login changes nothing of the product, and nobody has to say why."""


def _started(path: str, body: object = None) -> Story:
    def story(world: World) -> Call:
        world.start()
        return path, body

    return story


def _after(path: str, before: str, body: object = None) -> Story:
    def story(world: World) -> Call:
        world.start()
        assert world.post(before).status_code == 200
        return path, body

    return story


def _reading(path: str, body: object = None) -> Story:
    def story(world: World) -> Call:
        reading(world)
        return path, body

    return story


def _published(path: str, body: object = None, *, out: bool = False) -> Story:
    def story(world: World) -> Call:
        publish(world)
        if out:
            assert world.client.delete(DRUID).status_code == 200
        return path, body

    return story


def _compacting(world: World) -> Call:
    publish_two(world)
    [begun] = world.post(COMPACT, {}).json()["compactions"]
    return f"/api/v1/compactions/{begun['id']}/cancel", None


def _small_files(world: World) -> Call:
    publish_two(world)
    return COMPACT, {}


def _a_rule(world: World) -> Call:
    publish(world)
    assert world.client.put(RULE, json={}).status_code == 200
    return RULE, None


def _kept_for(world: World) -> Call:
    publish(world)
    assert world.client.put(f"{OURS}/retention", json={"keepFor": "P3000D"}).status_code == 200
    return f"{OURS}/retention", None


def _set_aside(route: str) -> Story:
    def story(world: World) -> Call:
        add(world)
        set_aside(world, 7, encode(EVENT))
        return f"{PATH}/{route}", None

    return story


def _dead_queue(world: World) -> Call:
    add(world)
    kill(world)
    return f"{PATH}/repair", None


def _two_versions(world: World) -> Call:
    world.start()
    assert world.post(f"{OF_SUPERVISOR}/suspend").status_code == 200
    return f"/api/v1/supervisors/{TOPIC}/rollback", {"version": 1}


def _terminated(world: World) -> Call:
    agents, _ = publish(world)
    assert world.post(f"{OF_SUPERVISOR}/terminate").status_code == 200
    world.settle()
    world.round(agents)
    world.settle()
    return FORGET, None


def _a_task(world: World) -> Call:
    [(_, task_id)] = task_ids(world.start(partitions=1, task_count=1, replicas=1))
    return f"{TASKS}/task/{task_id}/shutdown", None


def _lost_worker(world: World) -> Call:
    first, _ = world.start(partitions=2, task_count=2, replicas=1)
    for _ in range(3):
        world.pass_time(timedelta(hours=10), [first])
    world.round([first])
    return f"{TASKS}/worker/w2/forget", None


def _disabled(world: World) -> Call:
    world.agent("w1").sync()
    assert world.post(f"{TASKS}/worker/w1/disable").status_code == 200
    return f"{TASKS}/worker/w1/enable", None


def _a_worker(world: World) -> Call:
    world.agent("w1").sync()
    return f"{TASKS}/worker/w1/disable", None


def _new(world: World) -> Call:
    world.streams.create(TOPIC, 1)
    return SUPERVISORS, spec_document()


def _new_task(world: World) -> Call:
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 20)
    return TASK, task_document()


OFFSETS = {
    "type": "kafka",
    "partitions": {"type": "end", "stream": TOPIC, "partitionOffsetMap": {"0": 3}},
}
_V1, _MARK = "/druid/indexer/v1", {"interval": "2026-01-05T12:00Z/2026-01-05T13:00Z"}
_GROUPS = {"taskGroupIds": [0]}
STORIES: Mapping[tuple[str, str], Story] = {
    ("post", "/api/v1/compactions/{compaction}/cancel"): _compacting,
    ("post", "/api/v1/datasources/{data_source}/compact"): _small_files,
    ("put", "/api/v1/datasources/{data_source}/compaction"): _published(RULE, {}),
    ("delete", "/api/v1/datasources/{data_source}/compaction"): _a_rule,
    ("put", "/api/v1/datasources/{data_source}/retention"): _published(
        f"{OURS}/retention", {"keepFor": "P3000D"}
    ),
    ("delete", "/api/v1/datasources/{data_source}/retention"): _kept_for,
    ("post", "/api/v1/queues/{container}/{name}/failed/replay"): _set_aside("failed/replay"),
    ("delete", "/api/v1/queues/{container}/{name}/failed/{seq}"): _set_aside("failed/7"),
    ("post", "/api/v1/queues/{container}/{name}/failed/{seq}/replay"): _set_aside(
        "failed/7/replay"
    ),
    ("post", "/api/v1/queues/{container}/{name}/repair"): _dead_queue,
    ("post", "/api/v1/supervisors/{supervisor_id}/forget"): _terminated,
    ("post", "/api/v1/supervisors/{supervisor_id}/rollback"): _two_versions,
    ("delete", f"{_V1}/datasources/{{data_source}}"): _published(DRUID),
    ("post", f"{_V1}/datasources/{{data_source}}"): _published(DRUID, out=True),
    ("post", f"{_V1}/datasources/{{data_source}}/markUnused"): _published(
        f"{DRUID}/markUnused", _MARK
    ),
    ("post", f"{_V1}/datasources/{{data_source}}/markUsed"): _published(
        f"{DRUID}/markUsed", _MARK, out=True
    ),
    ("post", f"{_V1}/datasources/{{data_source}}/shutdownAllTasks"): _started(
        f"{DRUID}/shutdownAllTasks"
    ),
    ("post", SUPERVISORS): _new,
    ("post", f"{SUPERVISORS}/resumeAll"): _after(
        f"{SUPERVISORS}/resumeAll", f"{OF_SUPERVISOR}/suspend"
    ),
    ("post", f"{SUPERVISORS}/suspendAll"): _started(f"{SUPERVISORS}/suspendAll"),
    ("post", f"{SUPERVISORS}/terminateAll"): _started(f"{SUPERVISORS}/terminateAll"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/reset"): _reading(f"{OF_SUPERVISOR}/reset"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/resetOffsets"): _reading(
        f"{OF_SUPERVISOR}/resetOffsets", OFFSETS
    ),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/resetToLatestAndBackfill"): _reading(
        f"{OF_SUPERVISOR}/resetToLatestAndBackfill"
    ),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/resume"): _after(
        f"{OF_SUPERVISOR}/resume", f"{OF_SUPERVISOR}/suspend"
    ),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/shutdown"): _started(f"{OF_SUPERVISOR}/shutdown"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/suspend"): _started(f"{OF_SUPERVISOR}/suspend"),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/taskGroups/handoff"): _reading(
        f"{OF_SUPERVISOR}/taskGroups/handoff", _GROUPS
    ),
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/terminate"): _started(f"{OF_SUPERVISOR}/terminate"),
    ("post", TASK): _new_task,
    ("post", f"{TASK}/{{task_id}}/shutdown"): _a_task,
    ("post", f"{TASKS}/worker/{{host}}/disable"): _a_worker,
    ("post", f"{TASKS}/worker/{{host}}/enable"): _disabled,
    ("post", f"{TASKS}/worker/{{host}}/forget"): _lost_worker,
}


def _changes() -> list[tuple[str, str]]:
    """Every operation of the description that changes something for a person."""
    return [
        (method, path)
        for path, operations in description()["paths"].items()
        for method in operations
        if method.upper() in METHODS and not path.startswith("/internal/")
        if (method, path) not in CHANGES_NOTHING | OWN_SESSION
    ]


def test_each_change_of_the_api_has_a_story_here() -> None:
    assert sorted(STORIES) == sorted(_changes())


@pytest.mark.parametrize(
    ("operation", "story"), [pytest.param(*each, id=" ".join(each[0])) for each in STORIES.items()]
)
def test_a_reason_arrives_in_the_audit_log(
    world: World, operation: tuple[str, str], story: Story
) -> None:
    path, body = story(world)
    known = len(entries(world, "?limit=1000"))

    answer = world.client.request(
        operation[0].upper(),
        f"{path}?reason={quote(REASON)}",
        json=body,
        headers={"X-Druid-Author": "ada"},
    )

    assert answer.status_code < 300, answer.text
    every = entries(world, "?limit=1000")
    added = [one for one in every[: len(every) - known] if one["actor"] == "ada"]
    assert added
    assert {one["reason"] for one in added} == {REASON}


def test_it_is_kept_with_the_operation_the_version_and_the_event(world: World) -> None:
    world.start()
    suspended = world.post(f"{OF_SUPERVISOR}/suspend?reason={quote(REASON)}")
    operation = suspended.headers["tidegate-operation"]

    assert world.get_object(f"/api/v1/operations/{operation}")["reason"] == REASON
    history = world.get_object(f"/api/v1/supervisors/{TOPIC}/history?fields=meta")["versions"]
    newest, first = cast("list[Json]", history)
    assert (newest["reason"], first["reason"]) == (REASON, None)
    [event] = events(world, "supervisor-suspended")
    assert event["detail"] == {"version": 2, "author": "anonymous", "reason": REASON}


def test_the_events_of_a_reset_and_of_a_handoff_have_it(world: World) -> None:
    reading(world)
    world.post(f"{OF_SUPERVISOR}/taskGroups/handoff?reason=first", _GROUPS)
    world.post(f"{OF_SUPERVISOR}/reset?to=latest&reason=second")

    reasons = {
        kind: {cast("Json", event["detail"])["reason"] for event in events(world, kind)}
        for kind in ("handoff-asked", "offsets-reset", "gap-declared")
    }
    assert reasons == {
        "handoff-asked": {"first"},
        "offsets-reset": {"second"},
        "gap-declared": {"second"},
    }


def test_a_task_that_is_ended_says_why(world: World) -> None:
    path, _ = _a_task(world)
    assert world.post(f"{path}?reason=it+hangs").status_code == 200

    [row] = world.get_rows(f"{TASKS}/completeTasks")
    assert row["errorMsg"] == "Shutdown request from user: it hangs"


def test_a_change_without_a_reason_has_none(world: World) -> None:
    world.start()
    operation = world.post(f"{OF_SUPERVISOR}/suspend").headers["tidegate-operation"]

    assert world.get_object(f"/api/v1/operations/{operation}")["reason"] is None
    assert {entry["reason"] for entry in entries(world)} == {None}
    [event] = events(world, "supervisor-suspended")
    assert "reason" not in cast("Json", event["detail"])


def test_a_secret_in_a_reason_is_masked_wherever_it_is_kept(world: World) -> None:
    """Goal: people paste what failed; the password in it is neither stored nor shown."""
    world.start()
    reason = quote("rejected: sasl.password=hunter2-hunter2")
    operation = world.post(f"{OF_SUPERVISOR}/suspend?reason={reason}").headers["tidegate-operation"]

    answers = [
        f"/api/v1/operations/{operation}",
        f"/api/v1/supervisors/{TOPIC}/history",
        "/api/v1/audit",
        "/api/v1/events",
    ]
    for path in answers:
        text = world.client.get(path).text
        assert "hunter2" not in text, path
        assert "sasl.password=***" in text, path
    assert b"hunter2" not in world.database.read_bytes()


@pytest.mark.parametrize("reason", ["a%0Ab", "%1B[31m", "%E2%80%AE", "x" * (REASON_MAX + 1)])
def test_what_is_no_line_of_text_is_refused_and_nothing_is_done(world: World, reason: str) -> None:
    world.start()

    answer = world.post(f"{OF_SUPERVISOR}/suspend?reason={reason}")

    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (400, "/problems/invalid-request")
    [error] = problem["errors"]
    assert error["pointer"] == "/query/reason"
    assert error["message"]
    assert world.payload()["suspended"] is False


def test_the_reason_of_a_proved_caller_stands_beside_its_name(guarded: Guarded) -> None:
    world = guarded.world
    token = guarded.token("deploy", *grants_of(Role.ADMIN, "*"))
    world.client.headers.update(bearer(token))
    world.streams.create(TOPIC, 1)
    world.post(f"{SUPERVISORS}?reason=first+load", spec_document())

    [entry] = entries(world, f"?supervisor={TOPIC}")
    assert (entry["actor"], entry["reason"]) == ("deploy", "first load")
