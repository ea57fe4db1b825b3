"""Submitted tasks after their end: nothing looks at them, and later they are in no list."""

from datetime import timedelta

import pytest

from supervisor.chores.retirement import AT_ONCE, AUTHOR, TaskRetirement
from supervisor.control.loop import wake_all
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.services.supervisors.queries import REST_SHOWN
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.agents import NOON, TOPIC
from tests.supervisor.api.routes.cluster.test_metrics import families
from tests.supervisor.api.routes.tasks.submitted import (
    TASK,
    read_to_the_end,
    status_of,
    task_document,
)
from tests.supervisor.api.world import TASKS, World
from tests.waiting import wait_until

SUPERVISORS = f"{TASKS}/supervisor"
LEDGER = "/api/v1/supervisors/nightly/ledger"
WEEK = timedelta(days=7)
MANY = 250


@pytest.fixture
def ended(world: World) -> World:
    """An overlord that has run the task `nightly` to its end."""
    world.watch()
    world.streams.create(TOPIC, 1)
    world.streams.append(TOPIC, 0, 25)
    agent = world.agent("w1")
    agent.sync()
    assert world.post(TASK, task_document(5, 20, id="nightly")).status_code == 200
    world.settle("nightly")
    read_to_the_end(world, agent, "nightly")
    wait_until(lambda: not awake(world))
    return world


def awake(world: World) -> list[str]:
    with world.store.reading() as tx:
        return [head.supervisor_id for head in tx.specs.awake()]


def retirement(world: World) -> TaskRetirement:
    return TaskRetirement(world.store, world.clock, world.leadership.term, WEEK)


def retire(world: World) -> int:
    world.clock.advance(WEEK)
    world.leadership.step()
    return retirement(world).run_once()


def states(world: World) -> list[str]:
    return [each.labels["state"] for each in families(world)["tidegate_supervisor_state"].samples]


def test_nothing_looks_at_a_task_that_has_ended(ended: World) -> None:
    """Goal: ten thousand of them cost the loop, the samples of lag and the scrapes nothing."""
    wait_until(lambda: ended.loop.supervisors() == 0)

    wake_all(ended.store, ended.loop)

    assert ended.loop.supervisors() == 0
    assert ended.watching.lags() == {}
    assert ended.get(f"{SUPERVISORS}/nightly/health") == {"healthy": True}
    assert [row["state"] for row in ended.get_rows(f"{SUPERVISORS}?state=true")] == ["COMPLETED"]
    assert ended.payload("nightly")["state"] == "COMPLETED"
    assert states(ended) == ["COMPLETED"], "a scraper sees how it ended"
    ended.clock.advance(REST_SHOWN + timedelta(seconds=1))
    assert states(ended) == []


def test_the_next_leader_does_not_look_at_it_either(ended: World) -> None:
    ended.loop.forget()

    ended.client.app.state.parts.service.start_term()  # type: ignore[attr-defined]  # of the app

    assert ended.loop.supervisors() == 0
    assert ended.payload("nightly")["state"] == "COMPLETED"


def test_a_reset_ends_the_rest(ended: World) -> None:
    assert ended.post(f"{SUPERVISORS}/nightly/reset").status_code == 200

    assert awake(ended) == ["nightly"]
    ended.settle("nightly")
    assert status_of(ended, "nightly")["status"] == "RUNNING"
    assert retire(ended) == 0


def test_a_task_is_retired_a_week_after_its_end_and_its_status_stays(ended: World) -> None:
    """Goal: a scheduler that polls late, and whoever asks for the proof, hear what they heard."""
    before = status_of(ended, "nightly")
    ledger = ended.get_object(LEDGER)
    payload = ended.get_object(f"{TASK}/nightly")
    replicas = ended.get_rows(f"{TASKS}/tasks")
    assert retirement(ended).run_once() == 0

    assert retire(ended) == 1
    assert retirement(ended).run_once() == 0

    assert ended.get(SUPERVISORS) == []
    assert before["status"] == "SUCCESS"
    assert status_of(ended, "nightly") == before
    assert ended.get_object(f"{TASK}/nightly") == payload
    assert ended.get_object(LEDGER) == ledger
    assert ended.get_rows(f"{TASKS}/tasks") == replicas
    statuses = ended.post(f"{TASKS}/taskStatus", ["nightly"]).json()
    assert statuses["nightly"]["status"] == "SUCCESS"
    assert len(ended.get_rows(f"{SUPERVISORS}/nightly/history")) == 2
    assert ended.post(TASK, task_document(id="nightly")).status_code == 400, "the id stays used"
    assert ended.post(f"{TASK}/nightly/shutdown").json() == {"task": "nightly"}
    assert status_of(ended, "nightly") == before
    with ended.store.reading() as tx:
        [newest, *_] = tx.audit.recent(1)
    assert (newest.actor, newest.action, newest.subject) == (AUTHOR, "retire", "nightly")
    wake_all(ended.store, ended.loop)
    assert ended.loop.supervisors() == 0


def test_one_that_failed_or_was_applied_by_a_person_is_left_alone(ended: World) -> None:
    assert ended.post(TASK, task_document(id="stopped")).status_code == 200
    assert ended.post(f"{TASK}/stopped/shutdown").status_code == 200
    document = ended.get_object(f"{SUPERVISORS}/nightly")
    # Suspended, so that no pass begins to read before the offsets say that all is read.
    applied = document | {"id": "applied", "suspended": True}
    assert ended.post(SUPERVISORS, applied).status_code == 200
    with ended.store.leading(ended.leadership.term()) as tx:
        committed = tx.offsets.of("nightly")
        topic_ids = {p: row.topic_id for p, row in committed.items()}
        for p, row in committed.items():
            tx.offsets.initialise("applied", topic_ids[p], {p: row.next_offset})
    assert ended.post(f"{SUPERVISORS}/applied/resume").status_code == 200
    ended.settle("applied")
    wait_until(lambda: not awake(ended))

    assert retire(ended) == 1

    assert [row["id"] for row in ended.get_rows(f"{SUPERVISORS}?state=true")] == ["applied"]
    assert status_of(ended, "stopped")["status"] == "FAILED"


def test_many_are_retired_in_bounded_transactions(ended: World) -> None:
    """Goal: a backlog of years does not hold the term for minutes."""
    term = ended.leadership.term()
    with ended.store.leading(term) as tx:
        newest = tx.specs.newest("nightly")
        assert newest is not None
        assert isinstance(newest.spec, SupervisorSpec)
        for number in range(MANY):
            task_id = f"task-{number}"
            spec = newest.spec.model_copy(update={"id": task_id})
            tx.specs.append(task_id, spec, NOON, "", submitted=True)
            tx.offsets.initialise(task_id, "id-1", {TopicPartition(TOPIC, 0): 20})
            assert tx.specs.rest(task_id, 1, NOON)

    assert retire(ended) == MANY + 1

    with ended.store.reading() as tx:
        assert tx.specs.at_rest() == []
        assert len(tx.audit.page(1_000, action="retire")) == MANY + 1 > 2 * AT_ONCE
