"""A supervisor to which nothing comes ends its tasks, and goes on when something does.

Source: Druid's docs, "Idle configuration" of the Kafka supervisor.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import BeginHandoff, CloseEmpty, FixEnd, OpenGeneration
from supervisor.core.planning.observed import Observed, StreamState, StreamTrouble
from supervisor.core.planning.plan import plan
from supervisor.core.planning.rules.idle import FRESH_FOR
from supervisor.core.planning.states import State, roll_up
from supervisor.core.spec.sections.idle import IdleConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.counts import in_seconds
from tasks.contract.messages import TaskPhase
from tasks.contract.offsets import Offsets
from tests.supervisor.core.snapshots import (
    EVEN,
    NOON,
    ODD,
    committed,
    decided,
    generation,
    observed,
    part,
    pausing,
    report,
    spec,
    stream,
    task,
    worker,
)

AFTER = timedelta(minutes=10)
SOON = timedelta(seconds=1)
EMPTY = stream(0, 0, 0, 0)
CLOSED = generation(2, ODD, ODD, group=1, state=GenerationState.EMPTY)


def idling(*, enabled: bool = True, base: SupervisorSpec | None = None) -> SupervisorSpec:
    """Two groups over four partitions, with an idleConfig of the default period."""
    base = base or spec()
    found = IdleConfig(enabled=enabled)
    source = base.io_config.model_copy(update={"idle_config": found})
    return base.model_copy(update={"io_config": source})


def waiting(wanted: SupervisorSpec, *, seen: StreamState = EMPTY, after: timedelta) -> Observed:
    """Two groups that have read nothing so long after they were opened."""
    groups = (generation(1, EVEN), generation(2, ODD, group=1))
    tasks = tuple(task(each) for each in groups)
    reports = [report(t, g.start) for t, g in zip(tasks, groups, strict=True)]
    return observed(
        wanted,
        now=NOON + after,
        seen=seen,
        generations=groups,
        tasks=tasks,
        workers=(worker("w1", *reports),),
    )


def at_rest(
    wanted: SupervisorSpec | None = None, *, seen: StreamState = EMPTY, now: timedelta = AFTER
) -> Observed:
    """Nothing runs any more; the last range was closed."""
    return observed(wanted or idling(), now=NOON + now, seen=seen, newest=CLOSED)


def begun(seen: Observed) -> list[tuple[str, bool, str]]:
    found = [a for a in decided(seen) if isinstance(a, BeginHandoff)]
    return [(a.generation_id, a.must_end, a.why) for a in found]


def opened(seen: Observed) -> list[Offsets]:
    return [a.start for a in decided(seen) if isinstance(a, OpenGeneration)]


def test_ranges_to_which_nothing_came_for_so_long_are_closed() -> None:
    why = "nothing came for 600 s (idleConfig)"

    assert begun(waiting(idling(), after=AFTER)) == [
        ("clicks:1", True, why),
        ("clicks:2", True, why),
    ]


def test_before_that_they_wait_and_the_loop_wakes_in_time() -> None:
    seen = waiting(idling(), after=AFTER - SOON)

    assert not decided(seen)
    assert plan(seen).wake_at == NOON + AFTER


@pytest.mark.parametrize("wanted", [spec(), idling(enabled=False)], ids=["without", "disabled"])
def test_only_an_enabled_config_closes_them(wanted: SupervisorSpec) -> None:
    long_ago = timedelta(minutes=59)

    assert not decided(waiting(wanted, after=long_ago))
    assert len(begun(waiting(idling(), after=long_ago))) == len(waiting(wanted, after=AFTER).tasks)


def test_one_partition_with_a_record_keeps_all_groups_awake() -> None:
    """Goal: idle is the supervisor, as in Druid, and never a group of it alone."""
    assert not decided(waiting(idling(), seen=stream(0, 1, 0, 0), after=AFTER))


def test_a_topic_that_was_never_looked_at_is_not_called_empty() -> None:
    unknown = StreamState(trouble=StreamTrouble.CONNECTING)

    assert not decided(waiting(idling(), seen=unknown, after=AFTER))


def test_a_range_that_publishes_is_waited_for() -> None:
    seen = waiting(idling(), after=AFTER)
    first, second = seen.generations
    publishes = replace(first, state=GenerationState.PUBLISHING, end=EVEN)

    assert not begun(replace(seen, generations=(publishes, second)))


def test_a_range_of_which_nobody_can_tell_what_it_holds_is_not_begun() -> None:
    seen = waiting(idling(), after=AFTER)

    assert not begun(replace(seen, workers=(worker("w1"),)))


def _paused(at: int, *, must_end: bool = True) -> Observed:
    """The even group of an idle supervisor, paused at an offset of partition 0."""
    group = pausing(60, must_end=must_end)
    one = task(group)
    position = {part(0): at, part(2): 0}
    last_report = report(one, position, TaskPhase.PAUSED, sequence=1)
    return observed(
        idling(),
        now=NOON + timedelta(seconds=61),
        seen=stream(at, 0, 0, 0),
        generations=(group,),
        newest=CLOSED,
        tasks=(one,),
        workers=(worker("w1", last_report),),
    )


def test_a_range_that_held_nothing_is_closed_and_no_other_is_opened() -> None:
    seen = _paused(0)

    assert [type(a) for a in decided(seen)] == [CloseEmpty]
    assert plan(replace(seen, generations=(), tasks=())).actions == ()


def test_what_came_while_it_paused_is_published_and_reading_goes_on() -> None:
    """Goal: whatever comes at the wrong moment is neither lost nor left lying."""
    [end] = [a for a in decided(_paused(5)) if isinstance(a, FixEnd)]

    assert end.end == {part(0): 5, part(2): 0}
    assert end.successor is not None
    assert end.successor.start == end.end


def test_nothing_is_opened_while_nothing_comes() -> None:
    assert not decided(at_rest())
    assert roll_up(at_rest(), None).state is State.IDLE
    assert roll_up(at_rest(), None).healthy


def test_a_record_opens_every_group_where_reading_stopped() -> None:
    seen = at_rest(seen=stream(0, 0, 1, 0))

    assert opened(seen) == [EVEN, ODD]
    assert roll_up(seen, None).state is State.RUNNING


def test_a_new_supervisor_begins_before_it_may_rest() -> None:
    seen = observed(idling(), seen=EMPTY)

    assert opened(seen) == [EVEN, ODD]
    assert roll_up(seen, None).state is State.RUNNING


def test_while_it_rests_an_old_answer_of_kafkas_is_looked_at_anew_within_seconds() -> None:
    """Goal: growing offsets wake nobody, so what comes is noticed by passes alone."""
    fresh = replace(EMPTY, read_at=NOON + AFTER - FRESH_FOR)
    period = observed().limits.period

    assert plan(at_rest()).wake_at == NOON + AFTER + SOON
    assert plan(at_rest(seen=fresh)).wake_at == NOON + AFTER + period


def test_a_broker_that_is_away_changes_nothing_of_what_is_known() -> None:
    away = replace(EMPTY, trouble=StreamTrouble.UNREACHABLE, failures=9, detail="no route")

    assert not decided(at_rest(seen=away))
    assert roll_up(at_rest(seen=away), None).state is State.UNHEALTHY_SUPERVISOR


def test_without_a_look_nothing_is_opened_by_mistake_and_nothing_is_called_idle() -> None:
    """Goal: a new leader waits for its first look instead of starting tasks for nothing."""
    unknown = StreamState(trouble=StreamTrouble.CONNECTING)

    assert opened(at_rest(seen=unknown)) == []
    assert roll_up(at_rest(seen=unknown), None).state is State.RUNNING


def test_taken_back_it_opens_all_groups() -> None:
    assert opened(at_rest(idling(enabled=False))) == [EVEN, ODD]


def test_suspended_it_is_suspended() -> None:
    suspended = idling().model_copy(update={"suspended": True})

    assert roll_up(at_rest(suspended), None).state is State.SUSPENDED


def test_offsets_that_are_behind_the_log_are_no_rest() -> None:
    behind = replace(at_rest(seen=stream(9, 9, 9, 9)), committed=committed(9, 9, 9, 8))

    assert opened(behind) == [{part(0): 9, part(2): 9}, {part(1): 9, part(3): 8}]


def test_handoffs_on_schedule_go_on_until_then() -> None:
    """Goal: what was read is published by taskDuration, whatever idleConfig says."""
    hour = idling().io_config.task_duration
    seen = waiting(idling(), seen=stream(9, 0, 0, 0), after=hour)

    assert {(must_end, why) for _, must_end, why in begun(seen)} == {
        (False, f"taskDuration of {in_seconds(hour)} is over")
    }
