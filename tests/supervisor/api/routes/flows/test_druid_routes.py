"""Druid's routes of a task's log and reports, of executions and of their steps."""

from typing import cast

import pytest

from supervisor.core.values.permissions import Role
from tests.supervisor.api.guarded import Guarded, grants_of
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import TASKS, Json

STEPS = [{"name": "pack", "type": "noop"}, {"name": "end", "type": "noop", "after": ["pack"]}]


@pytest.fixture
def execution(running: Running) -> str:
    """An execution of two steps, which has ended."""
    running.apply(flow="day", steps=STEPS)
    started = running.start("day", key="one")
    running.wait_for(started, "SUCCESS")
    return started


def _payload(running: Running, task: str, kind: str) -> Json:
    report = cast("Json", running.world.get_object(f"{TASKS}/task/{task}/reports")[kind])
    assert (report["type"], report["taskId"]) == (kind, task.replace("%2F", "/"))
    return cast("Json", report["payload"])


def test_an_execution_and_a_step_have_the_log_of_a_task(running: Running, execution: str) -> None:
    get, own = running.world.client.get, f"/api/v1/executions/{execution}/log"
    whole = get(f"{TASKS}/task/{execution}/log")
    assert (whole.status_code, whole.content) == (200, get(own).content)
    assert int(whole.headers["X-Tidegate-Log-Size"]) == len(whole.content)
    assert get(f"{TASKS}/task/{execution}/log?offset=-8").text == "SUCCESS\n"

    for step in ("pack", "end", running.get(execution)["runs"][0]["id"]):  # type: ignore[index]  # a list
        of_step = get(f"{TASKS}/task/{execution}%2F{step}/log")
        assert of_step.content == get(f"{own}?step={step}").content != b""
        assert get(f"{TASKS}/task/{execution}/{step}/log").content == of_step.content


def test_an_execution_and_a_step_have_the_reports_of_a_task(
    running: Running, execution: str
) -> None:
    whole = _payload(running, execution, "execution")
    assert (whole["execution"], whole["state"]) == (execution, "SUCCESS")
    assert [each["step"] for each in cast("list[Json]", whole["steps"])] == ["pack", "end"]

    of_step = _payload(running, f"{execution}%2Fend", "executionStep")
    [attempt] = cast("list[Json]", of_step["attempts"])
    assert (attempt["attempt"], attempt["state"]) == (1, "SUCCESS")
    assert attempt["outputs"] == {"rows": 3}
    assert isinstance(attempt["ranMs"], int)


def test_what_runs_reports_how_far_it_is(running: Running) -> None:
    ask = {"name": "ok", "type": "approve", "question": "go on?"}
    running.apply(flow="ask", steps=[ask, {"name": "end", "type": "noop", "after": ["ok"]}])
    execution = running.start("ask")
    running.run_of(execution, "ok")

    assert _payload(running, execution, "execution")["endedAt"] is None
    early = running.world.get_object(f"{TASKS}/task/{execution}%2Fend/reports", 404)
    assert early["type"] == "/problems/no-task-reports"
    assert running.world.client.get(f"{TASKS}/task/{execution}%2Fend/log").content == b""


@pytest.mark.parametrize("part", ["log", "reports"])
@pytest.mark.parametrize(
    "task", ["day:two", "day:one%2Fnothing", "day:one%2F", "day:one%2F..%2F..", "no-such", "a%2Fb"]
)
def test_what_is_no_task_is_a_task_that_is_not_there(
    running: Running, execution: str, part: str, task: str
) -> None:
    assert execution == "day:one"
    answer = running.world.client.get(f"{TASKS}/task/{task}/{part}")
    assert answer.status_code == 404
    assert "Cannot find any task with id" in answer.text


@pytest.mark.parametrize("part", ["log", "reports"])
def test_who_may_not_read_all_sees_no_execution(guarded: Guarded, part: str) -> None:
    token = guarded.token("own", *grants_of(Role.ADMIN))
    for task in ("day:one", "day:one%2Fpack"):
        answer = guarded.ask("GET", f"{TASKS}/task/{task}/{part}", token)
        assert answer.status_code == 404
        assert "Cannot find any task with id" in answer.text
