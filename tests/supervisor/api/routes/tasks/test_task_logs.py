"""The log of a task through the overlord, which asks its worker.

Source: answers of Druid 33.0.0; Druid's OverlordResource.
"""

from datetime import UTC, datetime

import pytest

from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.ports.reports.logs import StoredChunk
from supervisor.ports.store_problems import StoreAway
from tasks.reporting.record import RecordType, record_id_of
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


# ---------------------------------------------------------------- logs that are stored


class _AwayStore(MemoryLogStore):
    """A store that does not answer."""

    def span(self, subject: str, attempt: int) -> None:
        raise StoreAway(f"{subject} {attempt}: connection refused")


def _stored(task_id: str, *pieces: tuple[int, bytes], ends: bool) -> MemoryLogStore:
    """Return a store that has pieces of a task's log; with `ends` the last one ends it."""
    store = MemoryLogStore()
    for number, (offset, content) in enumerate(pieces, 1):
        store.put_many(
            [
                StoredChunk(
                    record_id=record_id_of(task_id, 1, RecordType.LOG_CHUNK, offset),
                    subject=task_id,
                    attempt=1,
                    offset=offset,
                    content=content,
                    ends=ends and number == len(pieces),
                    at=datetime(2026, 11, 28, 10, tzinfo=UTC),
                    supervisor="clicks",
                    data_source="clicks",
                    worker="w1",
                    grave=(),
                )
            ]
        )
    return store


def test_a_whole_log_comes_from_the_store_also_without_its_worker(world: World) -> None:
    task_id = _with_log(world)
    world.post(f"{TASKS}/task/{task_id}/shutdown")
    world.settle()
    world.journals.silent |= {"w1", "w2"}
    world.store_logs(_stored(task_id, (0, TEXT), ends=True))

    whole = world.client.get(f"{TASKS}/task/{task_id}/log")
    tail = world.client.get(f"{TASKS}/task/{task_id}/log?offset=-10")

    assert (whole.status_code, whole.content) == (200, TEXT)
    assert "X-Tidegate-Log-Missing" not in whole.headers
    assert (tail.content, tail.headers["X-Tidegate-Log-Start"]) == (
        TEXT[-10:],
        str(len(TEXT) - 10),
    )


def test_of_a_task_that_runs_the_worker_is_asked_first(world: World) -> None:
    task_id = _with_log(world)
    world.store_logs(_stored(task_id, (0, TEXT[:10]), ends=True))

    assert world.client.get(f"{TASKS}/task/{task_id}/log").content == TEXT


def test_what_is_stored_of_a_silent_worker_is_shown_with_what_is_missing(world: World) -> None:
    task_id = _with_log(world)
    world.journals.silent |= {"w1", "w2"}
    world.store_logs(_stored(task_id, (0, TEXT[:16]), ends=False))

    shown = world.client.get(f"{TASKS}/task/{task_id}/log")

    assert (shown.status_code, shown.content) == (200, TEXT[:16])
    missing = shown.headers["X-Tidegate-Log-Missing"]
    assert missing.startswith("16 bytes, up to 2026-11-28T10:00:00Z, are stored")
    assert "the rest is at worker w" in missing


def test_a_hole_is_a_line_in_its_place_and_later_offsets_are_kept(world: World) -> None:
    task_id = _with_log(world)
    world.journals.silent |= {"w1", "w2"}
    world.store_logs(_stored(task_id, (0, b"first\n"), (106, b"last\n"), ends=True))

    first = world.client.get(f"{TASKS}/task/{task_id}/log")
    rest = world.client.get(f"{TASKS}/task/{task_id}/log?offset=6")

    assert first.content == b"first\n"
    assert rest.content == (
        b"[100 bytes of this log are missing: they did not reach the store]\nlast\n"
    )
    assert int(rest.headers["X-Tidegate-Log-Start"]) + len(rest.content) == 111
    assert rest.headers["X-Tidegate-Log-Size"] == "111"


def test_a_store_that_is_away_takes_no_log_away(world: World) -> None:
    task_id = _with_log(world)
    world.store_logs(_AwayStore())

    assert world.client.get(f"{TASKS}/task/{task_id}/log").content == TEXT
