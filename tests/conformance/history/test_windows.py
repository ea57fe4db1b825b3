"""Windows of events, ranges and operations: what the SQL finds is what the window means."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.history.operations import Operation, OperationKind
from supervisor.core.history.windows import EventWindow, RangeWindow
from supervisor.core.model.rows import GenerationState
from tests.conformance.stories import CLICKS, MINUTE, NOON, P0, Leader, end_at, opening

KINDS = EventKind.STATE_CHANGED, EventKind.TASK_STARTED, EventKind.GENERATION_OPENED
FACT = LifecycleEvent(NOON, EventKind.STATE_CHANGED, CLICKS)
_TIMES = st.none() | st.integers(0, 12).map(lambda minute: NOON + minute * MINUTE)
_WINDOWS = st.builds(
    EventWindow,
    supervisor_id=st.sampled_from([None, CLICKS, "other"]),
    kinds=st.frozensets(st.sampled_from(KINDS)),
    begin=_TIMES,
    end=_TIMES,
)


@given(_WINDOWS, st.integers(0, 13), st.integers(0, 13), st.integers(1, 13))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_events_of_a_window_are_those_that_it_admits(
    leader: Leader, window: EventWindow, before: int, down_to: int, limit: int
) -> None:
    """Goal: the list and the stream agree, for the one filters in SQL and the other by itself."""
    events = [
        replace(
            FACT,
            at=NOON + minute * MINUTE,
            kind=KINDS[minute % 3],
            supervisor_id=CLICKS if minute % 2 else "other",
        )
        for minute in range(12)
    ]
    with leader.reads() as tx:
        known = tx.happenings.newest()
    if not known:
        with leader.writes() as tx:
            for each in events:
                tx.happenings.record(each)

    with leader.reads() as tx:
        rows = tx.happenings.within(window, before, down_to, limit)

    expected = [
        number
        for number, each in sorted(enumerate(events, 1), reverse=True)
        if window.admits(each) and down_to < number < before
    ]
    assert [row.number for row in rows] == expected[:limit]


def test_the_time_of_a_number_is_that_of_the_newest_event_up_to_it(leader: Leader) -> None:
    with leader.writes() as tx:
        for minute in range(3):
            tx.happenings.record(replace(FACT, at=NOON + minute * MINUTE))
    with leader.reads() as tx:
        times = [tx.happenings.time_at(number) for number in (0, 1, 3, 99)]
    assert times == [None, NOON, NOON + 2 * MINUTE, NOON + 2 * MINUTE]


def test_ranges_are_found_by_group_state_and_time(leader: Leader) -> None:
    start, middle, end = {P0: 0}, {P0: 5}, {P0: 9}
    with leader.writes() as tx:
        tx.generations.open(CLICKS, CLICKS, opening("g1", 1, start), NOON)
        tx.generations.begin_handoff("g1", 0, must_end=False, why="", now=NOON + MINUTE)
        tx.generations.fix_end(end_at("g1", 1, middle), NOON + MINUTE)
        tx.generations.close("g1", GenerationState.DISCARDED, NOON + 2 * MINUTE)
        second = replace(opening("g2", 2, middle), group=1)
        tx.generations.open(CLICKS, CLICKS, second, NOON + 3 * MINUTE)
        tx.generations.begin_handoff("g2", 0, must_end=False, why="", now=NOON + 4 * MINUTE)
        tx.generations.fix_end(end_at("g2", 1, end), NOON + 4 * MINUTE)
        tx.generations.open(CLICKS, CLICKS, opening("g3", 3, end), NOON + 4 * MINUTE)
        tx.generations.open("other", "other", opening("o1", 1, start), NOON)

    def ids(window: RangeWindow, **bounds: int) -> list[str]:
        with leader.reads() as tx:
            return [each.id for each in tx.generations.page(CLICKS, 9, window=window, **bounds)]

    assert ids(RangeWindow()) == ["g3", "g2", "g1"]
    assert ids(RangeWindow(group=1)) == ["g2"]
    states = frozenset({GenerationState.DISCARDED, GenerationState.READING})
    assert ids(RangeWindow(states=states)) == ["g3", "g1"]
    assert ids(RangeWindow(begin=NOON + MINUTE)) == ["g3", "g2", "g1"]
    assert ids(RangeWindow(begin=NOON + 2 * MINUTE)) == ["g3", "g2"]
    assert ids(RangeWindow(end=NOON + 4 * MINUTE)) == ["g2", "g1"]
    assert ids(RangeWindow(), before=3, down_to=1) == ["g2"]


def test_operations_are_found_by_the_version_that_they_stored(leader: Leader) -> None:
    def stored(version: int | None, supervisor_id: str = CLICKS) -> Operation:
        return Operation(supervisor_id, OperationKind.APPLY, "alice", NOON, spec_version=version)

    with leader.writes() as tx:
        first, _, third, _ = (
            tx.operations.add(each)
            for each in (stored(1), stored(None), stored(3), stored(2, "other"))
        )

    with leader.reads() as tx:
        assert tx.operations.of_versions(CLICKS, range(1, 9)) == {1: first, 3: third}
        assert tx.operations.of_versions(CLICKS, [2]) == {}
