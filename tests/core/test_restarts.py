"""What a spec would do to what runs, in words."""

import pytest

from supervisor.core.changes import NO_CHANGES, Change, Changes, Effect
from supervisor.core.restarts import Restarts, restarts_of, told_of


def changes(effect: Effect) -> Changes:
    return Changes((Change("/spec/x", 1, 2, effect),))


TASKS, WHOLE, HOT = (
    changes(effect) for effect in (Effect.RESTART_TASKS, Effect.RESTART_SUPERVISOR, Effect.HOT)
)
GO_ON = "what was read; tasks with the new spec go on from there"


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
    assert restarts_of(found) is restarts


@pytest.mark.parametrize(
    ("found", "suspended", "groups", "said"),
    [
        (NO_CHANGES, False, 2, "nothing changes: the stored spec says the same"),
        (HOT, False, 2, "nothing that runs is stopped: the new values hold at once"),
        (
            TASKS,
            False,
            1,
            f"1 task group hands off and publishes {GO_ON}",
        ),
        (
            TASKS,
            False,
            2,
            f"2 task groups hand off and publish {GO_ON}",
        ),
        (TASKS, False, 0, "no task group reads now: the next ones have the new spec"),
        (TASKS, True, 0, "nothing reads, and nothing starts"),
        (
            WHOLE,
            True,
            2,
            "2 task groups hand off and publish what was read; nothing new starts",
        ),
        (WHOLE, False, 0, "the supervisor goes on where it stopped"),
    ],
)
def test_a_sentence_says_what_happens(
    found: Changes, suspended: bool, groups: int, said: str
) -> None:
    assert told_of(found, exists=True, suspended=suspended, groups=groups) == said


def test_a_new_supervisor_is_told_as_such() -> None:
    told = told_of(NO_CHANGES, exists=False, suspended=False, groups=0)
    assert told == "nothing runs under this id: a new supervisor would begin"
