"""Workers as the leader sees them: what they say of themselves, and what runs on them."""

from datetime import timedelta

import pytest

from tasks.contract.worker_facts import FACTS_HEADER, WorkerFacts, read_facts
from tests.supervisor.api.world import NOON, Agent, World

WORKERS = "/api/v1/workers"
FACTS = WorkerFacts(
    version="0.9.1",
    running_for=timedelta(hours=2),
    spark_master="spark://user:secret@master:7077",
    resident_bytes=800_000_000,
    heap_max_bytes=805_306_368,
)


def say(agent: Agent, header: str) -> None:
    """Sync as a worker does that says something of itself."""
    path = f"/internal/v1/workers/{agent.id}/sync"
    headers = {"Content-Type": "application/json", FACTS_HEADER: header}
    answer = agent.client.post(path, content=agent.request().to_json(), headers=headers)
    assert answer.status_code == 200, answer.text


def test_a_worker_is_shown_with_its_release_its_spark_and_its_work(world: World) -> None:
    agent, other = world.start()
    say(agent, FACTS.to_header())
    world.clock.advance(timedelta(seconds=3))
    other.sync()

    first, second = world.get_rows(WORKERS)
    shown = world.get_object(f"{WORKERS}/w1")

    assert (first["id"], first["version"], first["silentFor"]) == ("w1", "0.9.1", 3.0)
    assert (second["id"], second["version"], second["startedAt"]) == ("w2", None, None)
    assert first["slots"] == {"total": 4, "used": 2}
    assert {name: shown[name] for name in first} == first
    assert shown["uptime"] == 2 * 3600 + 3
    assert "secret" not in str(shown["sparkMaster"])
    assert shown["memory"] == {"residentBytes": 800_000_000, "heapMaxBytes": 805_306_368}
    assert [task["phase"] for task in shown["tasks"]] == ["READING", "READING"]  # type: ignore[attr-defined]  # rows
    assert (shown["compactions"], shown["samples"]) == ([], 0)
    assert world.get_object(f"{WORKERS}/w1.example:8091") == shown
    assert world.get_object(f"{WORKERS}/w9", 404)["type"] == "/problems/worker-not-found"


@pytest.mark.parametrize("header", ["", "{", "[]", '{"version": ""}', "x" * 5_000])
def test_facts_that_cannot_be_read_do_not_hold_up_a_sync(world: World, header: str) -> None:
    agent = world.agent("w1")

    say(agent, header)

    assert world.get_rows(WORKERS)[0]["version"] is None


def test_a_later_worker_may_say_more() -> None:
    """Goal: what this release does not know is ignored, and nothing else."""
    assert read_facts('{"version": "9", "runningFor": 1, "colour": "red"}') == WorkerFacts(
        version="9", running_for=timedelta(seconds=1)
    )


def test_a_worker_that_is_started_again_begins_anew(world: World) -> None:
    agent = world.agent("w1")
    say(agent, FACTS.to_header())
    again = world.agent("w1", incarnation=2)
    again.sync()

    assert world.get_object(f"{WORKERS}/w1")["startedAt"] is None
    say(again, FACTS.model_copy(update={"running_for": timedelta(0)}).to_header())
    assert str(world.get_object(f"{WORKERS}/w1")["startedAt"])[:16] == NOON.isoformat()[:16]
