"""No wait is endless while all looks well: each state of a range, of a task and of a worker."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from supervisor.core.model.rows import LIVE_STATES, Generation, GenerationState
from supervisor.core.planning.actions import EndTask
from supervisor.core.planning.observed import Liveness, Observed, PlanLimits
from supervisor.core.planning.states import State, SupervisorState, roll_up
from supervisor.core.spec.sections.io_config import COMPLETION_TIMEOUT
from tasks.contract.messages import TaskPhase, TaskReport
from tests.supervisor.core.snapshots import (
    HOUR,
    NOON,
    committed,
    decided,
    generation,
    observed,
    offsets,
    report,
    spec,
    stream,
    task,
    worker,
)

START, REACHED, END = offsets(0, 0), offsets(3, 3), offsets(9, 9)
READING, PAUSING, PUBLISHING = (GenerationState[s] for s in ("READING", "PAUSING", "PUBLISHING"))
LIMITS = PlanLimits()
DEADLINES = {
    READING: LIMITS.progress_timeout,
    PAUSING: LIMITS.pause_timeout,
    PUBLISHING: COMPLETION_TIMEOUT,
}
"""When each state of a range is acted on, or shown as unhealthy."""
OVER = {TaskPhase.FAILED, TaskPhase.SUCCESS}
"""A task that reports one of these is ended at once."""
SECOND = timedelta(seconds=1)
SILENT = Liveness.UNKNOWN
"""It has a deadline of its own: the registry of workers calls it LOST (`test_registry`)."""


def a_range(state: GenerationState) -> Generation:
    """A range of both partitions that came into its state at NOON."""
    end = END if state is PUBLISHING else None
    new = generation(1, START, end, state=state, task_count=1, partition_count=2)
    fixed_at = NOON if end else None
    paused_at = NOON if state is PAUSING else None
    return replace(new, sequence=1, end_fixed_at=fixed_at, paused_at=paused_at)


def unmoved(
    state: GenerationState,
    phase: TaskPhase | None,
    since: timedelta,
    *,
    liveness: Liveness = Liveness.ALIVE,
    waiting: int = 50,
) -> Observed:
    """What is seen of a range whose task has reported the same, or nothing, for some time."""
    lasting = a_range(state)
    its = task(lasting)
    reports: list[TaskReport] = []
    if phase is not None:
        sequence = 0 if state is PAUSING else 1
        unchanged = report(its, REACHED, phase, sequence=sequence)
        reports = [unchanged.model_copy(update={"idle_for": since, "detail": "waits for Kafka"})]
    seen = worker("w1", *reports, liveness=liveness)
    return observed(
        spec(1, duration=1_000 * HOUR),
        now=NOON + since,
        stored=committed(0, 0),
        seen=stream(waiting, waiting),
        generations=(lasting,),
        tasks=(its,),
        workers=(replace(seen, known_for=since),),
    )


def state_of(seen: Observed) -> SupervisorState:
    return roll_up(seen, None)


def ends(seen: Observed) -> list[EndTask]:
    return [action for action in decided(seen) if isinstance(action, EndTask)]


def test_each_state_of_a_live_range_has_a_deadline() -> None:
    assert DEADLINES.keys() == LIVE_STATES


@pytest.mark.parametrize(
    ("state", "phase", "liveness"),
    list(product(sorted(LIVE_STATES), [None, *TaskPhase], [w for w in Liveness if w != SILENT])),
)
def test_what_does_not_move_is_ended_or_shown_when_its_deadline_is_over(
    state: GenerationState, phase: TaskPhase | None, liveness: Liveness
) -> None:
    """Goal: whatever a task waits for, and if nobody foresaw it, people hear of it."""
    begun_within = LIMITS.progress_timeout if phase is None else DEADLINES[state]
    seen = unmoved(state, phase, begun_within + SECOND, liveness=liveness)

    assert ends(seen) or not state_of(seen).healthy


@pytest.mark.parametrize(
    ("state", "phase"),
    list(product([READING, PUBLISHING], [None, *(p for p in TaskPhase if p not in OVER)])),
)
def test_until_the_deadline_nobody_is_disturbed(
    state: GenerationState, phase: TaskPhase | None
) -> None:
    begun_within = LIMITS.progress_timeout if phase is None else DEADLINES[state]
    seen = unmoved(state, phase, begun_within - SECOND)

    assert (ends(seen), state_of(seen).healthy) == ([], True)


def test_the_state_names_the_range_and_what_its_task_waits_for() -> None:
    state = state_of(unmoved(READING, TaskPhase.READING, LIMITS.progress_timeout + SECOND))

    assert (state.state, state.detailed) == (State.UNHEALTHY_TASKS, "UNHEALTHY_TASKS")
    assert state.why == (
        "range clicks:1 stands still: records wait, and its tasks have finished no batch for 300 "
        "s; waits for Kafka"
    )


def test_a_range_that_has_read_all_may_wait_for_ever() -> None:
    seen = unmoved(READING, TaskPhase.READING, 100 * HOUR, waiting=3)

    assert (ends(seen), state_of(seen).state) == ([], State.RUNNING)


def test_a_merge_that_goes_on_may_take_long() -> None:
    seen = unmoved(PUBLISHING, TaskPhase.FINISHING, 2 * COMPLETION_TIMEOUT)
    [reads_on] = seen.workers[0].reports.values()
    merges = reads_on.model_copy(update={"position": END, "stalled_for": SECOND})
    at_work = replace(seen.workers[0], reports={merges.task_id: merges})

    assert state_of(replace(seen, workers=(at_work,))).healthy
    assert not state_of(seen).healthy


def test_of_a_terminated_supervisor_a_range_that_stands_still_is_shown_too() -> None:
    seen = unmoved(PUBLISHING, TaskPhase.WAITING, COMPLETION_TIMEOUT + SECOND)
    over = replace(seen, current=replace(seen.current, spec=None))

    state = state_of(over)

    assert (state.state, state.healthy) == (State.STOPPING, False)
    assert "stands still: its tasks have stopped reading, and nothing" in state.why


def test_a_task_that_its_worker_never_begins_is_replaced_and_nobody_is_at_fault() -> None:
    long = LIMITS.progress_timeout + SECOND
    [end] = ends(unmoved(READING, None, long))

    assert (end.succeeded, end.lost, end.alert) == (False, True, True)
    assert end.why == "worker w1 was given it, and has not begun it for 300 s"


def test_a_worker_that_was_started_again_is_given_time_to_report_its_tasks() -> None:
    seen = unmoved(READING, None, 100 * HOUR)
    started = replace(seen.workers[0], known_for=SECOND)

    assert ends(replace(seen, workers=(started,))) == []
