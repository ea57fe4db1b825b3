"""What the planner stores and opens before anything is read."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import (
    CommitInitialOffsets,
    OpenGeneration,
)
from supervisor.core.planning.plan import plan
from tests.supervisor.core.snapshots import (
    EVEN,
    HOUR,
    NOON,
    ODD,
    committed,
    generation,
    observed,
    offsets,
    part,
    reading,
    report,
    spec,
    stream,
    task,
    worker,
)


def test_initial_offsets_are_stored_before_anything_starts() -> None:
    """Goal: the only accepted start is a committed one, the first time too (P10)."""
    seen = observed(stored={}, workers=(worker(),))

    [action] = plan(seen).actions

    assert isinstance(action, CommitInitialOffsets)
    assert action.offsets == offsets(0, 0, 0, 0)
    assert action.topic_ids == {"clicks": "id-1"}


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


def test_a_topic_that_cannot_be_read_is_looked_at_again_soon() -> None:
    """Goal: a supervisor whose broker comes back goes on within seconds."""
    seen = observed(stored={}, seen=replace(stream(), read_at=None))

    decided = plan(seen)

    assert decided.actions == ()
    assert decided.wake_at == NOON + timedelta(seconds=3)
