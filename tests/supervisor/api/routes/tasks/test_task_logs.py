"""The log of a task through the overlord, which asks its worker.

Source: answers of Druid 33.0.0; Druid's OverlordResource.
"""

import pytest

from tests.supervisor.api.agents import AgentJournals
from tests.supervisor.api.world import TASKS, World, task_ids

TEXT = b"the task begins\na batch is journaled\n"


def _with_log(world: World) -> str:
    agents = world.start(partitions=1, task_count=1, replicas=1)
    [(agent, task_id)] = task_ids(agents)
    world.journals.logs[task_id] = (agent.held[task_id].wanted.token, TEXT)
    return task_id


def test_a_log_is_text_from_the_offset_on(world: World) -> None:
    task_id = _with_log(world)

    whole = world.client.get(f"{TASKS}/task/{task_id}/log")
    tail = world.client.get(f"{TASKS}/task/{task_id}/log?offset=-10")
    behind = world.client.get(f"{TASKS}/task/{task_id}/log?offset={len(TEXT)}")

    assert (whole.status_code, whole.content) == (200, TEXT)
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert (tail.content, behind.content) == (TEXT[-10:], b"")
    assert tail.headers["X-Tidegate-Log-Start"] == str(len(TEXT) - 10)
    assert behind.headers["X-Tidegate-Log-Size"] == str(len(TEXT))


def test_a_log_is_there_after_the_task_has_ended(world: World) -> None:
    task_id = _with_log(world)
    world.post(f"{TASKS}/task/{task_id}/shutdown")
    world.settle()

    assert world.client.get(f"{TASKS}/task/{task_id}/log").content == TEXT


def test_a_worker_that_is_away_is_not_taken_for_a_missing_log(world: World) -> None:
    task_id = _with_log(world)
    world.journals.silent |= {"w1", "w2"}

    found = world.get_object(f"{TASKS}/task/{task_id}/log", 503)

    assert found["type"] == "/problems/worker-unavailable"


def test_a_task_without_a_log_and_no_task_are_two_things(world: World) -> None:
    task_id = _with_log(world)
    world.journals.logs.clear()

    problem = world.get_object(f"{TASKS}/task/{task_id}/log", 404)
    nobody = world.client.get(f"{TASKS}/task/no-such/log")

    assert problem["type"] == "/problems/no-task-log"
    assert str(problem["error"]).startswith("No log was found for this task.")
    assert (nobody.status_code, nobody.text) == (404, "Cannot find any task with id: [no-such]")


@pytest.mark.parametrize("offset", ["x", "1.5", str(10**30)])
def test_a_bad_offset_is_a_400(world: World, offset: str) -> None:
    task_id = _with_log(world)

    found = world.get_object(f"{TASKS}/task/{task_id}/log?offset={offset}", 400)

    assert "/query/offset" in str(found["error"])


def test_the_token_of_the_task_proves_who_asks(world: World) -> None:
    """Goal: without it a worker would show what another one's supervisor reads."""
    task_id = _with_log(world)
    world.journals.logs[task_id] = ("another", TEXT)

    assert isinstance(world.journals, AgentJournals)
    assert world.client.get(f"{TASKS}/task/{task_id}/log").status_code == 404
