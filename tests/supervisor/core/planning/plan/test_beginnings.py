"""What the planner does when Kafka does not hold what should be read next."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import ResetOffsets, StartTask
from supervisor.core.planning.observed import Observed, StreamState, StreamTrouble
from supervisor.core.planning.plan import plan
from supervisor.core.planning.states import State, roll_up
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.messages import FailureCode, TaskPhase
from tests.supervisor.core.snapshots import (
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

ALL = generation(1, offsets(10, 10, 10, 10), task_count=1)
LATER = NOON + 10 * MINUTE


def automatic() -> SupervisorSpec:
    """A spec of one group that asks for resets."""
    wanted = spec(task_count=1)
    tuning = wanted.tuning_config.model_copy(update={"reset_offset_automatically": True})
    return wanted.model_copy(update={"tuning_config": tuning})


def log(earliest: int, latest: int, *, at: datetime = LATER) -> StreamState:
    """Partition 0 holds other offsets than the rest, which hold 0 to 100."""
    seen = replace(stream(100, 100, 100, 100), read_at=at)
    ends = {**seen.latest, part(0): latest}
    return replace(seen, earliest={**seen.earliest, part(0): earliest}, latest=ends, stable=ends)


def stuck(seen: StreamState, *, wanted: SupervisorSpec | None = None) -> Observed:
    """One generation from 10 without a replica, and a free worker."""
    return observed(
        wanted or spec(task_count=1),
        now=LATER,
        stored=committed(10, 10, 10, 10),
        seen=seen,
        generations=(ALL,),
        workers=(worker(),),
    )


def resets(seen: Observed) -> list[ResetOffsets]:
    return [a for a in plan(seen).actions if isinstance(a, ResetOffsets)]


def starts(seen: Observed) -> list[StartTask]:
    return [a for a in plan(seen).actions if isinstance(a, StartTask)]


def test_a_range_that_can_be_read_gets_its_replica() -> None:
    assert starts(stuck(log(10, 10)))


@pytest.mark.parametrize(
    ("seen", "word", "numbers"),
    [
        (log(60, 100), "OFFSETS_UNREADABLE", "is 10, Kafka holds 60 to 100: 50 records are lost"),
        (log(0, 7), "LOST_CONTINUITY", "offset 10 has been read already, Kafka holds 0 to 7"),
    ],
    ids=["below the log start", "above the log end"],
)
def test_nothing_is_started_on_what_cannot_be_read_and_the_state_says_the_numbers(
    seen: StreamState, word: str, numbers: str
) -> None:
    """Goal: a crash loop tells nobody how much is lost, nor what to do (E4, E5)."""
    snapshot = stuck(seen)

    state = roll_up(snapshot, None)

    assert plan(snapshot).actions == ()
    assert (state.state, state.detailed) == (State.UNHEALTHY_SUPERVISOR, word)
    assert state.why.startswith("clicks:0: ")
    assert numbers in state.why
    assert "resetOffsets" in state.why


def test_an_older_look_at_kafka_says_nothing_of_a_newer_range() -> None:
    """Goal: what a task has read since the look is no cut log."""
    snapshot = stuck(log(0, 7, at=NOON))

    assert starts(snapshot)
    assert roll_up(snapshot, None).detailed == "CREATING_TASKS"


def test_a_replica_that_has_journaled_the_lost_records_goes_on() -> None:
    """Goal: the journal holds what Kafka does not; only its twin would fail."""
    lives = task(ALL)
    reads = report(lives, offsets(80, 80, 80, 80))
    wanted = spec(task_count=1, replicas=2)
    snapshot = replace(
        stuck(log(60, 100), wanted=wanted), tasks=(lives,), workers=(worker("w1", reads),)
    )

    assert plan(snapshot).actions == ()
    assert roll_up(snapshot, None).state is State.RUNNING


def test_a_fixed_end_below_the_log_start_is_lost_no_further_than_the_end() -> None:
    end = offsets(40, 40, 40, 40)
    fixed = replace(ALL, state=GenerationState.PUBLISHING, end=end, end_fixed_at=NOON)
    read_whole = replace(fixed, end=offsets(10, 40, 40, 40))

    assert "lost" in roll_up(replace(stuck(log(60, 100)), generations=(fixed,)), None).why
    assert starts(replace(stuck(log(60, 100)), generations=(read_whole,)))


def test_a_fixed_end_above_the_log_end_cannot_be_reached() -> None:
    end = offsets(40, 40, 40, 40)
    fixed = replace(ALL, state=GenerationState.PUBLISHING, end=end, end_fixed_at=NOON)
    snapshot = replace(stuck(log(0, 30)), generations=(fixed,))

    assert roll_up(snapshot, None).detailed == "LOST_CONTINUITY"
    assert not starts(snapshot)


@pytest.mark.parametrize(("idle", "read_since"), [(MINUTE, True), (11 * MINUTE, False)])
def test_a_replica_that_waits_above_the_log_end_is_told_of(
    idle: timedelta, read_since: bool
) -> None:
    """Goal: only a look that began after it had read so far proves that the log was cut."""
    lives = task(ALL)
    reads = report(lives, offsets(80, 10, 10, 10)).model_copy(update={"idle_for": idle})
    look = log(0, 50, at=LATER - 5 * MINUTE)
    snapshot = replace(stuck(look), tasks=(lives,), workers=(worker("w1", reads),))

    assert (roll_up(snapshot, None).detailed == "LOST_CONTINUITY") is not read_since


def test_what_is_to_be_opened_next_is_told_of_too() -> None:
    snapshot = replace(stuck(log(60, 100)), generations=())

    assert "50 records are lost" in roll_up(snapshot, None).why


def test_a_suspended_supervisor_tells_of_the_range_it_cannot_publish() -> None:
    snapshot = stuck(log(60, 100), wanted=spec(task_count=1, suspended=True))

    assert roll_up(snapshot, None).detailed == "OFFSETS_UNREADABLE"


def test_a_topic_that_was_made_anew_is_not_read_and_never_reset_by_itself() -> None:
    """Goal: other records under the same offsets never mix with the table's (E7)."""
    anew = replace(log(60, 100), topic_ids={"clicks": "id-2"})
    snapshot = stuck(anew, wanted=automatic())

    assert plan(snapshot).actions == ()
    assert roll_up(snapshot, None).detailed == "TOPIC_CHANGED"


def test_a_deleted_topic_starts_nothing_and_loses_no_offset() -> None:
    """Source: E6."""
    gone = replace(log(0, 100), trouble=StreamTrouble.NO_TOPIC, detail="gone", failures=3)
    snapshot = stuck(gone, wanted=automatic())

    assert plan(snapshot).actions == ()
    assert roll_up(snapshot, None).detailed == "TOPIC_GONE"


@pytest.mark.parametrize("code", [FailureCode.OFFSETS_UNREADABLE, FailureCode.TOPIC_CHANGED])
def test_who_failed_for_its_offsets_is_replaced_after_a_newer_look_at_kafka(
    code: FailureCode,
) -> None:
    """Goal: one look decides, not one task after the other."""
    last = failed(task(ALL), LATER - MINUTE, f"{code}: clicks:0 ...")
    snapshot = stuck(log(0, 100))
    old = replace(log(0, 100), read_at=LATER - 2 * MINUTE)
    lasts = {(ALL.id, 0): last}

    assert not starts(replace(snapshot, last_attempts=lasts, stream=old))
    assert starts(replace(snapshot, last_attempts=lasts))


def test_a_reset_that_is_asked_for_moves_exactly_what_cannot_be_read() -> None:
    """Goal: the others keep their offsets (Druid #18282 resets wrongly)."""
    [action] = resets(stuck(log(60, 100), wanted=automatic()))

    assert action.new.offsets == {part(0): 60}
    assert action.new.earliest == {part(0): 60}
    assert "50 records are lost" in action.why


def test_above_the_log_end_reading_goes_on_at_its_last_stable_offset() -> None:
    [action] = resets(stuck(log(0, 7), wanted=automatic()))

    assert action.new.offsets == {part(0): 7}


def test_a_log_that_ends_lower_for_a_moment_is_not_reset() -> None:
    """Goal: a partition's new leader shows its end late (Druid #11658 resets for ever)."""
    early = replace(log(0, 7), read_at=NOON + timedelta(seconds=29))

    assert not resets(stuck(early, wanted=automatic()))
    assert resets(stuck(replace(early, read_at=NOON + timedelta(seconds=30)), wanted=automatic()))


def test_nothing_is_reset_unless_the_spec_asks() -> None:
    assert not resets(stuck(log(60, 100)))


def test_nothing_is_reset_while_kafka_cannot_be_asked() -> None:
    away = replace(log(60, 100), trouble=StreamTrouble.UNREACHABLE)

    assert not resets(stuck(away, wanted=automatic()))


def test_what_a_replica_may_still_publish_is_left_to_it_first() -> None:
    """Goal: a reset discards all that shares a partition; what is journaled is not thrown away."""
    end = offsets(40, 40, 40, 40)
    first = replace(ALL, state=GenerationState.PUBLISHING, end=end, end_fixed_at=NOON)
    second = replace(generation(2, end, task_count=1), opened_at=NOON)
    lives = task(first)
    publishes = report(lives, end, TaskPhase.PUBLISHING)
    snapshot = replace(
        stuck(log(60, 100), wanted=automatic()),
        generations=(first, second),
        newest=second,
        tasks=(lives,),
        workers=(worker("w1", publishes),),
    )

    assert not resets(snapshot)
    assert resets(replace(snapshot, tasks=(), workers=(worker(),)))


def test_the_offset_after_a_reset_causes_no_other() -> None:
    """Goal: one reset per cause."""
    moved = replace(ALL, start={**ALL.start, part(0): 60})
    rows = committed(60, 10, 10, 10)
    snapshot = replace(
        stuck(log(60, 100), wanted=automatic()), generations=(moved,), newest=moved, committed=rows
    )

    assert not resets(snapshot)
    assert starts(snapshot)
