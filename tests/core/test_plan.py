"""What the planner decides, rule by rule."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.actions import (
    BeginHandoff,
    CloseEmpty,
    CommitInitialOffsets,
    DiscardGeneration,
    EndTask,
    FixEnd,
    OpenGeneration,
    ResumeReading,
    SlotNeed,
    StartTask,
)
from supervisor.core.model import Generation, GenerationState, Liveness, Task
from supervisor.core.plan import plan
from tasks.contract import FailureCode, TaskPhase
from tests.core.snapshots import (
    MINUTE,
    NOON,
    committed,
    failed,
    generation,
    observed,
    offsets,
    part,
    report,
    spec,
    stream,
    task,
    worker,
)

EVEN = {part(0): 0, part(2): 0}
ODD = {part(1): 0, part(3): 0}
HOUR = timedelta(hours=1)


def reading() -> tuple[Generation, Generation, Task, Task]:
    """Two groups at work, a task each."""
    even, odd = generation(1, EVEN), generation(2, ODD, group=1)
    return even, odd, task(even), task(odd)


def pausing(at: int = 60, *, must_end: bool = False) -> Generation:
    """The even group, ordered to pause `at` seconds after NOON."""
    return replace(
        generation(1, EVEN, state=GenerationState.PAUSING),
        sequence=1,
        handoff_why="taskDuration is over",
        paused_at=NOON + timedelta(seconds=at),
        must_end=must_end,
    )


def test_initial_offsets_are_stored_before_anything_starts() -> None:
    """Goal: the only accepted start is a committed one, the first time too (P10)."""
    seen = observed(stored={}, workers=(worker(),))

    [action] = plan(seen).actions

    assert isinstance(action, CommitInitialOffsets)
    assert action.offsets == offsets(0, 0, 0, 0)
    assert action.topic_id == "id-1"


def test_latest_means_the_last_stable_offset() -> None:
    """Goal: a reader that begins at the end misses no record of an open transaction."""
    open_transaction = replace(stream(100, 100), stable=offsets(90, 80))

    [action] = plan(observed(spec(earliest=False), stored={}, seen=open_transaction)).actions

    assert isinstance(action, CommitInitialOffsets)
    assert action.offsets == offsets(90, 80)


def test_a_partition_that_joins_later_starts_at_its_earliest() -> None:
    """Goal: no record of a new partition is missed, whatever useEarliestOffset says (E8)."""
    even, odd, t1, t2 = reading()
    seen = observed(
        spec(earliest=False),
        seen=stream(100, 100, 100, 100, 100, earliest=7),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
    )

    [action] = plan(seen).actions

    assert isinstance(action, CommitInitialOffsets)
    assert action.offsets == {part(4): 7}


def test_new_partitions_of_another_topic_of_the_same_name_are_not_taken() -> None:
    """Goal: a recreated topic waits for a reset; nothing of it is mixed in (R13)."""
    seen = observed(
        spec(suspended=False),
        stored=committed(50, 50),
        seen=stream(10, 10, 10, topic_id="id-2"),
    )

    assert not [a for a in plan(seen).actions if isinstance(a, CommitInitialOffsets)]


def test_each_group_opens_at_its_committed_offsets() -> None:
    """Goal: partition p goes to group p mod taskCount."""
    even, odd = plan(observed(stored=committed(5, 6, 7, 8), workers=(worker(),))).actions

    assert isinstance(even, OpenGeneration)
    assert isinstance(odd, OpenGeneration)
    assert (even.group, even.start) == (0, {part(0): 5, part(2): 7})
    assert (odd.group, odd.start) == (1, {part(1): 6, part(3): 8})
    assert (even.ordinal, odd.ordinal) == (1, 2)


def test_task_count_is_capped_by_the_partitions() -> None:
    """Goal: no group is empty."""
    decided = plan(observed(spec(task_count=9), stored=committed(0, 0), workers=(worker(),)))

    assert [a.group for a in decided.actions if isinstance(a, OpenGeneration)] == [0, 1]


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


def test_the_same_snapshot_gives_the_same_plan() -> None:
    """Goal: ids repeat, so that a pass that crashed and is made again does nothing twice."""
    even, odd, _, _ = reading()
    seen = observed(generations=(even, odd), workers=(worker(),))

    assert plan(seen) == plan(seen)


def test_at_rest_nothing_is_done_until_a_duration_is_over() -> None:
    """Goal: a quiet supervisor costs nothing but its period."""
    even, odd, t1, t2 = reading()
    seen = observed(
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        now=NOON + HOUR - 10 * timedelta(seconds=1),
    )

    decided = plan(seen)

    assert decided.actions == ()
    assert decided.wake_at == NOON + HOUR


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


def test_an_empty_range_that_must_end_is_closed() -> None:
    """Goal: suspending an idle supervisor ends its tasks without publishing (P12)."""
    even = pausing(must_end=True)
    t1 = task(even)
    seen = observed(
        spec(suspended=True),
        generations=(even,),
        tasks=(t1,),
        workers=(worker("w1", report(t1, EVEN, TaskPhase.PAUSED, sequence=1)),),
        now=NOON + MINUTE,
        version=2,
        older={1: spec()},
    )

    assert [type(a) for a in plan(seen).actions] == [CloseEmpty]


def test_a_suspended_supervisor_hands_off_and_opens_nothing() -> None:
    """Goal: what was read is published, nothing new starts."""
    even, odd, t1, t2 = reading()
    seen = observed(
        spec(suspended=True),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        version=2,
        older={1: spec()},
    )

    decided = plan(seen).actions

    assert [type(a) for a in decided] == [BeginHandoff, BeginHandoff]
    assert all(isinstance(a, BeginHandoff) and a.must_end for a in decided)


def test_suspend_then_resume_of_the_same_spec_disturbs_nothing_that_reads() -> None:
    """Goal: least disturbance: versions 2 and 3 ask for what version 1 asked for."""
    even, odd, t1, t2 = reading()
    seen = observed(
        spec(),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        version=3,
        older={1: spec()},
    )

    assert plan(seen).actions == ()


def test_a_new_spec_ends_the_groups_of_the_old_one() -> None:
    """Goal: a generation runs with one version of the spec from its start to its end (P8)."""
    even, odd, t1, t2 = reading()
    seen = observed(
        spec(duration=timedelta(minutes=5)),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        version=2,
        older={1: spec()},
    )

    assert [type(a) for a in plan(seen).actions] == [BeginHandoff, BeginHandoff]


def test_after_a_rescale_groups_start_where_the_old_ones_end() -> None:
    """Goal: starts come from persisted ends, not from committed offsets (A7)."""
    even = generation(1, EVEN, {part(0): 9, part(2): 4}, state=GenerationState.PUBLISHING)
    odd = generation(2, ODD, {part(1): 1, part(3): 8}, group=1, state=GenerationState.PUBLISHING)
    t1, t2 = task(even), task(odd)
    seen = observed(
        spec(task_count=1),
        generations=(even, odd),
        tasks=(t1, t2),
        workers=(worker("w1", report(t1, EVEN), report(t2, ODD)),),
        version=2,
        older={1: spec()},
    )

    [opened] = plan(seen).actions

    assert isinstance(opened, OpenGeneration)
    assert opened.start == offsets(9, 1, 4, 8)
    assert opened.layout_version == 2


def test_a_group_waits_until_every_partition_it_needs_is_free() -> None:
    """Goal: no partition is read by two groups (P3)."""
    even = generation(1, EVEN, {part(0): 9, part(2): 4}, state=GenerationState.PUBLISHING)
    odd = generation(2, ODD, group=1)
    seen = observed(
        spec(task_count=1),
        generations=(even, odd),
        tasks=(task(even), task(odd)),
        workers=(worker(),),
        version=2,
        older={1: spec()},
    )

    assert not [a for a in plan(seen).actions if isinstance(a, OpenGeneration)]


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

    assert [(a.task_id, a.succeeded) for a in ended] == [(dead.id, False)]
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


def test_a_failed_task_is_ended_with_its_reason() -> None:
    """Goal: the reason reaches the task list."""
    even, odd, t1, t2 = reading()
    bad = report(t1, EVEN, TaskPhase.FAILED, failure=FailureCode.WRITE_FAILED)
    seen = observed(
        generations=(even, odd), tasks=(t1, t2), workers=(worker("w1", bad, report(t2, ODD)),)
    )

    [ended] = [a for a in plan(seen).actions if isinstance(a, EndTask)]

    assert ended.why.startswith("WRITE_FAILED")


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


def test_after_a_tombstone_what_is_lost_is_discarded_and_nothing_starts() -> None:
    """Goal: terminate ends (P19)."""
    even = generation(1, EVEN, {part(0): 9, part(2): 4}, state=GenerationState.PUBLISHING)
    seen = observed(
        generations=(even,), workers=(worker(),), terminated=True, version=2, older={1: spec()}
    )

    assert [type(a) for a in plan(seen).actions] == [DiscardGeneration]


def test_after_a_tombstone_a_live_replica_may_publish() -> None:
    """Goal: terminate is graceful."""
    even = generation(1, EVEN, {part(0): 9, part(2): 4}, state=GenerationState.PUBLISHING)
    t1 = task(even)
    seen = observed(
        generations=(even,),
        tasks=(t1,),
        workers=(worker("w1", report(t1, EVEN, TaskPhase.PUBLISHING)),),
        terminated=True,
        version=2,
        older={1: spec()},
    )

    assert plan(seen).actions == ()


def test_a_topic_that_cannot_be_read_is_looked_at_again_soon() -> None:
    """Goal: a supervisor whose broker comes back goes on within seconds."""
    seen = observed(stored={}, seen=replace(stream(), read_at=None))

    decided = plan(seen)

    assert decided.actions == ()
    assert decided.wake_at == NOON + timedelta(seconds=3)
