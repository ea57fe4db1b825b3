"""Whom the planner gives a slot to, and whose slot it takes for that (P18)."""

from dataclasses import replace

import pytest

from supervisor.core.planning.actions import EndTask, SlotNeed, StartTask
from supervisor.core.planning.observed import Liveness, Observed
from supervisor.core.planning.plan import plan
from tasks.contract.messages import TaskPhase
from tests.supervisor.core.snapshots import (
    END,
    EVEN,
    FOLLOWS,
    MINUTE,
    NOON,
    ODD,
    ODDS,
    PUBLISHES,
    decided,
    failed,
    observed,
    reading,
    report,
    spec,
    task,
    worker,
)


def crowded(*, last_lost: bool | None = None, used: int = 1) -> Observed:
    """The older group has no task, the younger one has the only slot."""
    even, odd, t1, t2 = reading()
    gone = () if last_lost is None else (replace(failed(t1, NOON), lost=last_lost),)
    return observed(
        now=NOON + MINUTE,
        generations=(even, odd),
        tasks=(t2,),
        last=gone,
        workers=(worker("w1", report(t2, ODD), slots=1, used=used),),
    )


@pytest.mark.parametrize("last_lost", [None, True], ids=["never-started", "its-worker-was-lost"])
def test_the_youngest_reader_makes_room_for_an_older_group_that_has_none(
    *, last_lost: bool | None
) -> None:
    """Goal: the oldest range, for which all others wait, is never without a slot.  Source: P18."""
    ended, started = decided(crowded(last_lost=last_lost))

    assert isinstance(ended, EndTask)
    assert (ended.task_id, ended.lost) == ("task-2-0-1", True)
    assert "older" in ended.why
    assert isinstance(started, StartTask)
    assert (started.generation_id, started.worker_id) == ("clicks:1", "w1")


def test_the_one_that_made_room_waits_and_takes_nothing_back() -> None:
    """Goal: no ping-pong (P18)."""
    even, odd, t1, t2 = reading()
    seen = observed(
        generations=(even, odd),
        tasks=(t1,),
        last=(replace(failed(t2, NOON), lost=True),),
        workers=(worker("w1", report(t1, EVEN), slots=1, used=1),),
    )

    assert decided(seen) == []
    assert plan(seen).waiting_for_slots == SlotNeed(needed=1, free=0)


def test_a_group_whose_own_tasks_fail_takes_no_slot_from_others() -> None:
    """Goal: a crash loop of one group does not stop the reading of another, again and again."""
    seen = crowded(last_lost=False)

    assert decided(seen) == []
    assert plan(seen).waiting_for_slots == SlotNeed(needed=1, free=0)


@pytest.mark.parametrize(
    "how", [{"liveness": Liveness.UNKNOWN}, {"stopping": True}], ids=["silent", "stopping"]
)
def test_no_room_is_made_on_a_worker_that_takes_nothing_new(how: dict[str, object]) -> None:
    seen = crowded()
    [crowd] = seen.workers

    assert decided(replace(seen, workers=(replace(crowd, **how),))) == []  # type: ignore[arg-type]  # parametrised members


def test_one_replica_of_the_older_group_is_room_enough() -> None:
    """Goal: for a second replica nobody is stopped."""
    even, odd, t1, t2 = reading()
    busy = worker("w1", report(t1, EVEN), report(t2, ODD), slots=2, used=2)
    seen = observed(spec(replicas=2), generations=(even, odd), tasks=(t1, t2), workers=(busy,))
    none_yet = replace(crowded(), current=replace(seen.current), specs=seen.specs)

    assert decided(seen) == []
    assert [type(a) for a in decided(none_yet)] == [EndTask, StartTask]


def test_a_range_whose_end_is_fixed_needs_no_slot_and_stops_nobody() -> None:
    """Goal: publishing has a pool of its own."""
    reader = task(FOLLOWS)
    seen = observed(
        generations=(PUBLISHES, ODDS, FOLLOWS),
        tasks=(task(ODDS), reader),
        workers=(worker("w1", report(reader, END, TaskPhase.READING), slots=2, used=2),),
    )

    assert [(type(a), a.why) for a in decided(seen)] == [(StartTask, "a replica is missing")]


def test_each_range_is_read_before_any_is_read_twice() -> None:
    """Goal: spares of the oldest range starve no other group."""
    even, odd, _, _ = reading()
    seen = observed(
        spec(replicas=2),
        generations=(even, odd),
        workers=(worker("w1", slots=1), worker("w2", slots=1)),
    )

    starts = [a for a in decided(seen) if isinstance(a, StartTask)]

    assert [(a.generation_id, a.replica) for a in starts] == [("clicks:1", 0), ("clicks:2", 0)]
    assert plan(seen).waiting_for_slots == SlotNeed(needed=4, free=2)


def twice(phase: TaskPhase = TaskPhase.READING, silent: Liveness = Liveness.ALIVE) -> Observed:
    """The older range is read twice, the younger one by nobody; there is no third slot."""
    even, odd, t1, _ = reading()
    spare = task(even, replica=1, worker="w2")
    return observed(
        spec(replicas=2),
        generations=(even, odd),
        tasks=(t1, spare),
        workers=(
            worker("w1", report(t1, EVEN, phase), slots=1, used=1, liveness=silent),
            worker("w2", report(spare, EVEN), slots=1, used=1),
        ),
    )


def test_a_spare_of_an_older_range_makes_room_for_a_group_that_has_none() -> None:
    """Goal: what is read by nobody is worth more than what is read twice, older or not."""
    ended, started = decided(twice())

    assert isinstance(ended, EndTask)
    assert (ended.task_id, ended.lost, ended.succeeded) == ("task-1-1-1", True, False)
    assert "which no task reads" in ended.why
    assert isinstance(started, StartTask)
    assert (started.generation_id, started.worker_id) == ("clicks:2", "w2")


def test_a_spare_makes_room_for_a_group_whose_own_tasks_failed_as_well() -> None:
    """Goal: a range that failed once does not starve while others are read twice.

    Found by the simulation, seed 106: its tasks had not paused in time; the successors of the
    other groups took every slot while it waited to be started again.
    """
    seen = twice()
    [_, odd] = seen.generations
    once = replace(seen, last_attempts={(odd.id, 0): failed(task(odd), NOON - MINUTE)})

    ended, started = decided(once)

    assert isinstance(ended, EndTask)
    assert ended.task_id == "task-1-1-1"
    assert isinstance(started, StartTask)
    assert (started.generation_id, started.attempt) == ("clicks:2", 2)


def test_a_spare_goes_before_the_only_reader_of_a_younger_range() -> None:
    """Goal: no reading is lost where none has to be."""
    even, odd, _, t2 = reading()
    spare = task(odd, replica=1)
    seen = observed(
        spec(replicas=2),
        generations=(even, odd),
        tasks=(t2, spare),
        workers=(worker("w1", report(t2, ODD), report(spare, ODD), slots=2, used=2),),
    )

    ended, started = decided(seen)

    assert isinstance(ended, EndTask)
    assert ended.task_id == spare.id
    assert isinstance(started, StartTask)
    assert started.generation_id == even.id


@pytest.mark.parametrize(
    ("seen", "goes"),
    [(twice(TaskPhase.STARTING), ["task-1-0-1"]), (twice(silent=Liveness.UNKNOWN), [])],
    ids=["starting", "silent"],
)
def test_the_replica_that_is_known_to_read_is_no_spare(seen: Observed, goes: list[str]) -> None:
    """Goal: of two, the one whose other may be lost stays."""
    assert [a.task_id for a in decided(seen) if isinstance(a, EndTask)] == goes


def test_what_made_room_takes_nothing_back() -> None:
    """Goal: no ping-pong between a spare and a group (P18)."""
    even, odd, t1, _ = reading()
    t2 = task(odd, worker="w2")
    ended = replace(failed(task(even, replica=1, worker="w2"), NOON), lost=True)
    seen = observed(
        spec(replicas=2),
        generations=(even, odd),
        tasks=(t1, t2),
        last=(ended,),
        workers=(
            worker("w1", report(t1, EVEN), slots=1, used=1),
            worker("w2", report(t2, ODD), slots=1, used=1),
        ),
    )

    assert decided(seen) == []
