"""Which replicas the planner starts, ends and replaces."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import (
    EndTask,
    SlotNeed,
    StartTask,
)
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.plan import plan
from tasks.contract.messages import FailureCode, TaskPhase
from tests.supervisor.core.snapshots import (
    EVEN,
    NOON,
    ODD,
    failed,
    generation,
    observed,
    offsets,
    part,
    reading,
    report,
    spec,
    task,
    worker,
)


def test_replicas_go_to_different_workers() -> None:
    """Goal: one lost worker never takes every replica of a range with it."""
    even = generation(1, EVEN, task_count=1)
    everything = generation(1, offsets(0, 0, 0, 0), task_count=1)
    assert even.group == everything.group

    decided = plan(
        observed(
            spec(task_count=1, replicas=2),
            generations=(everything,),
            workers=(worker("w1"), worker("w2")),
        )
    )

    starts = [a for a in decided.actions if isinstance(a, StartTask)]
    assert {a.worker_id for a in starts} == {"w1", "w2"}
    assert {a.replica for a in starts} == {0, 1}
    assert len({a.task_id for a in starts}) == 2
    assert len({a.task_id.rpartition("_")[0] for a in starts}) == 1  # they share the base name


def test_a_lone_worker_takes_both_replicas() -> None:
    """Goal: replicas 2 on a laptop work as well."""
    everything = generation(1, offsets(0, 0, 0, 0), task_count=1)

    decided = plan(
        observed(spec(task_count=1, replicas=2), generations=(everything,), workers=(worker("w1"),))
    )

    assert [a.worker_id for a in decided.actions if isinstance(a, StartTask)] == ["w1", "w1"]


def test_a_replica_without_a_slot_is_told_in_numbers() -> None:
    """Goal: NO_CAPACITY says how many slots are needed and free."""
    even, odd, _, _ = reading()

    decided = plan(observed(generations=(even, odd), workers=(worker(slots=1),)))

    assert [type(a) for a in decided.actions] == [StartTask]
    assert decided.waiting_for_slots == SlotNeed(needed=2, free=1)


def test_a_task_on_a_lost_worker_fails_and_is_replaced_with_the_same_start() -> None:
    """Goal: a dead task is replaced with the same partitions and offsets; source: PR #2656."""
    even = generation(1, EVEN)
    dead = task(even, worker="gone")
    seen = observed(
        generations=(even, generation(2, ODD, group=1)),
        tasks=(dead,),
        workers=(worker("gone", liveness=Liveness.LOST), worker("w1")),
    )

    ended = [a for a in plan(seen).actions if isinstance(a, EndTask)]
    again = plan(replace(seen, tasks=(), last_attempts={(even.id, 0): failed(dead, NOON)}))

    assert [(a.task_id, a.succeeded, a.lost) for a in ended] == [(dead.id, False, True)]
    replacements = [a for a in again.actions if isinstance(a, StartTask)]
    assert (replacements[0].replica, replacements[0].attempt) == (0, 2)
    assert replacements[0].worker_id == "w1"


def test_a_silent_worker_is_not_lost() -> None:
    """Goal: doubt never kills a task (P6)."""
    even, odd, t1, t2 = reading()
    seen = observed(
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", liveness=Liveness.UNKNOWN),),
    )

    assert plan(seen).actions == ()


def test_a_worker_that_this_leader_does_not_know_yet_is_not_lost() -> None:
    """Goal: a pass between the start of a term and its first rows ends no task (P4, P6)."""
    even, odd, t1, t2 = reading()
    seen = observed(
        generations=(even, odd), tasks=(t1, replace(t2, worker_id="w2")), workers=(worker("w2"),)
    )

    assert plan(seen).actions == ()


def test_a_crash_loop_backs_off() -> None:
    """Goal: a spec that fails every task does not spawn them without end (B14)."""
    even = generation(1, EVEN)
    last = failed(task(even), NOON)
    seen = observed(
        generations=(even, generation(2, ODD, group=1)),
        tasks=(task(generation(2, ODD, group=1)),),
        last=(last,),
        workers=(worker(),),
        failures=6,
    )

    early = plan(replace(seen, now=NOON + timedelta(seconds=15)))
    late = plan(replace(seen, now=NOON + timedelta(seconds=16)))

    assert not [a for a in early.actions if isinstance(a, StartTask)]
    assert early.wake_at == NOON + timedelta(seconds=16)
    assert [a.attempt for a in late.actions if isinstance(a, StartTask)] == [2]


def test_the_replacement_of_a_lost_task_does_not_wait() -> None:
    """Goal: workers that are killed again and again stop no reading: the timeout was the wait."""
    even, odd = generation(1, EVEN), generation(2, ODD, group=1)
    lost = replace(failed(task(even), NOON), lost=True)
    seen = observed(
        generations=(even, odd), tasks=(task(odd),), last=(lost,), workers=(worker(),), failures=20
    )

    [started] = [a for a in plan(seen).actions if isinstance(a, StartTask)]

    assert started.generation_id == even.id


def test_a_failed_task_is_ended_with_its_reason() -> None:
    """Goal: the reason reaches the task list."""
    even, odd, t1, t2 = reading()
    bad = report(t1, EVEN, TaskPhase.FAILED, failure=FailureCode.WRITE_FAILED)
    seen = observed(
        generations=(even, odd), tasks=(t1, t2), workers=(worker("w1", bad, report(t2, ODD)),)
    )

    [ended] = [a for a in plan(seen).actions if isinstance(a, EndTask)]

    assert ended.why.startswith("WRITE_FAILED")


def test_a_publication_that_the_database_does_not_know_is_made_again() -> None:
    """Goal: a database that was restored does not wait for ever for a task that is done (F12)."""
    even, odd, t1, t2 = reading()
    done = report(t1, EVEN, TaskPhase.SUCCESS)
    seen = observed(
        generations=(even, odd), tasks=(t1, t2), workers=(worker("w1", done, report(t2, ODD)),)
    )

    [ended] = [a for a in plan(seen).actions if isinstance(a, EndTask)]

    assert ended.task_id == t1.id
    assert (ended.succeeded, ended.lost, ended.alert) == (False, True, True)
    assert "was restored" in ended.why


def test_a_publishing_range_without_replicas_gets_one_although_no_slot_is_free() -> None:
    """Goal: nothing is discarded for want of a replica (P15); it finishes without a slot."""
    even = generation(1, EVEN, {part(0): 9, part(2): 4}, state=GenerationState.PUBLISHING)
    seen = observed(
        spec(replicas=2, suspended=True),
        generations=(even,),
        workers=(worker(slots=2, used=2),),
        version=2,
        older={1: spec(replicas=2)},
    )

    [started] = plan(seen).actions

    assert isinstance(started, StartTask)
    assert started.generation_id == even.id
