"""Fixed ranges that are read once: where they begin, who reads them, when they are done.

Source: Druid 39's bounded supervisors (apache/druid PR 19372), KafkaBoundedSupervisorTest.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.actions import (
    BeginHandoff,
    CommitInitialOffsets,
    FixEnd,
    OpenGeneration,
    ResetOffsets,
)
from supervisor.core.planning.observed import Observed, StreamState, StreamTrouble
from supervisor.core.planning.plan import plan
from supervisor.core.planning.progress import lag_by_partition, readable
from supervisor.core.planning.states import State, roll_up
from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.messages import TaskPhase
from tasks.contract.offsets import Offsets
from tests.supervisor.core.snapshots import (
    HOUR,
    MINUTE,
    NOON,
    committed,
    decided,
    generation,
    observed,
    offsets,
    part,
    pausing,
    report,
    spec,
    stream,
    task,
    worker,
)

ENDS = {0: 50, 1: 60, 2: 70, 3: 80}
BEGUN = {part(0): 10, part(2): 10}
FULL = {part(0): 50, part(2): 70}


def bounded(
    ends: dict[int, int] | None = None, start: int = 10, base: SupervisorSpec | None = None
) -> SupervisorSpec:
    """Two groups over four partitions, unless told otherwise."""
    wanted = ENDS if ends is None else ends
    bounds = BoundedStreamConfig(
        start_sequence_numbers=dict.fromkeys(wanted, start), end_sequence_numbers=wanted
    )
    base = base or spec()
    source = base.io_config.model_copy(update={"bounded_stream_config": bounds})
    return base.model_copy(update={"io_config": source})


def state(seen: Observed) -> tuple[State, str, str]:
    found = roll_up(seen, None)
    return found.state, found.detailed, found.why


# -- where it begins -------------------------------------------------------------------------------


@pytest.mark.parametrize("earliest", [0, 30])
def test_it_begins_at_the_starts_even_where_kafka_holds_less(earliest: int) -> None:
    """Goal: what is lost is told, by the rule for lost offsets; never skipped in silence."""
    seen = observed(bounded(), stored={}, seen=stream(100, 100, 100, 100, earliest=earliest))

    [begun] = [a for a in decided(seen) if isinstance(a, CommitInitialOffsets)]

    assert begun.offsets == offsets(10, 10, 10, 10)


def test_partitions_that_are_not_named_are_not_read() -> None:
    """Goal: neither those that there are, nor those that come later."""
    wanted = bounded({1: 60})
    new = observed(wanted, stored={}, seen=stream(100, 100, 100, 100))
    begun = [a for a in decided(new) if isinstance(a, CommitInitialOffsets)]
    there = observed(wanted, stored=committed(0, 10, 0), seen=stream(100, 100, 100, 100, 5))

    opened = [a for a in decided(there) if isinstance(a, OpenGeneration)]

    assert [a.offsets for a in begun] == [{part(1): 10}]
    assert [a.start for a in opened] == [{part(1): 10}]
    assert not [a for a in decided(there) if isinstance(a, CommitInitialOffsets)]


def test_a_partition_that_does_not_exist_is_told_and_nothing_begins() -> None:
    seen = observed(bounded({0: 50, 7: 9}, start=1), stored={}, seen=stream(100, 100))

    rolled_up = state(seen)

    assert not decided(seen)
    assert rolled_up[:2] == (State.UNHEALTHY_SUPERVISOR, "NO_SUCH_PARTITION")
    assert "partition 7, which topic clicks does not have; it has 0, 1" in rolled_up[2]


@pytest.mark.parametrize("at", [9, 51])
def test_offsets_of_another_range_are_told_and_nothing_is_read(at: int) -> None:
    """Source: test_boundedSupervisor_doesNotSilentlyCompleteWhenStaleOffsetExceedsNewEnd."""
    seen = observed(bounded({0: 50}), stored=committed(at), seen=stream(100))

    rolled_up = state(seen)

    assert not decided(seen)
    assert rolled_up[:2] == (State.UNHEALTHY_SUPERVISOR, "BOUNDS_MISMATCHED")
    assert f"clicks:0 stands at {at}, its range is 10 to 50" in rolled_up[2]


def test_a_start_beyond_the_topics_end_is_waited_for() -> None:
    """Goal: records that are not there yet are no cut log."""
    wanted = bounded({0: 500}, start=200)
    opened = generation(1, {part(0): 200}, task_count=1, partition_count=1)
    reader = task(opened)
    later = replace(stream(100), read_at=NOON + MINUTE)
    seen = observed(
        wanted,
        stored={part(0): replace(committed(200)[part(0)], first_offset=200)},
        seen=later,
        generations=(opened,),
        tasks=(reader,),
        workers=(worker("w1", report(reader, opened.start)),),
        now=NOON + MINUTE,
    )

    assert not decided(seen)
    assert state(seen)[0] is State.RUNNING
    assert decided(replace(seen, tasks=(), workers=(worker("w1"),))), "a replica is started"


# -- reading up to the end -------------------------------------------------------------------------


def reads(even: Generation, position: Offsets, phase: TaskPhase = TaskPhase.READING) -> Observed:
    """The even group reads; the odd one is done."""
    t1 = task(even)
    return observed(
        bounded(),
        stored=committed(10, 60, 10, 80),
        generations=(even,),
        tasks=(t1,),
        workers=(worker("w1", report(t1, position, phase, sequence=even.sequence)),),
        now=NOON + MINUTE,
    )


def test_a_group_at_its_end_hands_off_at_once() -> None:
    """Goal: whatever taskDuration and stopTaskCount say; its reason tells."""
    even = generation(1, BEGUN)

    almost = plan(reads(even, {part(0): 50, part(2): 69}))
    [begun] = plan(reads(even, FULL)).actions

    assert almost.actions == ()
    assert almost.milestones["task-1-0-1"].end == FULL
    assert isinstance(begun, BeginHandoff)
    assert not begun.must_end
    assert "boundedStreamConfig asks of this group is read" in begun.why


def test_a_range_that_is_read_out_has_no_successor() -> None:
    even = pausing()
    even = replace(even, start=BEGUN)

    [fixed] = [a for a in decided(reads(even, FULL, TaskPhase.PAUSED)) if isinstance(a, FixEnd)]

    assert (fixed.end, fixed.successor) == (FULL, None)


def test_a_handoff_in_between_goes_on_with_what_is_left() -> None:
    """Goal: a partition at its end is in no further generation."""
    even = replace(pausing(), start=BEGUN)
    at = {part(0): 50, part(2): 40}

    [fixed] = [a for a in decided(reads(even, at, TaskPhase.PAUSED)) if isinstance(a, FixEnd)]

    assert fixed.successor is not None
    assert fixed.successor.start == {part(2): 40}


def test_task_duration_still_hands_off_within_the_range() -> None:
    seen = replace(reads(generation(1, BEGUN), {part(0): 20, part(2): 20}), now=NOON + HOUR)

    [begun] = [a for a in decided(seen) if isinstance(a, BeginHandoff)]

    assert begun.why == "taskDuration of 3,600 s is over"


def test_the_last_range_publishes_and_nothing_opens_beside_it() -> None:
    """Goal: done partitions stay done while their end is not committed yet."""
    even = generation(1, BEGUN, FULL, state=GenerationState.PUBLISHING)
    rest = generation(2, {part(2): 40}, {part(2): 70}, state=GenerationState.PUBLISHING)
    first = replace(even, end={part(0): 50, part(2): 40})

    for live in ((even,), (first, rest)):
        seen = observed(
            bounded(),
            stored=committed(10, 60, 10, 80),
            generations=live,
            tasks=tuple(task(g) for g in live),
            workers=(worker("w1"),),
        )
        assert not decided(seen)


def test_a_successor_of_fewer_partitions_fits_the_layout() -> None:
    """Goal: what is left of a group reads on as long as it wants."""
    first = generation(1, BEGUN, {part(0): 50, part(2): 40}, state=GenerationState.PUBLISHING)
    rest = generation(2, {part(2): 40})
    t1, t2 = task(first), task(rest)
    seen = observed(
        bounded(),
        stored=committed(10, 60, 10, 80),
        generations=(first, rest),
        tasks=(t1, t2),
        workers=(worker("w1", report(t2, {part(2): 50})),),
    )

    assert not decided(seen)


# -- done ------------------------------------------------------------------------------------------

DONE = committed(50, 60, 70, 80)


def test_at_all_ends_it_is_completed() -> None:
    """Goal: healthy, without tasks, whatever the topic does from then on."""
    seen = observed(bounded(), stored=DONE, seen=stream(100, 100, 100, 100, 100))
    gone = StreamState(trouble=StreamTrouble.NO_TOPIC, failures=9)

    for each in (seen, replace(seen, stream=gone), replace(seen, failures_in_a_row=5)):
        assert not decided(each)
        assert state(each)[:2] == (State.COMPLETED, "COMPLETED")
        assert roll_up(each, None).healthy
    assert readable(seen) == offsets(50, 60, 70, 80)


def test_what_is_read_to_its_end_has_no_lag_though_nobody_looks_at_the_log_any_more() -> None:
    """Case: a completed supervisor rests, so its status had a lag of no partition at all."""
    unseen = stream()
    at_two_ends = committed(50, 60, 20, 20)

    done = observed(bounded(), stored=DONE, seen=unseen)
    half = observed(bounded(), stored=at_two_ends, seen=unseen)
    endless = observed(stored=DONE, seen=unseen)

    assert lag_by_partition(done) == offsets(0, 0, 0, 0)
    assert lag_by_partition(half) == offsets(0, 0), "how much can be read of the others, is open"
    assert lag_by_partition(endless) == {}


def test_what_is_completed_or_terminated_is_over_once_nothing_of_it_is_left() -> None:
    """Goal: passes over supervisors that are done cost nothing (P4), and miss nothing."""
    done = observed(bounded(), stored=DONE)
    ended = observed(terminated=True)
    publishes = generation(1, offsets(50), offsets(60), state=GenerationState.PUBLISHING)
    left = replace(ended, generations=(publishes,))

    assert plan(done).over
    assert plan(ended).over
    assert not plan(left).over
    assert not plan(observed(bounded(), stored=committed(50, 60, 70, 79))).over
    assert not plan(observed(spec().model_copy(update={"suspended": True}))).over


def test_retention_beyond_the_ends_loses_nothing_that_was_asked_for() -> None:
    seen = observed(bounded(), stored=DONE, seen=stream(100, 100, 100, 100, earliest=90))

    assert state(seen)[0] is State.COMPLETED


def test_an_empty_range_is_completed_at_once() -> None:
    """Source: test_boundedSupervisor_withEmptyRange_completesImmediately."""
    seen = observed(bounded({0: 10}), stored=committed(10), seen=stream(100))

    assert not decided(seen)
    assert state(seen)[0] is State.COMPLETED


def test_what_is_not_committed_is_not_completed() -> None:
    seen = observed(bounded(), stored=committed(50, 60, 70, 79))

    assert state(seen)[0] is State.RUNNING
    assert [a.start for a in decided(seen) if isinstance(a, OpenGeneration)] == [{part(3): 79}]


def test_a_suspended_one_is_suspended_until_it_is_resumed() -> None:
    suspended = bounded().model_copy(update={"suspended": True})

    assert state(observed(suspended, stored=DONE))[0] is State.SUSPENDED
    assert not decided(observed(suspended, stored=DONE))


def test_a_higher_end_goes_on_from_the_committed_offset() -> None:
    more = {**ENDS, 1: 90}
    seen = observed(bounded(more), stored=DONE, version=2, older={1: bounded()})

    assert [a.start for a in decided(seen) if isinstance(a, OpenGeneration)] == [{part(1): 60}]


def test_lost_records_are_told_and_reset_no_further_than_the_end() -> None:
    """Goal: the existing rule for lost offsets; the part beyond the end is not asked for."""
    lost = stream(100, 100, 100, 100, earliest=55)
    seen = observed(bounded(), stored=committed(10, 60, 70, 80), seen=lost)
    tuning = seen.specs[1].tuning_config.model_copy(update={"reset_offset_automatically": True})
    by_itself = bounded().model_copy(update={"tuning_config": tuning})
    again = replace(
        observed(by_itself, stored=committed(10, 60, 70, 80), seen=lost), now=NOON + HOUR
    )

    rolled_up = state(seen)
    [reset] = [a for a in decided(again) if isinstance(a, ResetOffsets)]

    assert rolled_up[:2] == (State.UNHEALTHY_SUPERVISOR, "OFFSETS_UNREADABLE")
    assert reset.new.offsets == {part(0): 50}


def test_waiting_for_records_wakes_now_and_then() -> None:
    """Goal: an end beyond the topic's is waited for; nothing spins."""
    even = generation(1, BEGUN)
    waiting = reads(even, {part(0): 30, part(2): 30})

    assert plan(waiting).wake_at == waiting.now + timedelta(seconds=30)
