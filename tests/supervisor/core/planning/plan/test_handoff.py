"""When the planner begins a handoff, and what its steps decide."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.planning.actions import (
    BeginHandoff,
    EndTask,
    FixEnd,
    ResumeReading,
)
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.plan import plan
from tasks.contract.messages import TaskPhase
from tests.supervisor.core.snapshots import (
    EVEN,
    HOUR,
    MINUTE,
    NOON,
    ODD,
    generation,
    observed,
    part,
    pausing,
    reading,
    report,
    spec,
    task,
    worker,
)


def test_a_group_whose_duration_is_over_is_paused() -> None:
    """Goal: the first step of a handoff."""
    even, odd, t1, t2 = reading()
    seen = observed(
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        now=NOON + HOUR,
    )

    decided = plan(seen)

    assert [a.generation_id for a in decided.actions if isinstance(a, BeginHandoff)] == [
        even.id,
        odd.id,
    ]
    assert all(isinstance(a, BeginHandoff) and not a.must_end for a in decided.actions)


def test_stop_task_count_bounds_how_many_groups_hand_off_at_once() -> None:
    """Goal: a rolling handoff; the oldest group first."""
    even, odd, t1, t2 = reading()
    seen = observed(
        spec(stop_task_count=1),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        now=NOON + HOUR,
    )

    assert [a.generation_id for a in plan(seen).actions if isinstance(a, BeginHandoff)] == [even.id]


def test_a_group_is_not_paused_before_a_replica_reads() -> None:
    """Goal: a handoff needs somebody who can say how far it is."""
    even, odd, t1, t2 = reading()
    starting = report(t1, EVEN, TaskPhase.STARTING)
    seen = observed(
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", starting, report(t2, ODD)),),
        now=NOON + HOUR,
    )

    assert [a.generation_id for a in plan(seen).actions if isinstance(a, BeginHandoff)] == [odd.id]


def test_the_end_is_the_furthest_offset_of_any_paused_replica() -> None:
    """Goal: replicas of different speed publish one and the same range; source: PR #2656."""
    even = pausing()
    fast, slow = task(even, 0), task(even, 1, worker="w2")
    seen = observed(
        spec(replicas=2),
        generations=(even, generation(2, ODD, group=1)),
        tasks=(fast, slow),
        workers=(
            worker("w1", report(fast, {part(0): 9, part(2): 4}, TaskPhase.PAUSED, sequence=1)),
            worker("w2", report(slow, {part(0): 3, part(2): 6}, TaskPhase.PAUSED, sequence=1)),
        ),
        now=NOON + MINUTE,
    )

    [fix] = [a for a in plan(seen).actions if isinstance(a, FixEnd)]

    assert fix.end == {part(0): 9, part(2): 6}
    assert fix.successor is not None
    assert fix.successor.start == fix.end
    assert fix.successor.group == even.group


def test_a_replica_paused_for_an_earlier_order_does_not_count() -> None:
    """Goal: a late report of an old pause fixes no end (R2)."""
    even = pausing()
    t1 = task(even)
    seen = observed(
        generations=(even,),
        tasks=(t1,),
        workers=(worker("w1", report(t1, {part(0): 9, part(2): 9}, TaskPhase.PAUSED, sequence=0)),),
        now=NOON + MINUTE,
    )

    assert not [a for a in plan(seen).actions if isinstance(a, FixEnd)]


def test_a_replica_that_does_not_pause_in_time_is_replaced_and_the_others_go_on() -> None:
    """Goal: one stuck replica never fails its group."""
    even = pausing()
    stuck, paused = task(even, 0), task(even, 1, worker="w2")
    seen = observed(
        spec(replicas=2),
        generations=(even, generation(2, ODD, group=1)),
        tasks=(stuck, paused),
        workers=(
            worker("w1", report(stuck, EVEN, TaskPhase.READING)),
            worker("w2", report(paused, {part(0): 3, part(2): 6}, TaskPhase.PAUSED, sequence=1)),
        ),
        now=NOON + MINUTE + timedelta(seconds=21),
    )

    decided = plan(seen).actions

    assert [a.task_id for a in decided if isinstance(a, EndTask)] == [stuck.id]
    assert not [a for a in decided if isinstance(a, EndTask) and a.succeeded]


def test_a_silent_worker_keeps_its_task_while_a_handoff_goes_on_without_it() -> None:
    """Goal: unknown is not lost (P6)."""
    even = pausing()
    silent, paused = task(even, 0), task(even, 1, worker="w2")
    seen = observed(
        spec(replicas=2),
        generations=(even, generation(2, ODD, group=1)),
        tasks=(silent, paused),
        workers=(
            worker("w1", liveness=Liveness.UNKNOWN),
            worker("w2", report(paused, {part(0): 3, part(2): 6}, TaskPhase.PAUSED, sequence=1)),
        ),
        now=NOON + MINUTE + timedelta(seconds=14),
    )
    waiting = plan(seen).actions
    later = plan(replace(seen, now=NOON + MINUTE + timedelta(seconds=21))).actions

    assert not [a for a in waiting if isinstance(a, FixEnd | EndTask)]
    assert not [a for a in later if isinstance(a, EndTask)]
    assert [a.end for a in later if isinstance(a, FixEnd)] == [{part(0): 3, part(2): 6}]


def test_the_pause_is_ordered_again_when_half_its_lease_is_over() -> None:
    """Goal: no end is fixed from replicas that may have resumed by themselves (P13)."""
    even = pausing()
    t1 = task(even)
    at = {part(0): 9, part(2): 9}
    seen = observed(
        generations=(even,),
        tasks=(t1,),
        workers=(worker("w1", report(t1, at, TaskPhase.PAUSED, sequence=1)),),
        now=NOON + MINUTE + timedelta(seconds=31),
    )

    decided = plan(seen).actions

    assert [a.expected_sequence for a in decided if isinstance(a, BeginHandoff)] == [1]
    assert not [a for a in decided if isinstance(a, FixEnd)]


def test_an_empty_range_resumes_and_its_timer_starts_again() -> None:
    """Goal: an idle topic makes no segments and no churn (P12)."""
    even = pausing()
    t1 = task(even)
    seen = observed(
        generations=(even, generation(2, ODD, group=1)),
        tasks=(t1,),
        workers=(worker("w1", report(t1, EVEN, TaskPhase.PAUSED, sequence=1)),),
        now=NOON + MINUTE,
    )

    [resume] = [a for a in plan(seen).actions if isinstance(a, ResumeReading)]

    assert resume.restart_timer
