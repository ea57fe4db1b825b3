"""The short answer to a sync: for a worker that says that it has the present answer."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest

from supervisor.core.model.rows import Lease
from tasks.contract.messages import KNOWN_TERM_HEADER, SyncResponse, Unchanged
from tests.supervisor.api.world import SUPERVISORS, TOPIC, Agent, World, spec_document
from tests.waiting import wait_until


def synced(agent: Agent, known_term: str | None = None, wait_s: float = 0.0) -> httpx.Response:
    """Send a sync with the header, or as a worker of an earlier release sends it."""
    headers = {} if known_term is None else {KNOWN_TERM_HEADER: known_term}
    path = f"/internal/v1/workers/{agent.id}/sync"
    body = agent.request(wait_s=wait_s).to_json()
    headers["Content-Type"] = "application/json"
    answer: httpx.Response = agent.client.post(path, content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer


def test_a_worker_that_has_the_present_answer_gets_a_short_one(world: World) -> None:
    agent, _ = world.start()
    whole = SyncResponse.from_json(synced(agent).content)
    agent.obey(whole)

    short = Unchanged.from_json(synced(agent, str(whole.term)).content)

    assert (short.term, short.revision) == (whole.term, whole.revision)
    assert whole.tasks


def test_a_worker_of_an_earlier_release_gets_the_whole_answer_each_time(world: World) -> None:
    agent, _ = world.start()
    agent.sync()

    first, second = (SyncResponse.from_json(synced(agent).content) for _ in range(2))

    assert first == second
    assert first.tasks


@pytest.mark.parametrize("known_term", ["0", "2", "-1", "x", "", "1" * 5_000])
def test_an_answer_of_another_term_is_not_the_present_one(world: World, known_term: str) -> None:
    """Goal: orders name the term, and a worker reports which one it has followed."""
    agent, _ = world.start()
    agent.sync()

    assert SyncResponse.from_json(synced(agent, known_term).content).tasks


def test_after_a_change_of_the_leader_the_whole_answer_comes_once(world: World) -> None:
    agent, _ = world.start()
    before = SyncResponse.from_json(synced(agent).content)
    agent.obey(before)
    with world.store.reading() as tx:
        lease = tx.lease.read()
    assert isinstance(lease, Lease)
    world.leadership.stop()
    world.leadership.step()

    after = SyncResponse.from_json(synced(agent, str(before.term)).content)

    assert (after.term, after.revision) == (before.term + 1, before.revision)
    assert Unchanged.from_json(synced(agent, str(after.term)).content).term == after.term


def test_news_come_whole(world: World) -> None:
    agent, _ = world.start()
    agent.sync()
    before = SyncResponse.from_json(synced(agent).content)
    world.clock.advance(timedelta(hours=1))
    world.settle()

    after = SyncResponse.from_json(synced(agent, str(before.term)).content)

    assert after.revision != before.revision


def test_a_poll_that_waits_is_answered_whole_when_it_changes_and_short_at_its_end(
    world: World,
) -> None:
    agent = world.agent("w1")
    world.streams.create(TOPIC, 1)
    agent.sync()
    term = str(world.leadership.term())

    assert Unchanged.from_json(synced(agent, term, wait_s=0.05).content).revision == agent.known
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(synced, agent, term, 60)
        wait_until(lambda: bool(world.changed._waiting))
        world.post(SUPERVISORS, spec_document(replicas=1))
        answer = SyncResponse.from_json(waiting.result(timeout=15).content)

    assert [task.supervisor_id for task in answer.tasks] == [TOPIC]


def test_a_report_is_one_sign_of_life_however_often_its_poll_is_woken(world: World) -> None:
    """Goal: a worker that is frozen in a poll is lost after its time, not after the last wake."""
    agent, registry = world.agent("w1"), world.parts.workers.registry
    agent.sync()
    reported_at = world.clock.advance(timedelta(seconds=1))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(synced, agent, None, 60)
        wait_until(lambda: registry.views()[0].heard_at == reported_at)
        world.clock.advance(timedelta(seconds=10))
        world.changed.notify()
        woken = world.changed._waiting
        wait_until(lambda: not any(event.is_set() for event in woken))
        [row] = world.get_rows("/druid/indexer/v1/workers")
        world.changed.close()
        waiting.result(timeout=15)

    assert row["liveness"] != "ALIVE", row
