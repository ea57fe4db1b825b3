"""What becomes of live ranges under a version of the spec, by the planner's own rules."""

from dataclasses import replace

from supervisor.core.planning.actions import BeginHandoff
from supervisor.core.planning.impact import Restarts, SpecImpact, judge_change, on_live_ranges
from supervisor.core.planning.observed import Observed
from supervisor.core.spec.changes import Change, Changes
from supervisor.core.spec.section import Effect
from tests.supervisor.core.snapshots import (
    EVEN,
    FOLLOWS,
    ODD,
    ODDS,
    PUBLISHES,
    decided,
    generation,
    observed,
    other_spec,
    pausing,
    reading,
    report,
    spec,
    worker,
)

ROWS = (PUBLISHES, ODDS, FOLLOWS)


def rows(seen: Observed) -> SpecImpact:
    """Only rows count: who runs what is not looked at."""
    change = judge_change(seen.current, seen.current.spec)
    return on_live_ranges(change, replace(seen, tasks=(), workers=()))


def for_other_tasks(impact: SpecImpact) -> SpecImpact:
    """Return the impact of a version that asks for other tasks than the one before."""
    changes = Changes((Change("/spec/x", 1, 2, Effect.RESTART_TASKS),))
    return replace(impact, changes=changes)


def ids(*generations: object) -> list[str]:
    return [getattr(generation, "id", "") for generation in generations]


def test_what_fits_is_read_on_and_its_predecessor_is_waited_for_by_nobody() -> None:
    impact = rows(observed(spec(), version=3, older={1: spec()}, generations=ROWS))

    assert ids(*impact.staying) == ids(ODDS, FOLLOWS)
    assert (impact.ending, impact.leaving, impact.is_complete) == ((), (), True)
    assert for_other_tasks(impact).restarts is Restarts.NONE
    assert not for_other_tasks(impact).needs_passes


def test_what_does_not_fit_ends_and_its_predecessor_has_to_publish_before() -> None:
    impact = rows(observed(other_spec(), version=2, older={1: spec()}, generations=ROWS))

    assert ids(*impact.ending) == ids(ODDS, FOLLOWS)
    assert list(impact.leaving) == ids(PUBLISHES, ODDS, FOLLOWS)
    assert for_other_tasks(impact).restarts is Restarts.TASKS
    assert impact.needs_passes


def test_a_range_that_publishes_and_that_none_follows_is_waited_for() -> None:
    """Goal: who resumes a supervisor at rest hears when all of it is in the table."""
    impact = rows(observed(spec(), version=3, older={1: spec()}, generations=(PUBLISHES, ODDS)))

    assert list(impact.leaving) == ids(PUBLISHES)
    assert for_other_tasks(impact).needs_passes, "its successor is to be opened"
    assert not impact.needs_passes


def test_a_pause_that_has_to_end_is_not_taken_back() -> None:
    taken_back = observed(
        spec(), version=3, older={1: spec()}, generations=(pausing(must_end=True), ODDS)
    )
    impact = rows(taken_back)

    assert ids(*impact.ending) == ids(pausing())
    assert ids(*rows(replace(taken_back, generations=(pausing(), ODDS))).staying) == ids(
        pausing(), ODDS
    )


def test_a_suspended_or_terminated_supervisor_ends_all_that_is_read() -> None:
    for seen in (
        observed(spec(suspended=True), version=2, older={1: spec()}, generations=ROWS),
        observed(terminated=True, version=2, older={1: spec()}, generations=ROWS),
    ):
        assert ids(*rows(seen).ending) == ids(ODDS, FOLLOWS)


def test_without_offsets_the_first_range_is_still_to_come() -> None:
    impact = rows(observed(spec(), stored={}))

    assert impact == SpecImpact()
    assert for_other_tasks(impact).needs_passes


def test_what_is_foreseen_is_what_the_planner_begins() -> None:
    """Goal: one rule; who asks beforehand is told what the next pass does."""
    even, odd, t1, t2 = reading()
    at_work = worker("w1", report(t1, EVEN), report(t2, ODD))
    for wanted in (spec(), spec(4), spec(1), other_spec(), spec(suspended=True), spec(2, 2)):
        seen = observed(
            wanted,
            version=2,
            older={1: spec()},
            generations=(even, odd),
            tasks=(t1, t2),
            workers=(at_work,),
        )
        begun = [a.generation_id for a in decided(seen) if isinstance(a, BeginHandoff)]
        assert ids(*rows(seen).ending) == begun


def test_more_groups_than_partitions_are_the_same_groups() -> None:
    """Goal: taskCount 8 -> 16 over 4 partitions ends nothing."""
    four = tuple(
        generation(n + 1, {p: 0}, group=n, task_count=4)
        for n, p in enumerate(sorted({**EVEN, **ODD}))
    )
    impact = rows(observed(spec(16), version=2, older={1: spec(8)}, generations=four))

    assert ids(*impact.staying) == ids(*four)
    assert not for_other_tasks(impact).needs_passes


def test_a_first_version_and_a_tombstone_are_not_fulfilled_at_once() -> None:
    stored = observed(spec()).current

    assert judge_change(None, spec()).needs_passes
    assert judge_change(stored, None).needs_passes
    assert not judge_change(stored, spec()).needs_passes
