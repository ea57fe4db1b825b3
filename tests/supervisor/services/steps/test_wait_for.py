"""`waitFor`: what it waits for, in words, and what ends it."""

from datetime import timedelta

import pytest

from supervisor.core.executions.entities import TaskRun
from supervisor.core.executions.states import ExecutionState, StepState
from supervisor.core.queue.events import QueueConfig, QueuedEvent
from supervisor.core.tables.exports import Export, queue_of
from supervisor.core.values.export_formats import ExportFormat
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.world import TOPIC
from tests.supervisor.services.steps.driver import Driver


def _waiting(driver: Driver, execution: str) -> TaskRun:
    driver.run(execution, turns=6)
    run = driver.step(execution)
    assert run.state is StepState.WAITING, run.error
    assert run.wait is not None
    return run


def test_an_operation_is_waited_for_until_it_is_done(driver: Driver) -> None:
    agents = driver.world.start()
    operation = driver.parts.service.suspend(TOPIC, "bob").operation
    execution = driver.start({"type": "waitFor", "operation": operation})
    wait = _waiting(driver, execution).wait
    assert wait is not None
    assert operation in wait.what
    for _ in range(3):
        driver.world.round(agents)
    assert driver.run(execution).state is ExecutionState.SUCCESS
    assert driver.step(execution).outputs == {"operation": operation}


def test_an_operation_that_another_one_overtook_fails_the_step(driver: Driver) -> None:
    driver.world.start()
    operation = driver.parts.service.suspend(TOPIC, "bob").operation
    execution = driver.start({"type": "waitFor", "operation": operation})
    _waiting(driver, execution)
    driver.parts.service.resume(TOPIC, "bob")
    assert driver.run(execution).state is ExecutionState.FAILED
    error = driver.step(execution).error
    assert error is not None
    assert (error.code, error.known) == ("superseded", True)


def test_a_state_is_waited_for(driver: Driver) -> None:
    agents = driver.world.start()
    execution = driver.start({"type": "waitFor", "supervisor": TOPIC, "state": "suspended"})
    wait = _waiting(driver, execution).wait
    assert wait is not None
    assert wait.what.startswith(f"{TOPIC} to be SUSPENDED; it is ")
    driver.parts.service.suspend(TOPIC, "bob")
    for _ in range(3):
        driver.world.round(agents)
    assert driver.run(execution).state is ExecutionState.SUCCESS


@pytest.mark.parametrize("published", ["latest", {"0": 5}], ids=["latest", "offsets"])
def test_what_kafka_held_at_the_beginning_is_waited_for(driver: Driver, published: object) -> None:
    driver.world.start()
    driver.world.streams.append(TOPIC, 0, 5)
    step = {"type": "waitFor", "supervisor": TOPIC, "published": published}
    execution = driver.start(step)
    wait = _waiting(driver, execution).wait
    assert wait is not None
    assert wait.what == f"{TOPIC} to have published 5 more offsets"
    driver.world.streams.append(TOPIC, 0, 100)  # later ones do not count
    driver.parts.resets.reset_offsets(TOPIC, {_first(driver): 5}, "bob")
    assert driver.run(execution).state is ExecutionState.SUCCESS


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ({"supervisor": TOPIC, "state": "running"}, False),
        ({"supervisor": TOPIC, "lagAtMost": 10}, False),
        ({"supervisor": TOPIC, "published": {"0": 0}}, False),
        ({"supervisor": TOPIC, "published": "latest"}, True),
    ],
)
def test_a_key_is_kept_only_of_what_was_read_at_the_beginning(
    driver: Driver, condition: dict[str, object], kept: bool
) -> None:
    """Goal: a wait that is over at once writes nothing into the metadata database."""
    driver.world.start()
    execution = driver.start({"type": "waitFor", **condition})
    driver.turn()

    with driver.parts.store.reading() as tx:
        later = driver.world.clock.now() + timedelta(days=1)
        keys = tx.keys.executions(later, "", 10)
    assert keys == ([execution] if kept else [])


def _first(driver: Driver) -> TopicPartition:
    with driver.parts.store.reading() as tx:
        return min(tx.offsets.of(TOPIC))


def test_an_export_has_to_reach_the_change_that_was_the_newest(driver: Driver) -> None:
    driver.world.start()
    kind, now = ExportFormat.DELTA, driver.world.clock.now()
    term = driver.parts.keys.term()
    with driver.parts.store.leading(term) as tx:
        tx.exports.put(Export(TOPIC, kind, enabled=True))
        tx.events.add(queue_of(TOPIC, kind), QueuedEvent("export", TOPIC), QueueConfig(), now)
    execution = driver.start({"type": "waitFor", "table": TOPIC, "exported": "delta"})
    wait = _waiting(driver, execution).wait
    assert wait is not None
    assert wait.what.startswith(f"the delta export of {TOPIC}")
    with driver.parts.store.leading(term) as tx:
        row = tx.events.find(queue_of(TOPIC, kind))
        assert row is not None
        tx.exports.put(Export(TOPIC, kind, enabled=False))
    assert driver.run(execution).state is ExecutionState.FAILED
    error = driver.step(execution).error
    assert error is not None
    assert error.code == "not-exported"


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"operation": "op_77"}, "operation-not-found"),
        ({"supervisor": "none", "state": "RUNNING"}, "supervisor-not-found"),
        ({"supervisor": TOPIC, "published": {"x": 1}}, "invalid-request"),
        ({"table": TOPIC, "exported": "delta"}, "not-exported"),
        ({"table": TOPIC, "exported": "${ 'csv' }"}, "invalid-request"),
    ],
)
def test_what_can_never_be_fails_at_once(
    driver: Driver, step: dict[str, object], code: str
) -> None:
    driver.world.start()
    execution = driver.start({"type": "waitFor", **step})
    assert driver.run(execution).state is ExecutionState.FAILED
    error = driver.step(execution).error
    assert error is not None
    assert error.code == code
