"""What a spec would do to what runs, in words."""

from dataclasses import replace

import pytest

from supervisor.core.planning.impact import Restarts, SpecImpact
from supervisor.core.spec.changes import NO_CHANGES, Change, Changes
from supervisor.core.spec.section import Effect
from tests.supervisor.core.snapshots import EVEN, generation


def changes(effect: Effect) -> Changes:
    return Changes((Change("/spec/x", 1, 2, effect),))


def ranges(ending: int = 0, staying: int = 0) -> SpecImpact:
    read = [generation(number, EVEN) for number in range(ending + staying)]
    return SpecImpact(ending=tuple(read[:ending]), staying=tuple(read[ending:]))


TASKS, WHOLE, HOT = (
    changes(effect) for effect in (Effect.RESTART_TASKS, Effect.RESTART_SUPERVISOR, Effect.HOT)
)
SOME_GO_ON = "what was read, 1 read on as they do; tasks with the new spec go on from there"
AT_ONCE = "the new values hold at once"
GO_ON = "what was read; tasks with the new spec go on from there"
NOTHING = f"nothing that runs is stopped: {AT_ONCE}"


@pytest.mark.parametrize(
    ("found", "restarts"),
    [
        (NO_CHANGES, Restarts.NONE),
        (HOT, Restarts.NONE),
        (WHOLE, Restarts.SUPERVISOR),
        (TASKS, Restarts.TASKS),
        (Changes((*HOT.fields, *TASKS.fields, *WHOLE.fields)), Restarts.TASKS),
    ],
)
def test_the_strongest_change_counts(found: Changes, restarts: Restarts) -> None:
    for each in (ranges(), ranges(ending=2)):
        assert replace(each, changes=found).restarts is restarts


@pytest.mark.parametrize("found", [HOT, WHOLE, TASKS])
def test_where_all_that_is_read_is_read_on_nothing_restarts(found: Changes) -> None:
    """Goal: taskCount 16 over 4 partitions is what taskCount 8 was, and is told as that."""
    assert replace(ranges(staying=2), changes=found).restarts is Restarts.NONE


@pytest.mark.parametrize(
    ("changes", "suspended", "read", "summary"),
    [
        (NO_CHANGES, False, ranges(staying=2), "nothing changes: the stored spec says the same"),
        (HOT, False, ranges(staying=2), NOTHING),
        (TASKS, False, ranges(staying=2), NOTHING),
        (WHOLE, False, ranges(staying=2), NOTHING),
        (
            HOT,
            False,
            ranges(ending=1),
            f"{AT_ONCE}; for earlier changes 1 task group hands off and publishes what was read",
        ),
        (TASKS, False, ranges(ending=1), f"1 task group hands off and publishes {GO_ON}"),
        (TASKS, False, ranges(ending=2), f"2 task groups hand off and publish {GO_ON}"),
        (
            TASKS,
            False,
            ranges(ending=2, staying=1),
            f"2 task groups hand off and publish {SOME_GO_ON}",
        ),
        (TASKS, False, ranges(), "no task group reads now: the next ones have the new spec"),
        (TASKS, True, ranges(), "nothing reads, and nothing starts"),
        (
            WHOLE,
            True,
            ranges(ending=2),
            "2 task groups hand off and publish what was read; nothing new starts",
        ),
        (WHOLE, False, ranges(), "the supervisor goes on where it stopped"),
    ],
)
def test_a_sentence_says_what_happens(
    changes: Changes, suspended: bool, read: SpecImpact, summary: str
) -> None:
    assert replace(read, changes=changes, suspended=suspended).summary == summary


def test_ranges_that_publish_anyway_are_no_groups_that_hand_off() -> None:
    """Goal: the number that is told is that of ranges which end for the change."""
    publishes = replace(ranges(), fixed=(generation(1, EVEN, EVEN),))
    impact = replace(publishes, changes=WHOLE, suspended=True)

    assert impact.summary == "nothing reads, and nothing starts"


def test_a_new_supervisor_is_told_as_such() -> None:
    impact = SpecImpact(is_new=True)
    assert impact.summary == "nothing runs under this id: a new supervisor would begin"
