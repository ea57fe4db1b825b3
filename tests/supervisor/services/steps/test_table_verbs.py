"""Compact, markUnused and backfill as steps."""

from datetime import UTC, datetime

import pytest

from supervisor.core.executions.states import AttemptState, ExecutionState, StepState
from supervisor.core.planning.wished_offsets import TimedRecord
from tasks.contract.offsets import TopicPartition
from tests.supervisor.api.routes.tables.test_compaction import compactions, publish_two
from tests.supervisor.api.routes.tables.test_segments import HOUR, files, publish
from tests.supervisor.api.world import TOPIC, World
from tests.supervisor.services.steps.driver import Driver

COMPACT = {"type": "compact", "table": TOPIC}
UNUSED = {"type": "markUnused", "table": TOPIC, "interval": HOUR}
FIRST = TopicPartition(TOPIC, 0)
EIGHT = datetime(2026, 1, 5, 8, tzinfo=UTC)


def test_a_compaction_is_waited_for_until_its_file_is_published(driver: Driver) -> None:
    agents = publish_two(driver.world)
    execution = driver.start(COMPACT)
    driver.run(execution, turns=6)
    run = driver.step(execution)
    assert run.state is StepState.WAITING
    assert run.wait is not None
    assert run.wait.what == "1 compaction"
    for agent in agents:
        agent.sync()
    [(agent, order)] = [(agent, order) for agent in agents for order in agent.compactions]
    assert agent.publish_compacted(order).json()["outcome"] == "committed"

    assert driver.run(execution).state is ExecutionState.SUCCESS
    assert driver.step(execution).outputs == {"compactions": 1, "files": 2}
    assert len(files(driver.world)) == 1


def test_a_compaction_that_was_given_up_fails_the_step_and_a_retry_begins_another(
    driver: Driver,
) -> None:
    publish_two(driver.world)
    execution = driver.start({**COMPACT, "retry": {"attempts": 2, "backoff": "PT1S"}})
    driver.run(execution, turns=6)
    [first] = compactions(driver.world)
    driver.parts.compacting.cancel(str(first["id"]), "bob")
    driver.run(execution, turns=12)
    run = driver.step(execution)
    assert [each.effect for each in run.attempts] == [1, 2]
    error = run.attempts[0].error
    assert error is not None
    assert error.code == "compaction-failed"
    assert len(compactions(driver.world)) == 2


def test_a_compaction_whose_runner_is_lost_compacts_nothing_twice(driver: Driver) -> None:
    publish_two(driver.world)
    execution = driver.start(COMPACT)
    driver.turn()
    driver.die()
    driver.run(execution, turns=6)
    run = driver.step(execution)
    assert [each.state for each in run.attempts] == [AttemptState.LOST, AttemptState.WAITING]
    assert len(compactions(driver.world)) == 1


def test_nothing_to_compact_is_done_at_once(driver: Driver) -> None:
    publish(driver.world)
    execution = driver.start(COMPACT)
    assert driver.run(execution).state is ExecutionState.SUCCESS
    assert driver.step(execution).outputs == {"compactions": 0, "files": 0}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"table": "none"}, "data-source-not-found"),
        ({"filesMin": 1}, "invalid-request"),
        ({"targetRows": "${ 'many' }"}, "invalid-request"),
        ({"interval": "${ 'today' }"}, "invalid-request"),
        ({"expect": "0" * 16}, "preview-outdated"),
    ],
)
def test_a_compaction_that_cannot_be_fails(
    driver: Driver, given: dict[str, object], code: str
) -> None:
    publish_two(driver.world)
    execution = driver.start({**COMPACT, **given})
    assert driver.run(execution).state is ExecutionState.FAILED
    error = driver.step(execution).error
    assert error is not None
    assert (error.code, error.known) == (code, True)
    assert compactions(driver.world) == []


def test_segments_are_taken_out_once_as_their_dry_run_has_shown(driver: Driver) -> None:
    _, segment = publish(driver.world)
    execution = driver.start(
        {**UNUSED, "dryRun": True},
        {**UNUSED, "expect": "${ steps.s0.digest }"},
        UNUSED,
        {"type": "markUnused", "table": TOPIC, "segmentIds": [segment]},
    )
    ended = driver.run(execution)
    assert ended.state is ExecutionState.SUCCESS, ended.failures
    counts = [driver.step(execution, f"s{n}").outputs["segments"] for n in (1, 2, 3)]
    assert counts == [1, 0, 0]
    assert files(driver.world) == []


# -- backfill --------------------------------------------------------------------------------------


def _skipped(world: World, driver: Driver) -> None:
    """Offsets 0 to 9 are published, 10 to 39 are skipped, and the rest is read on."""
    publish(world)
    driver.parts.resets.reset_offsets(TOPIC, {FIRST: 40}, "bob")
    world.settle()


def _backfill(**given: object) -> dict[str, object]:
    return {"type": "backfill", "supervisor": TOPIC, **given}


def test_a_skipped_range_is_read_by_a_supervisor_of_its_own(driver: Driver) -> None:
    world = driver.world
    _skipped(world, driver)
    step = _backfill(ranges={"0": {"from": 10, "to": 40}})
    execution = driver.start(step)
    driver.turn()
    driver.die()  # the effect is repeated, and finds what it did
    driver.run(execution, turns=6)
    run = driver.step(execution)
    assert run.state is StepState.WAITING, run.error
    [own] = [each for each in driver.parts.service.supervisor_ids() if each != TOPIC]
    assert own.startswith(f"{TOPIC}_backfill_")
    io = driver.parts.service.spec(own).io_config
    assert (io.starts, io.ends) == ({FIRST: 10}, {FIRST: 40})
    assert run.wait is not None
    assert run.wait.what.startswith(f"{own} to have read its ranges")

    driver.parts.resets.reset_offsets(own, {FIRST: 40}, "bob")  # as if all were published
    assert driver.run(execution).state is ExecutionState.SUCCESS
    outputs = driver.step(execution).outputs
    assert (outputs["supervisor"], outputs["offsets"], outputs["partitions"]) == (own, 30, 1)


def test_a_backfill_of_times_reads_from_record_to_record(driver: Driver) -> None:
    world = driver.world
    _skipped(world, driver)
    world.streams.times[FIRST] = [
        TimedRecord(at, EIGHT.replace(minute=at)) for at in range(0, 40, 5)
    ]
    whole = driver.start(
        _backfill(**{"from": "2026-01-05T08:10:00Z", "to": "2026-01-05T08:30:00Z"}, dryRun=True),
        _backfill(day="2026-01-04", dryRun=True),
    )
    ended = driver.run(whole)
    assert ended.state is ExecutionState.SUCCESS, ended.failures
    outputs = driver.step(whole).outputs
    assert outputs["ranges"] == {str(FIRST): {"from": 10, "to": 30}}
    assert outputs["offsets"] == 20
    assert driver.step(whole, "s1").outputs["offsets"] == 0


def test_a_range_without_a_record_needs_no_supervisor(driver: Driver) -> None:
    _skipped(driver.world, driver)
    execution = driver.start(_backfill(ranges={"0": {"from": 20, "to": 20}}))
    assert driver.run(execution).state is ExecutionState.SUCCESS
    assert driver.step(execution).outputs["changed"] is False
    assert driver.parts.service.supervisor_ids() == [TOPIC]


@pytest.mark.parametrize(
    ("first", "end", "words"),
    [(5, 20, "has read 0 to 10"), (30, 45, "it reads from 40 on by itself")],
)
def test_records_that_would_be_there_twice_are_refused(
    driver: Driver, first: int, end: int, words: str
) -> None:
    """Goal: a flow cannot break what verify proves."""
    _skipped(driver.world, driver)
    execution = driver.start(_backfill(ranges={"0": {"from": first, "to": end}}))
    assert driver.run(execution).state is ExecutionState.FAILED
    error = driver.step(execution).error
    assert error is not None
    assert (error.code, error.passes) == ("no-backfill", False)
    assert words in error.message
    assert driver.parts.service.supervisor_ids() == [TOPIC]


def test_two_backfills_of_one_range_are_refused(driver: Driver) -> None:
    _skipped(driver.world, driver)
    execution = driver.start(
        {**_backfill(ranges={"0": {"from": 10, "to": 30}}), "after": []},
        {**_backfill(ranges={"0": {"from": 20, "to": 40}}), "after": []},
    )
    driver.run(execution, turns=8)
    errors = [run.error for run in driver.get(execution).runs.values()]
    [error] = [each for each in errors if each is not None]
    assert "is about to" in error.message
    assert len(driver.parts.service.supervisor_ids()) == 2
