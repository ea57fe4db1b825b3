"""The summary of a pass: ranges, replicas, what is due, bad records, and the last error."""

from dataclasses import replace

import pytest

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import Plan
from supervisor.core.planning.observed import Observed, StreamState, StreamTrouble
from supervisor.core.planning.pass_summary import (
    LastError,
    PassSummary,
    ReplicaCounts,
    newest_error,
    summary_of,
)
from supervisor.core.planning.passes import Pass, PassError
from supervisor.core.planning.plan import plan
from supervisor.core.planning.rules.bounds import records_of
from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from tasks.contract.messages import Counters
from tests.supervisor.core.snapshots import (
    MINUTE,
    NOON,
    committed,
    failed,
    generation,
    observed,
    offsets,
    report,
    spec,
    stream,
    task,
    worker,
)


def summary(seen: Observed) -> PassSummary:
    return summary_of(Pass(seen, plan(seen)))


def _reading(replicas: int = 2) -> Observed:
    """Two ranges: one reads with a task too few, and one publishes."""
    older = generation(1, offsets(0), offsets(10), state=GenerationState.PUBLISHING)
    newer = replace(generation(2, offsets(10)), timer_started_at=NOON - MINUTE)
    first, second = task(older), task(newer)
    bad = [
        report(first, offsets(10)).model_copy(update={"counters": Counters(unparseable=2)}),
        report(second, offsets(12)).model_copy(update={"counters": Counters(unparseable=3)}),
    ]
    return observed(
        spec(replicas=replicas, task_count=1),
        stored=committed(0),
        seen=stream(20),
        generations=(older, newer),
        tasks=(first, second),
        workers=(worker("w1", *bad),),
    )


def test_a_summary_counts_what_the_pass_saw() -> None:
    seen = _reading()

    of_pass = summary(seen)

    assert of_pass.observed_at == seen.now
    assert of_pass.groups == {"PUBLISHING": 1, "READING": 1}
    assert of_pass.replicas == ReplicaCounts(wanted=2, running=1, pending=1)
    assert of_pass.next_publish_due == NOON + 59 * MINUTE, "an hour behind the start of its timer"
    assert of_pass.bad_records == 5
    assert of_pass.topics == {"clicks"}
    assert of_pass.tasks == 2
    assert of_pass.last_error is None


def test_nothing_reads_and_nothing_is_due() -> None:
    of_pass = summary(observed(spec(suspended=True), stored=committed(0), seen=stream(0)))

    assert (of_pass.groups, of_pass.replicas) == ({}, ReplicaCounts(0, 0, 0))
    assert (of_pass.next_publish_due, of_pass.bad_records, of_pass.tasks) == (None, 0, 0)


def test_a_range_without_any_task_is_read_by_nobody() -> None:
    nobody = replace(_reading(), tasks=())

    assert summary(nobody).replicas == ReplicaCounts(wanted=2, running=0, pending=2, unread=1)


@pytest.mark.parametrize("trouble", [*StreamTrouble])
def test_the_last_error_is_the_trouble_that_lasts_or_the_last_failure(
    trouble: StreamTrouble,
) -> None:
    seen = _reading()
    gone = failed(task(seen.generations[0], replica=1), NOON - MINUTE, "killed")
    of_task = LastError(NOON - MINUTE, "TaskFailed", f"{gone.id}: killed")
    seen = replace(seen, last_ended=(gone,))
    assert summary(seen).last_error == of_task

    away = replace(seen, stream=StreamState(trouble=trouble, detail="no broker"))
    last = summary_of(Pass(away, Plan(actions=(), wake_at=NOON))).last_error
    if trouble is StreamTrouble.CONNECTING:
        assert last == of_task
    else:
        assert last == LastError(seen.now, "StreamUnavailable", "no broker")


def test_the_newer_of_two_errors_counts() -> None:
    of_task = LastError(NOON, "TaskFailed", "t: killed")
    later, earlier = (PassError(NOON + n * MINUTE, "E", "boom") for n in (1, -1))

    assert newest_error(of_task, []) == of_task
    assert newest_error(of_task, [earlier]) == of_task
    assert newest_error(of_task, [later, earlier]) == LastError(NOON + MINUTE, "E", "boom")
    assert newest_error(None, [earlier]) == LastError(NOON - MINUTE, "E", "boom")
    assert newest_error(None, []) is None


@pytest.mark.parametrize(
    ("reached", "left"), [((0, 0), 30), ((10, 5), 15), ((20, 10), 0), ((25, 99), 0)]
)
def test_a_bounded_supervisor_has_records_left(reached: tuple[int, int], left: int) -> None:
    bounds = BoundedStreamConfig(
        start_sequence_numbers={0: 0, 1: 0}, end_sequence_numbers={0: 20, 1: 10}
    )
    source = spec().io_config.model_copy(update={"bounded_stream_config": bounds})
    bounded = spec().model_copy(update={"io_config": source})

    of_pass = summary(observed(bounded, stored=committed(*reached), seen=stream(20, 20)))

    assert records_of(bounded) == 30
    assert of_pass.bounded_left == left
    assert records_of(spec()) is None
    assert summary(_reading()).bounded_left is None
