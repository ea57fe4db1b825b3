"""Where the next page of tasks goes on, and which tasks a text finds."""

from dataclasses import replace
from datetime import timedelta

from supervisor.core.model.task_query import BEHIND_ALL, TaskPlace, TaskQuery, place_behind
from tests.conformance.stories import NOON, attempt

BEFORE = NOON - timedelta(minutes=1)


def test_it_goes_on_behind_the_time_that_was_looked_up_to() -> None:
    assert place_behind([], BEFORE, None) == TaskPlace(BEFORE, BEHIND_ALL)
    assert place_behind([attempt("t1")], BEFORE, None) == TaskPlace(BEFORE, BEHIND_ALL)


def test_of_the_same_time_it_goes_on_behind_what_was_shown() -> None:
    shown = [attempt("t2"), attempt("t1")]

    assert place_behind(shown, NOON, None) == TaskPlace(NOON, "t1")


def test_a_place_never_goes_back() -> None:
    before = TaskPlace(BEFORE, "t5")

    assert place_behind([], BEFORE - timedelta(seconds=1), before) == TaskPlace(
        BEFORE - timedelta(seconds=1), BEHIND_ALL
    )
    assert place_behind([], BEFORE, before) is None, "all that was looked at is of one time"


def test_a_text_finds_what_is_shown_in_upper_or_lower_case() -> None:
    task = replace(attempt("Index_a"), worker_id="w-1", reason="Broker is AWAY")

    finds = {text: TaskQuery(text=text).shows_text(task) for text in ("INDEX", "W-1", "away", "no")}

    assert finds == {"INDEX": True, "W-1": True, "away": True, "no": False}
    assert TaskQuery().shows_text(task)
