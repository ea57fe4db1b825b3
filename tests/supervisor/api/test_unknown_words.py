"""Rows with words of a newer release: each list answers, shows them, and nothing acts on them."""

from datetime import timedelta
from typing import cast

import pytest

from supervisor.control.sync_answers import AGE_MAX_S
from tasks.contract.messages import SyncResponse
from tests.conformance.metadata.databases import execute
from tests.supervisor.api.agents import Agent
from tests.supervisor.api.routes.supervisors.test_unreadable_specs import OTHER
from tests.supervisor.api.world import SUPERVISORS, TASKS, TOPIC, Json, World, spec_document
from tests.waiting import wait_until

OURS = f"/api/v1/supervisors/{TOPIC}"
TABLE = f"/api/v1/datasources/{TOPIC}"
LISTS = (
    SUPERVISORS,
    f"{SUPERVISORS}?state=true",
    f"{SUPERVISORS}?full=true",
    *(f"{TASKS}/{kind}Tasks" for kind in ("running", "complete", "waiting", "pending")),
    f"{TASKS}/tasks",
    f"{TASKS}/workers",
    *(f"/api/v1/{noun}" for noun in ("compactions", "events", "operations", "queues")),
    *(f"/api/v1/{noun}" for noun in ("audit", "datasources", "exports", "files")),
    *(f"{TABLE}/{noun}" for noun in ("exports", "files", "segments")),
    f"{TABLE}/files?include=journaled",
    *(f"{OURS}/{noun}" for noun in ("generations", "ledger", "plans")),
    f"{SUPERVISORS}/{OTHER}/status",
    "/metrics",
)
WORD = "OF_THE_FUTURE"


def plant(world: World, table: str, column: str, where: str = "supervisor_id = 'clicks'") -> None:
    statement = f"UPDATE {table} SET {column} = '{WORD}' WHERE {where}"  # noqa: S608 -- a test's
    execute(f"sqlite:///{world.database}", statement)
    world.clock.advance(timedelta(seconds=AGE_MAX_S))  # syncs see what no leader has written


@pytest.fixture
def agents(world: World) -> list[Agent]:
    """Two workers with tasks of two supervisors; rows of one will be a newer release's."""
    agents = world.start(task_count=1)
    world.streams.create(OTHER, 2)
    document = spec_document(task_count=1, topic=OTHER)
    document["spec"]["dataSchema"]["dataSource"] = OTHER  # type: ignore[index]  # it is known
    assert world.post(SUPERVISORS, document).status_code == 200
    world.settle(OTHER)
    world.round(agents)
    return agents


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("tasks", "status"),
        ("tasks", "outcome"),
        ("generations", "state"),
        ("operations", "kind"),
        ("happenings", "kind"),
    ],
)
def test_every_list_answers(world: World, table: str, column: str) -> None:
    """Goal: after a rollback nobody is blind for what one row says."""
    plant(world, table, column)

    answers = {path: world.client.get(path) for path in LISTS}

    wrong = {path: a.text for path, a in answers.items() if a.status_code != 200}
    assert wrong == {}


def _mine(agents: list[Agent]) -> tuple[Agent, str]:
    """A task whose row will be a newer release's, and its worker."""
    return next(
        (agent, task_id)
        for agent in agents
        for task_id, held in agent.held.items()
        if held.wanted.supervisor_id == TOPIC
    )


def _row(world: World, task_id: str, query: str = "") -> Json | None:
    rows = world.get_rows(f"{TASKS}/tasks{query}")
    return next((row for row in rows if row["id"] == task_id), None)


@pytest.mark.parametrize("ended", [True, False])
def test_a_task_is_shown_as_unknown_with_the_word(
    world: World, agents: list[Agent], *, ended: bool
) -> None:
    """Goal: a client that waits for an end takes it for none.  Source: Druid's task rows."""
    _, task_id = _mine(agents)
    if ended:
        assert world.post(f"{TASKS}/task/{task_id}/shutdown").status_code == 200
    plant(world, "tasks", "status", f"id = '{task_id}'")

    row = _row(world, task_id)

    assert row is not None
    assert (row["status"], row["statusCode"], row["runnerStatusCode"]) == (
        "UNKNOWN",
        "UNKNOWN",
        "NONE",
    )
    assert f"holds '{WORD}' as TaskStatus" in str(row["errorMsg"])
    assert (row["duration"] == -1) is not ended
    assert world.get_object(f"{TASKS}/task/{task_id}/status")["status"] == row
    short = world.post(f"{TASKS}/taskStatus", [task_id]).json()[task_id]
    assert (short["status"], short["errorMsg"]) == ("UNKNOWN", row["errorMsg"])
    for state in ("running", "complete", "pending", "waiting"):
        assert _row(world, task_id, f"?state={state}") is None


def test_nothing_acts_on_its_task_and_others_are_served(world: World, agents: list[Agent]) -> None:
    """Goal: neither ended, nor replaced, nor published, nor cleaned up after."""
    agent, task_id = _mine(agents)
    agent.read(task_id, 5)
    plant(world, "tasks", "status", f"id = '{task_id}'")
    before = world.get_rows(f"{TASKS}/tasks")

    world.leadership._on_lead()
    world.loop.wake(TOPIC)
    wait_until(lambda: bool(world.loop.errors(TOPIC)))
    world.settle(OTHER)
    assert world.loop.errors(TOPIC)[0].kind == "UnknownWord"
    assert world.post(f"{TASKS}/task/{task_id}/shutdown").status_code == 200
    answer = SyncResponse.from_json(agent.post(agent.request()).content)
    assert answer.kept == (task_id,)
    assert OTHER in {task.supervisor_id for task in answer.tasks}
    agent.incarnation = 2
    assert agent.post(agent.request()).status_code == 200

    published = agent.publish(task_id)
    assert published.status_code == 403, "the row has its incarnation from before"
    agent.incarnation = 1
    published = agent.publish(task_id)
    assert (published.status_code, published.json()["type"]) == (503, "/problems/unknown-word")
    assert [row["id"] for row in world.get_rows(f"{TASKS}/tasks")] == [r["id"] for r in before]
    assert f"{TOPIC}/data/{task_id}" in str(world.get_object("/api/v1/files")["writing"])


@pytest.mark.usefixtures("agents")
def test_its_supervisor_is_in_the_list_and_says_why(world: World) -> None:
    plant(world, "generations", "state")

    rows = {row["id"]: row for row in world.get_rows(f"{SUPERVISORS}?full=true")}

    assert (rows[TOPIC]["state"], rows[TOPIC]["detailedState"], rows[TOPIC]["healthy"]) == (
        "UNHEALTHY_SUPERVISOR",
        "UNREADABLE_ROWS",
        False,
    )
    assert rows[OTHER]["healthy"] is True
    assert world.client.get(f"{SUPERVISORS}/{TOPIC}/health").status_code == 503
    [shown] = cast("list[Json]", world.get_object(f"{OURS}/generations")["generations"])
    assert shown["state"] == "UNKNOWN"
    assert WORD in str(shown["handoffWhy"])
    files = world.get_object(f"{TABLE}/files?include=journaled")
    assert WORD in str(files["missing"])


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize("table", ["operations", "generations"])
def test_an_operation_that_nobody_can_judge_runs(world: World, table: str) -> None:
    """Goal: who waits for it is not told that it is done."""
    plant(world, table, "kind" if table == "operations" else "state")

    operations = world.get_object("/api/v1/operations")["operations"]

    assert isinstance(operations, list)
    [mine] = [each for each in operations if each["supervisor"] == TOPIC]
    assert mine["state"] == "running"
    assert "a newer release" in mine["waitsFor"]
    assert mine["kind"] == ("unknown" if table == "operations" else "apply")
