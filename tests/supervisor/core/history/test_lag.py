"""Lag in time, told from the ends of the log."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.history.lag import ENDS_KEPT, LogEnds, age_at, with_look
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import NOON

P = TopicPartition("clicks", 0)
SECOND = timedelta(seconds=1)


def looks(*ends: tuple[int, int]) -> list[LogEnds]:
    """Looks at (second, end)."""
    return [LogEnds(NOON + at * SECOND, {P: end}) for at, end in ends]


def test_a_record_is_as_old_as_the_moment_when_the_log_grew_beyond_it() -> None:
    history = looks((0, 100), (10, 200))
    assert age_at(history, P, 150, NOON + 30 * SECOND) == 25 * SECOND
    assert age_at(history, P, 100, NOON + 30 * SECOND) == 30 * SECOND


def test_who_has_read_all_is_not_behind() -> None:
    assert age_at(looks((0, 100), (10, 200)), P, 200, NOON + 99 * SECOND) == timedelta(0)


def test_what_was_there_before_the_first_look_has_no_known_age() -> None:
    assert age_at(looks((0, 100), (10, 200)), P, 99, NOON + 30 * SECOND) is None
    assert age_at([], P, 5, NOON) is None
    assert age_at(looks((0, 9)), TopicPartition("clicks", 1), 5, NOON) is None


_growth = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 500)), min_size=2, max_size=30)


def _history(growth: list[tuple[int, int]]) -> list[LogEnds]:
    second, end, log_ends = 0, 0, []
    for seconds, records in growth:
        second, end = second + seconds, end + records
        log_ends.append((second, end))
    return looks(*log_ends)


@given(_growth, st.data())
def test_the_age_lies_between_the_two_looks_that_saw_it_come(
    growth: list[tuple[int, int]], data: st.DataObject
) -> None:
    history = _history(growth)
    position = data.draw(st.integers(0, history[-1].ends[P]))
    now = history[-1].at + data.draw(st.integers(0, 100)) * SECOND
    age = age_at(history, P, position, now)
    beyond = [look.at for look in history if look.ends[P] > position]
    not_yet = [look.at for look in history if look.ends[P] <= position]
    if not beyond:
        assert age == timedelta(0)
    elif not not_yet:
        assert age is None
    else:
        assert age is not None
        assert now - beyond[0] <= age <= now - not_yet[-1]


@given(_growth, st.data())
def test_who_has_read_further_is_never_further_behind(
    growth: list[tuple[int, int]], data: st.DataObject
) -> None:
    history = _history(growth)
    one = data.draw(st.integers(0, history[-1].ends[P]))
    two = data.draw(st.integers(one, history[-1].ends[P]))
    ages = [age_at(history, P, at, history[-1].at) for at in (one, two)]
    if ages[0] is not None:
        assert ages[1] is not None
        assert ages[1] <= ages[0]


@given(st.integers(1, 1_500))
def test_the_history_is_bounded_and_keeps_its_first_look(count: int) -> None:
    history: tuple[LogEnds, ...] = ()
    for look in looks(*((second, second) for second in range(count))):
        history = with_look(history, look)
        history = with_look(history, look)  # the same look again adds nothing
    assert len(history) <= ENDS_KEPT
    assert (history[0].at, history[-1].at) == (NOON, NOON + (count - 1) * SECOND)
    newest = [look.at for look in history[-ENDS_KEPT // 2 :]]
    assert newest == sorted(set(newest))
