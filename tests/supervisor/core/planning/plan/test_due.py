"""When a range is handed off by itself: by its rows or a period, whichever comes first.

Source: Druid's docs on maxTotalRows, maxRowsPerSegment and intermediateHandoffPeriod.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.model.rows import GenerationState, Task
from supervisor.core.planning.actions import BeginHandoff, Plan
from supervisor.core.planning.observed import Liveness, Observed
from supervisor.core.planning.plan import plan
from supervisor.core.planning.wake_condition import WakeCondition
from supervisor.core.spec.sections.tuning_config import ROWS_TOTAL, TuningConfig
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.messages import Counters, TaskPhase, TaskReport
from tests.supervisor.core.snapshots import (
    END,
    EVEN,
    HOUR,
    MINUTE,
    NOON,
    ODD,
    PUBLISHES,
    generation,
    observed,
    reading,
    report,
    spec,
    task,
    worker,
)

SECOND = timedelta(seconds=1)
CHUNK = 5_000_000
"""Druid's maxRowsPerSegment."""


def sized(
    rows: int = 100, *, period: timedelta | None = None, base: SupervisorSpec | None = None
) -> SupervisorSpec:
    """The spec with both limits."""
    tuning = TuningConfig(max_total_rows=rows, intermediate_handoff_period=period)
    return (base or spec()).model_copy(update={"tuning_config": tuning})


def rows(
    of: Task, processed: int, odd: int = 0, phase: TaskPhase = TaskPhase.READING
) -> TaskReport:
    """A report of so many rows, some of them with a field that did not fit."""
    counted = Counters(
        processed=processed, processed_with_error=odd, unparseable=1_000, thrown_away=1_000
    )
    return report(of, EVEN, phase).model_copy(update={"counters": counted})


def chunked(of: Task, fullest: int) -> TaskReport:
    """A report of two rows for each that its fullest time chunk has."""
    return rows(of, 2 * fullest).model_copy(update={"fullest_chunk_rows": fullest})


def two_groups(wanted: SupervisorSpec, *even_reports: TaskReport) -> Observed:
    """Two groups that read; the odd one has no rows."""
    even, odd, t1, t2 = reading()
    more = (task(even, 1, worker="w2"),) if len(even_reports) > 1 else ()
    workers = [worker("w1", even_reports[0], report(t2, ODD))]
    workers += [worker("w2", *even_reports[1:])] if more else []
    return observed(
        wanted, generations=(even, odd), tasks=(t1, t2, *more), workers=tuple(workers), now=NOON
    )


def begun(decided: Plan) -> dict[str, str]:
    """Generation -> why its handoff begins."""
    return {a.generation_id: a.why for a in decided.actions if isinstance(a, BeginHandoff)}


EVEN_GROUP, ODD_GROUP, T1, T2 = reading()
SECOND_REPLICA = task(EVEN_GROUP, 1, worker="w2")


def test_a_range_with_enough_rows_is_handed_off_and_the_others_read_on() -> None:
    """Goal: the limit is a group's own, and its reason names it."""
    decided = plan(two_groups(sized(100), rows(T1, 90, odd=10)))

    assert begun(decided) == {EVEN_GROUP.id: "maxTotalRows of 100 is reached: 100 rows are read"}
    assert not any(a.must_end for a in decided.actions if isinstance(a, BeginHandoff))


def test_records_that_became_no_row_do_not_count() -> None:
    """Source: Druid counts the rows in its segments."""
    decided = plan(two_groups(sized(100), rows(T1, 99)))

    assert begun(decided) == {}
    assert decided.milestones == {
        T1.id: WakeCondition(100, CHUNK),
        T2.id: WakeCondition(100, CHUNK),
    }
    assert decided.wake_at == NOON + timedelta(seconds=30), "a report wakes it before"


def test_of_several_replicas_the_one_with_most_rows_counts() -> None:
    two = sized(100, base=spec(replicas=2))

    decided = plan(two_groups(two, rows(T1, 3), rows(SECOND_REPLICA, 100)))

    assert list(begun(decided)) == [EVEN_GROUP.id]


@pytest.mark.parametrize(
    ("phase", "liveness"),
    [(TaskPhase.FAILED, Liveness.ALIVE), (TaskPhase.READING, Liveness.LOST)],
)
def test_a_replica_that_is_gone_counts_no_more(phase: TaskPhase, liveness: Liveness) -> None:
    """Goal: what the others have read is what would be published."""
    two = sized(100, base=spec(replicas=2))
    seen = two_groups(two, rows(T1, 3), rows(SECOND_REPLICA, 100, phase=phase))
    gone = replace(seen.workers[1], liveness=liveness)

    assert begun(plan(replace(seen, workers=(seen.workers[0], gone)))) == {}


def test_without_a_word_the_limit_is_druids() -> None:
    """Source: Druid's tuningConfig; null is 20,000,000."""
    assert ROWS_TOTAL == 20_000_000
    assert begun(plan(two_groups(spec(), rows(T1, ROWS_TOTAL - 1)))) == {}
    assert list(begun(plan(two_groups(spec(), rows(T1, ROWS_TOTAL))))) == [EVEN_GROUP.id]


def test_a_range_with_one_full_time_chunk_is_handed_off() -> None:
    """Goal: rows of one chunk count, whatever the whole range has.

    Source: AppenderatorDriverAddResult.isPushRequired: rows in the segment >= maxRowsPerSegment.
    """
    tuning = TuningConfig(max_rows_per_segment=50)
    wanted = spec().model_copy(update={"tuning_config": tuning})

    almost = plan(two_groups(wanted, chunked(T1, 49)))
    full = plan(two_groups(wanted, chunked(T1, 50)))

    assert begun(almost) == {}
    assert almost.milestones[T1.id] == WakeCondition(ROWS_TOTAL, 50)
    assert almost.milestones[T1.id].is_reached(chunked(T1, 50))
    assert not almost.milestones[T1.id].is_reached(chunked(T1, 49))
    why = "maxRowsPerSegment of 50 is reached: 50 rows of one time chunk are read"
    assert begun(full) == {EVEN_GROUP.id: why}


def test_a_worker_that_does_not_tell_its_fullest_chunk_has_none() -> None:
    """Goal: workers from before go on as they did."""
    assert begun(plan(two_groups(spec(), rows(T1, CHUNK)))) == {}
    assert list(begun(plan(two_groups(spec(), chunked(T1, CHUNK))))) == [EVEN_GROUP.id]


def test_a_range_is_not_begun_twice() -> None:
    """Goal: the same reports again change nothing while it pauses, nor once its end is fixed."""
    seen = two_groups(sized(100), rows(T1, 100))
    even, odd = seen.generations
    later = replace(even, state=GenerationState.PAUSING, sequence=1, paused_at=NOON)
    fixed = replace(later, state=GenerationState.PUBLISHING, end=END)

    assert begun(plan(replace(seen, generations=(later, odd)))) == {}
    assert begun(plan(replace(seen, generations=(fixed, odd)))) == {}


def test_a_new_leader_and_a_restarted_worker_go_by_the_same_number() -> None:
    """Goal: nothing is remembered; silence and a task that only starts decide nothing."""
    seen = two_groups(sized(100), rows(T1, 100, phase=TaskPhase.STARTING))
    silent = replace(seen, workers=(worker("w1", liveness=Liveness.UNKNOWN),))
    again = two_groups(sized(100), rows(T1, 100))

    assert begun(plan(silent)) == begun(plan(seen)) == {}
    assert list(begun(plan(again))) == [EVEN_GROUP.id]


def test_stop_task_count_bounds_these_handoffs_too() -> None:
    """Goal: rolling; and nothing is waited for that would not change that."""
    follows = generation(3, END)
    t3 = task(follows)
    seen = observed(
        sized(100, base=spec(stop_task_count=1)),
        generations=(PUBLISHES, ODD_GROUP, follows),
        tasks=(task(PUBLISHES), T2, t3),
        workers=(worker("w1", rows(T2, 100), rows(t3, 99)),),
    )

    decided = plan(seen)

    assert begun(decided) == {}
    assert decided.milestones == {t3.id: WakeCondition(100, CHUNK)}


def test_the_period_is_over_before_task_duration() -> None:
    """Source: Druid: whichever happens earlier."""
    wanted = sized(period=10 * MINUTE)
    seen = two_groups(wanted, rows(T1, 1))
    early = plan(replace(seen, now=NOON + 10 * MINUTE - SECOND))
    due = plan(replace(seen, now=NOON + 10 * MINUTE))

    assert begun(early) == {}
    assert early.wake_at == NOON + 10 * MINUTE
    why = "intermediateHandoffPeriod of 600 s is over"
    assert begun(due) == {EVEN_GROUP.id: why, ODD_GROUP.id: why}


def test_a_longer_period_than_task_duration_changes_nothing() -> None:
    seen = two_groups(sized(period=2 * HOUR), rows(T1, 1))

    assert begun(plan(replace(seen, now=NOON + HOUR))) == dict.fromkeys(
        (EVEN_GROUP.id, ODD_GROUP.id), "taskDuration of 3,600 s is over"
    )


def test_the_newest_limit_holds_for_a_range_that_is_being_read() -> None:
    """Goal: a change of the limits throws nothing away and disturbs no task."""
    seen = two_groups(sized(1_000), rows(T1, 100))
    lower = replace(
        observed(sized(100), version=2, older={1: sized(1_000)}),
        generations=seen.generations,
        newest=seen.newest,
        tasks=seen.tasks,
        workers=seen.workers,
    )

    assert begun(plan(seen)) == {}
    assert begun(plan(lower)) == {
        EVEN_GROUP.id: "maxTotalRows of 100 is reached: 100 rows are read"
    }


def test_a_suspended_supervisor_ends_its_ranges_for_that() -> None:
    """Goal: what must end must end; a size never turns that into a mere handoff."""
    wanted = sized(100).model_copy(update={"suspended": True})

    decided = plan(two_groups(wanted, rows(T1, 100)))

    assert set(begun(decided).values()) == {"the supervisor is suspended"}


@pytest.mark.parametrize(
    ("ahead", "begins"),
    [
        (timedelta(minutes=6), []),
        (timedelta(minutes=6, seconds=1), [EVEN_GROUP.id]),
        (timedelta(days=1), [EVEN_GROUP.id]),
    ],
)
def test_a_clock_behind_the_last_leaders_delays_by_a_tenth_of_the_period_at_most(
    ahead: timedelta, begins: list[str]
) -> None:
    """Goal: after a takeover a table does not stand still for as long as two clocks differ."""
    late = replace(EVEN_GROUP, timer_started_at=NOON + ahead)
    seen = observed(
        generations=(late, ODD_GROUP),
        tasks=(T1, T2),
        workers=(worker("w1", report(T1, EVEN), report(T2, ODD)),),
    )

    assert spec().io_config.task_duration == HOUR
    assert list(begun(plan(seen))) == begins
