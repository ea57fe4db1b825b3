"""The list of supervisors: filters, orders, totals, and pages that hold while rows change."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.history.lag import Lag
from supervisor.core.history.listing import (
    COLUMNS,
    ListedSupervisor,
    ListedVersion,
    ListFilter,
    ListOrder,
    Trend,
    page_of,
    trend_of,
)
from supervisor.core.planning.pass_summary import ReplicaCounts
from supervisor.core.planning.states import State, SupervisorState
from supervisor.core.values.errors import BadCursor, InvalidRequest
from supervisor.core.values.page_cursors import KeyedPlace, SortValue, write_keyed
from tests.supervisor.core.snapshots import MINUTE, NOON

SECOND = timedelta(seconds=1)
RUNNING = SupervisorState(State.RUNNING, "RUNNING", healthy=True)
FULL = SupervisorState(State.RUNNING, "NO_CAPACITY", healthy=True, why="no worker")
BROKEN = SupervisorState(State.UNHEALTHY_SUPERVISOR, "TOPIC_GONE", healthy=False, why="gone")
BY_ATTENTION = ListOrder()
EVERYTHING = ListFilter()


def row(
    name: str,
    lag: Lag | None = None,
    state: SupervisorState = RUNNING,
    table: str | None = None,
    stream: str | None = None,
) -> ListedSupervisor:
    """A row of the list."""
    newest = ListedVersion(name, 1, NOON, "ada", table or name, stream or name, suspended=False)
    return ListedSupervisor(newest, state, NOON, NOON, lag=lag or Lag(0, timedelta(0)))


def once(row: ListedSupervisor, records: int) -> ListedSupervisor:
    """The row of a supervisor that reads so many records once."""
    return replace(row, newest=replace(row.newest, bounded_records=records))


def behind(name: str, seconds: int | None, records: int | None = None) -> ListedSupervisor:
    return row(name, Lag(records, None if seconds is None else seconds * SECOND))


def ids(rows: list[ListedSupervisor], order: str, wanted: ListFilter = EVERYTHING) -> list[str]:
    page = page_of(rows, wanted, ListOrder.parse(order), 100, None)
    return [each.id for each in page.rows]


def test_what_needs_somebody_comes_first() -> None:
    """Goal: the unhealthy ones, then those furthest behind in time, then those in records."""
    rows = [
        behind("calm", 0, 0),
        behind("unknown", None, None),
        behind("many", None, 10),
        behind("old", 60, 5),
        row("broken", state=BROKEN),
        behind("older", 90, 5),
    ]

    assert ids(rows, "attention") == ["broken", "older", "old", "calm", "many", "unknown"]


def test_unknown_values_are_last_in_either_direction() -> None:
    rows = [behind("b", 5), behind("a", 5), behind("none", None), behind("c", 9)]

    assert ids(rows, "lagMillis") == ["a", "b", "c", "none"]
    assert ids(rows, "-lagMillis") == ["c", "a", "b", "none"], "equal ones by id, either way"


@pytest.mark.parametrize("column", COLUMNS)
def test_each_column_sorts_both_ways(column: str) -> None:
    """Goal: no column has values that cannot be compared, or have no place in a cursor."""
    full = replace(
        row("b", Lag(3, MINUTE), FULL),
        rows_per_second=1.5,
        replicas=ReplicaCounts(2, 1, 1),
        next_publish_due=NOON,
        last_published_at=NOON,
        bad_records=1,
    )
    rows = [full, row("a"), replace(full, newest=replace(full.newest, supervisor_id="c"))]
    for order in (column, f"-{column}"):
        first = page_of(rows, EVERYTHING, ListOrder.parse(order), 2, None)
        rest = page_of(rows, EVERYTHING, ListOrder.parse(order), 2, first.following)
        assert sorted(each.id for each in (*first.rows, *rest.rows)) == ["a", "b", "c"]
        assert rest.following is None


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(InvalidRequest, match=r"\[lagg\] is no column") as refused:
        ListOrder.parse("-lagg")
    assert "lagMillis" in refused.value.errors[0].hint


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (ListFilter(text="ORD"), ["orders-eu", "orders-us"]),
        (ListFilter(text="ord*us"), ["orders-us"]),
        (ListFilter(text="shop"), ["orders-eu"]),
        (ListFilter(states=frozenset({"RUNNING"})), ["clicks", "orders-us"]),
        (ListFilter(states=frozenset({"NO_CAPACITY", "TOPIC_GONE"})), ["orders-eu", "orders-us"]),
        (ListFilter(data_source="shop*"), ["orders-eu"]),
        (ListFilter(data_source="shop"), []),
        (ListFilter(topic="clicks"), ["clicks"]),
        (ListFilter(topic="eu-*"), ["orders-us"]),
        (ListFilter(healthy=False), ["orders-eu"]),
        (ListFilter(healthy=True, text="orders"), ["orders-us"]),
        (ListFilter(bounded=True), ["orders-eu"]),
        (ListFilter(bounded=False), ["clicks", "orders-us"]),
        (ListFilter(text="nowhere"), []),
    ],
)
def test_each_filter_holds_together_with_the_others(
    wanted: ListFilter, expected: list[str]
) -> None:
    rows = [
        row("clicks"),
        once(row("orders-eu", state=BROKEN, table="shop_eu"), records=5),
        replace(row("orders-us", state=FULL, stream="o.*"), topics=frozenset({"eu-1", "us-1"})),
    ]

    page = page_of(rows, wanted, ListOrder.parse("id"), 1, None)

    assert ids(rows, "id", wanted) == expected
    assert page.matching == len(expected)
    assert page.totals == {"RUNNING": 2, "UNHEALTHY_SUPERVISOR": 1}, "whatever the filter"


_LAGS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.none() | st.integers(0, 3))


@given(_LAGS, _LAGS, st.integers(1, 4), st.sampled_from(["lagMillis", "-lagMillis", "id", "-id"]))
def test_pages_show_each_row_that_keeps_its_place_exactly_once(
    before: dict[str, int | None], after: dict[str, int | None], limit: int, order: str
) -> None:
    """Goal: rows come, go and move between two pages; the others are neither lost nor repeated."""
    first = page_of(_rows(before), EVERYTHING, ListOrder.parse(order), limit, None)
    shown = [each.id for each in first.rows]
    following = first.following
    while following is not None:
        page = page_of(_rows(after), EVERYTHING, ListOrder.parse(order), limit, following)
        shown += [each.id for each in page.rows]
        following = page.following

    if first.following is None:
        assert sorted(shown) == sorted(before)
        return
    kept = before.keys() & after.keys()
    if "lag" in order:
        kept = {name for name in kept if before[name] == after[name]}
    for name in kept:
        assert shown.count(name) == 1, name
    assert set(shown) <= before.keys() | after.keys()


def _rows(lags: dict[str, int | None]) -> list[ListedSupervisor]:
    return [behind(name, seconds) for name, seconds in lags.items()]


@pytest.mark.parametrize("value", ["text", 5, 1.5, None, [1, 2], [1]])
def test_a_cursor_of_another_order_or_kind_is_refused(value: SortValue) -> None:
    """Goal: what a client makes up by itself is a problem, and never a crash."""
    rows = [row("a"), row("b")]
    other = write_keyed("supervisors by id", KeyedPlace(value, "a"))
    with pytest.raises(BadCursor):
        page_of(rows, EVERYTHING, BY_ATTENTION, 1, other)
    for column in ("attention", "id", "lagMillis"):
        forged = write_keyed(f"supervisors by {column}", KeyedPlace(value, "a"))
        try:
            page_of(rows, EVERYTHING, ListOrder.parse(column), 1, forged)
        except BadCursor:
            continue


@pytest.mark.parametrize(
    ("before", "now", "trend"),
    [
        (None, Lag(1, SECOND), None),
        (Lag(None, None), Lag(1, SECOND), None),
        (Lag(5, None), Lag(None, SECOND), None),
        (Lag(0, 0 * SECOND), Lag(9, 5 * SECOND), Trend.STEADY),
        (Lag(0, 0 * SECOND), Lag(9, 6 * SECOND), Trend.RISING),
        (Lag(9, 100 * SECOND), Lag(9, 110 * SECOND), Trend.STEADY),
        (Lag(9, 100 * SECOND), Lag(9, 112 * SECOND), Trend.RISING),
        (Lag(9, 112 * SECOND), Lag(9_000, 100 * SECOND), Trend.FALLING),
        (Lag(0, None), Lag(100, SECOND), Trend.STEADY),
        (Lag(0, SECOND), Lag(101, None), Trend.RISING),
        (Lag(5_000, None), Lag(4_600, None), Trend.STEADY),
        (Lag(5_000, None), Lag(4_000, None), Trend.FALLING),
    ],
)
def test_the_trend_is_of_time_where_it_is_known_and_noise_is_none(
    before: Lag | None, now: Lag, trend: Trend | None
) -> None:
    assert trend_of(before, now) is trend
