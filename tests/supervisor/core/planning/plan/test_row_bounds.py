"""Rows that are too early or too late count from the opening of their range: what follows from it.

A range is judged by its rows in the database alone, so that its replicas keep the same records;
it ends where it would begin to throw current ones away.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.actions import (
    Action,
    BeginHandoff,
    CloseEmpty,
    FixEnd,
    OpenGeneration,
    ResumeReading,
    StartTask,
)
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.plan import plan
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.messages import TaskPhase
from tests.supervisor.core.snapshots import (
    END,
    EVEN,
    HOUR,
    MINUTE,
    NOON,
    ODD,
    ODDS,
    PUBLISHES,
    decided,
    failed,
    generation,
    observed,
    pausing,
    reading,
    report,
    spec,
    task,
    worker,
)

EARLY = timedelta(minutes=10)
DUE = NOON + HOUR


def bounded(base: SupervisorSpec | None = None, field: str = "early") -> SupervisorSpec:
    """The spec, which throws rows away that are later than its range's time and ten minutes."""
    wanted = base or spec()
    update = {f"{field}_message_rejection_period": EARLY}
    return wanted.model_copy(update={"io_config": wanted.io_config.model_copy(update=update)})


def read_nothing(wanted: SupervisorSpec, *, must_end: bool) -> Observed:
    """The even group has paused where it began."""
    even = pausing(must_end=must_end)
    t1 = task(even)
    return observed(
        wanted,
        generations=(even, ODDS),
        tasks=(t1, task(ODDS)),
        workers=(worker("w1", report(t1, EVEN, TaskPhase.PAUSED, sequence=1)),),
        now=NOON + MINUTE,
    )


def begun(seen: Observed) -> list[BeginHandoff]:
    return [action for action in decided(seen) if isinstance(action, BeginHandoff)]


@pytest.mark.parametrize("field", ["early", "late"])
def test_a_range_whose_bounds_count_from_its_opening_ends_even_if_it_is_empty(field: str) -> None:
    """Goal: after hours without a record the next ones are judged by the time they come."""
    even, odd, t1, t2 = reading()
    at_work = worker("w1", report(t1, EVEN), report(t2, ODD))
    seen = observed(generations=(even, odd), tasks=(t1, t2), workers=(at_work,), now=DUE)
    wanted = bounded(field=field)
    judged = replace(
        seen, current=replace(seen.current, spec=wanted), specs={seen.current.version: wanted}
    )

    assert [a.must_end for a in begun(seen)] == [False, False]
    assert [a.must_end for a in begun(judged)] == [True, True]


def test_an_empty_range_is_closed_and_its_successor_opens_in_the_next_pass() -> None:
    closed = decided(read_nothing(bounded(), must_end=True))
    gone = observed(
        bounded(), generations=(ODDS,), newest=generation(5, EVEN), tasks=(task(ODDS),), now=DUE
    )
    opened = [action for action in decided(gone) if isinstance(action, OpenGeneration)]

    assert [type(a) for a in closed if not isinstance(a, StartTask)] == [CloseEmpty]
    assert [(a.group, a.start) for a in opened] == [(0, EVEN)]


def test_a_range_without_such_bounds_is_resumed_as_ever() -> None:
    """Goal: an idle topic makes no ranges where none are needed (P12)."""
    found = decided(read_nothing(spec(), must_end=False))

    assert [type(a) for a in found if not isinstance(a, StartTask)] == [ResumeReading]


def rolling(wanted: SupervisorSpec, after: timedelta) -> Observed:
    """One group publishes, the others read; no more than one may hand off at once."""
    follows = generation(3, END)
    t2, t3 = task(ODDS), task(follows)
    return observed(
        wanted,
        generations=(PUBLISHES, ODDS, follows),
        tasks=(task(PUBLISHES), t2, t3),
        workers=(worker("w1", report(t2, ODD), report(t3, END)),),
        now=NOON + after,
    )


@pytest.mark.parametrize(
    ("late_by", "begins"),
    [(timedelta(0), []), (EARLY / 2 - timedelta(seconds=1), []), (EARLY / 2, ["clicks:2"])],
)
def test_a_range_that_would_soon_throw_current_rows_away_waits_for_no_other(
    late_by: timedelta, begins: list[str]
) -> None:
    """Goal: stopTaskCount delays a handoff, and costs no record."""
    one = bounded(spec(stop_task_count=1))
    seen = rolling(one, HOUR + late_by)

    assert [a.generation_id for a in begun(seen)][:1] == begins
    if not begins:
        assert plan(seen).wake_at <= DUE + EARLY / 2


def test_without_such_a_bound_stop_task_count_holds_however_long_it_takes() -> None:
    assert begun(rolling(spec(stop_task_count=1), 9 * HOUR)) == []
    assert begun(rolling(bounded(spec(stop_task_count=1), "late"), 9 * HOUR)) == []


def lost(wanted: SupervisorSpec, after: timedelta) -> list[Action]:
    """The even group has lost its only replica."""
    even, odd, t1, t2 = reading()
    seen = observed(
        wanted,
        generations=(even, replace(odd, opened_at=NOON + after, timer_started_at=NOON + after)),
        tasks=(t2,),
        last=(replace(failed(t1, NOON + after), lost=True),),
        workers=(worker("w1", report(t2, ODD)),),
        now=NOON + after,
    )
    return decided(seen)


def test_a_range_whose_time_is_over_is_not_read_again_from_its_start() -> None:
    """Goal: a replacement would throw away what came since; a successor does not."""
    [begin] = lost(bounded(), HOUR)

    assert isinstance(begin, BeginHandoff)
    assert begin.must_end
    assert [type(a) for a in lost(bounded(), HOUR - MINUTE)] == [StartTask]
    assert [type(a) for a in lost(spec(), HOUR)] == [StartTask]


def test_without_a_worker_no_range_follows_the_other() -> None:
    """Goal: a night without workers leaves one range open, not one for each taskDuration."""
    even, odd, _, _ = reading()
    seen = observed(bounded(), generations=(even, odd), now=NOON + 9 * HOUR)

    assert decided(seen) == []
    found = decided(replace(seen, workers=(worker(),)))
    assert [type(a) for a in found] == [BeginHandoff, BeginHandoff]


def test_a_range_that_nobody_reads_ends_without_having_read() -> None:
    """Goal: nothing of it counts, and its successor begins at the same offsets (P12, P15)."""
    even = pausing(at=0, must_end=True)
    seen = observed(bounded(), generations=(even, ODDS), tasks=(task(ODDS),))

    assert [type(a) for a in decided(seen) if not isinstance(a, StartTask)] == [CloseEmpty]


def test_a_range_whose_end_is_fixed_is_replaced_with_its_own_bounds() -> None:
    """Goal: what one replica kept of a fixed range, its replacement keeps (P15)."""
    seen = observed(
        bounded(),
        generations=(PUBLISHES, ODDS, generation(3, END)),
        tasks=(task(ODDS), task(generation(3, END))),
        workers=(worker(),),
        now=NOON + 9 * HOUR,
    )
    started = [a.generation_id for a in decided(seen) if isinstance(a, StartTask)]

    assert PUBLISHES.state is GenerationState.PUBLISHING
    assert started == [PUBLISHES.id]


def test_an_empty_range_that_was_resumed_before_gets_no_more_time() -> None:
    """Goal: ranges that an earlier version resumed for hours end after the upgrade."""
    even, odd, t1, t2 = reading()
    resumed = replace(even, timer_started_at=DUE)
    at_work = worker("w1", report(t1, EVEN), report(t2, ODD))
    young = replace(odd, opened_at=DUE, timer_started_at=DUE)
    seen = observed(
        bounded(), generations=(resumed, young), tasks=(t1, t2), workers=(at_work,), now=DUE
    )

    assert [a.generation_id for a in begun(seen)] == [even.id]


def test_what_was_read_is_published_and_the_successor_counts_anew() -> None:
    even = pausing(must_end=True)
    t1 = task(even)
    seen = observed(
        bounded(),
        generations=(even, ODDS),
        tasks=(t1, task(ODDS)),
        workers=(worker("w1", report(t1, END, TaskPhase.PAUSED, sequence=1)),),
        now=NOON + MINUTE,
    )
    [fix] = [a for a in decided(seen) if isinstance(a, FixEnd)]

    assert fix.successor is not None
    assert fix.successor.start == END
