"""The reason of a change: each changing route takes one, and it is on record beside the author."""

from typing import cast
from urllib.parse import quote

import pytest

from supervisor.api.http.idempotency import METHODS
from supervisor.core.values.permissions import Role
from supervisor.core.values.reasons import REASON_MAX
from tests.supervisor.api.changes import GROUPS, OF_SUPERVISOR, STORIES, Story, a_task
from tests.supervisor.api.description import description
from tests.supervisor.api.guarded import Guarded, bearer, grants_of
from tests.supervisor.api.routes.cluster.test_audit import entries
from tests.supervisor.api.routes.supervisors.test_resets import reading
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, Json, World, spec_document


def events(world: World, kind: str) -> list[Json]:
    """Events of one kind, newest first."""
    return cast("list[Json]", world.get_object(f"/api/v1/events?type={kind}")["events"])


REASON = "kafka moves: größer, 日本語 & 100 %"

CHANGES_NOTHING = {
    ("post", "/api/v1/flows/plan"),
    ("post", "/api/v1/flows/validate"),
    ("post", "/api/v1/flows/{flow}/plan"),
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
HOOKS = {("post", "/api/v1/hooks/{flow}/{trigger}")}
"""A program sends it, and the execution names its trigger."""
FLOWS = {
    ("delete", "/api/v1/flows/{flow}"),
    *(
        ("post", f"/api/v1/{path}")
        for path in (
            "flows",
            "flows/{flow}/executions",
            "flows/{flow}/triggers/{trigger}/fire",
            "flows/{flow}/triggers/{trigger}/pause",
            "flows/{flow}/triggers/{trigger}/resume",
            "flows/{flow}/versions/{version}/rollback",
            "executions/{execution}/kill",
            "executions/{execution}/pause",
            "executions/{execution}/rerun",
            "executions/{execution}/resume",
            "executions/{execution}/runs/{run}/answer",
            "executions/{execution}/runs/{run}/retry",
            "executions/{execution}/runs/{run}/skip",
        )
    ),
}
"""Their database has to be there: `routes/flows/test_reasons.py` has their reasons."""
LETTERS = {
    ("delete", "/api/v1/dead-letters/{partition}/{offset}"),
    ("post", "/api/v1/dead-letters/{partition}/{offset}/replay"),
}
"""A persister has to be there: `routes/cluster/test_letters.py` has their reasons."""
ON_KAFKA = {
    ("delete", "/api/v1/executor/dead/{offset}"),
    ("post", "/api/v1/executor/dead/{offset}/replay"),
    ("post", "/api/v1/executor/project"),
}
"""Executions have to run on Kafka: `routes/flows/test_executor.py` has their reasons."""


def _changes() -> list[tuple[str, str]]:
    """Every operation of the description that changes something for a person."""
    return [
        (method, path)
        for path, operations in description()["paths"].items()
        for method in operations
        if method.upper() in METHODS and not path.startswith("/internal/")
        if (method, path) not in CHANGES_NOTHING | OWN_SESSION | LETTERS | ON_KAFKA | FLOWS | HOOKS
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
    world.post(f"{OF_SUPERVISOR}/taskGroups/handoff?reason=first", GROUPS)
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
    path, _ = a_task(world)
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
