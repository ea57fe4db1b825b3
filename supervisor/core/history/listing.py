"""The list of supervisors: filtered, sorted, counted by state and cut into pages; pure.

rows that the caller may read ──► counts per state
        └──► filter ──► sort by one column, then by id ──► behind the cursor ──► a page

The place of a page is the value and the id of the last row before it.  So a supervisor that keeps
its value is in exactly one page, whatever is added, removed or moved meanwhile.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from supervisor.core.history.lag import UNKNOWN_LAG, Lag
from supervisor.core.planning.pass_summary import (
    NO_REPLICAS,
    LastError,
    ReplicaCounts,
)
from supervisor.core.planning.states import SupervisorState
from supervisor.core.values.errors import BadCursor, FieldError, InvalidRequest
from supervisor.core.values.page_cursors import KeyedPlace, SortValue, read_keyed, write_keyed
from tasks.contract.patterns import matches

LIST = "supervisors"
TREND_SPAN = timedelta(minutes=15)
"""The time over which the trend of a lag is measured."""
TREND_SHARE = 0.1
"""A lag that changes by no more than this share of itself is steady."""
TREND_AGE = timedelta(seconds=5)
"""A lag in time that changes by no more than this is steady."""
TREND_RECORDS = 100
"""A lag in records that changes by no more than this is steady."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MS = timedelta(milliseconds=1)


class Trend(StrEnum):
    """How a lag has changed over `TREND_SPAN`."""

    RISING = "rising"
    STEADY = "steady"
    FALLING = "falling"


def trend_of(before: Lag | None, now: Lag) -> Trend | None:
    """Return the trend, by the lag in time where both are known, else by records; None: unknown."""
    if before is None:
        return None
    if before.age is not None and now.age is not None:
        then_s, now_s = before.age.total_seconds(), now.age.total_seconds()
        return _trend(then_s, now_s, TREND_AGE.total_seconds())
    if before.records is not None and now.records is not None:
        return _trend(before.records, now.records, TREND_RECORDS)
    return None


def _trend(before: float, now: float, least: float) -> Trend:
    if abs(now - before) <= max(least, TREND_SHARE * max(before, now)):
        return Trend.STEADY
    return Trend.RISING if now > before else Trend.FALLING


@dataclass(frozen=True)
class ListedVersion:
    """What the newest version of a spec says of its supervisor."""

    supervisor_id: str
    version: int
    created_at: datetime
    author: str
    data_source: str | None
    """None: this release cannot read the spec, and it has no table at the usual place."""
    stream: str | None
    """The topic, or the pattern of topics; None: as for `data_source`."""
    suspended: bool
    bounded_records: int | None = None
    """Records of the fixed ranges that it reads once; None: it reads for ever."""


@dataclass(frozen=True)
class ListedSupervisor:
    """One row of the list; None is what this leader does not know yet."""

    newest: ListedVersion
    state: SupervisorState
    since: datetime | None
    """When the state was first seen."""
    observed_at: datetime | None
    """When the last good pass looked; None: there was none, and `state` is from rows alone."""
    topics: frozenset[str] = frozenset()
    """The topics with committed offsets."""
    lag: Lag = UNKNOWN_LAG
    lag_at: datetime | None = None
    """When the look at Kafka began that the lag is of; None: the lag is not known, or it is none
    whatever Kafka holds."""
    trend: Trend | None = None
    headroom: timedelta | None = None
    """The least time, of all partitions, until Kafka deletes what is not published."""
    rows_per_second: float | None = None
    groups: Mapping[str, int] | None = None
    """State of a range -> number of live ranges in it."""
    replicas: ReplicaCounts | None = None
    next_publish_due: datetime | None = None
    last_published_at: datetime | None = None
    last_error: LastError | None = None
    warnings: tuple[str, ...] = ()
    bad_records: int | None = None
    """Bad records of the live ranges."""
    bounded_left: int | None = None
    """Records of the fixed ranges that are not published yet."""

    @property
    def id(self) -> str:
        """The supervisor's id."""
        return self.newest.supervisor_id


def finished_row(
    newest: ListedVersion,
    state: SupervisorState,
    since: datetime | None,
    last_published_at: datetime | None,
) -> ListedSupervisor:
    """Return the row of a supervisor at rest, which no pass looks at.

    It has read all that it names, and nothing of it runs.
    """
    return ListedSupervisor(
        newest,
        state,
        since,
        observed_at=None,
        lag=Lag(0, timedelta(0)),
        rows_per_second=0.0,
        groups={},
        replicas=NO_REPLICAS,
        last_published_at=last_published_at,
        bad_records=0,
        bounded_left=None if newest.bounded_records is None else 0,
    )


# -- filter ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ListFilter:
    """Which rows are wanted; each condition that is given has to hold.

    `*` in a text stands for any signs.
    """

    text: str | None = None
    """A part of the id, of the table or of the stream, in any case."""
    states: frozenset[str] = frozenset()
    """States or detailed states, in capitals; empty: any."""
    data_source: str | None = None
    topic: str | None = None
    healthy: bool | None = None
    bounded: bool | None = None
    """Whether it reads fixed ranges once."""

    def fits(self, row: ListedSupervisor) -> bool:
        """Return whether a row is wanted."""
        stream, table = row.newest.stream, row.newest.data_source
        if self.states and self.states.isdisjoint({row.state.state, row.state.detailed}):
            return False
        if self.healthy is not None and row.state.healthy is not self.healthy:
            return False
        if self.bounded is not None and (row.newest.bounded_records is not None) != self.bounded:
            return False
        if self.data_source is not None and not matches_one(self.data_source, (table,)):
            return False
        if self.topic is not None and not matches_one(self.topic, (stream, *row.topics)):
            return False
        return self.text is None or has_text(self.text, (row.id, table, stream))


def has_text(text: str, names: Iterable[str | None]) -> bool:
    """Return whether a name has a text as a part, in any case; `*` stands for any signs."""
    part = text.lower() if "*" in text else f"*{text.lower()}*"
    return matches_one(part, [each.lower() for each in names if each])


def matches_one(pattern: str, names: Iterable[str | None]) -> bool:
    """Return whether a name is as a pattern has it, where `*` stands for any signs."""
    return any(matches(pattern, name) for name in names if name is not None)


# -- order -----------------------------------------------------------------------------------------


def _millis(row: ListedSupervisor) -> int | None:
    return None if row.lag.age is None else row.lag.age // _MS


def _moment(of: datetime | None) -> int | None:
    return None if of is None else (of - _EPOCH) // _MICROSECOND


def _attention(row: ListedSupervisor) -> list[int]:
    """Unhealthy ones first, then those that are furthest behind in time, then in records."""
    unknown = -1
    millis, records = _millis(row), row.lag.records
    return [
        1 if row.state.healthy else 0,
        -(unknown if millis is None else millis),
        -(unknown if records is None else records),
    ]


ATTENTION = "attention"
COLUMNS: Mapping[str, Callable[[ListedSupervisor], SortValue]] = MappingProxyType(
    {
        ATTENTION: _attention,
        "id": lambda row: row.id,
        "dataSource": lambda row: row.newest.data_source,
        "stream": lambda row: row.newest.stream,
        "state": lambda row: str(row.state.state),
        "detailedState": lambda row: row.state.detailed,
        "since": lambda row: _moment(row.since),
        "version": lambda row: row.newest.version,
        "versionAt": lambda row: _moment(row.newest.created_at),
        "versionBy": lambda row: row.newest.author,
        "lagRecords": lambda row: row.lag.records,
        "lagMillis": _millis,
        "headroomMillis": lambda row: None if row.headroom is None else row.headroom // _MS,
        "rowsPerSecond": lambda row: row.rows_per_second,
        "pending": lambda row: None if row.replicas is None else row.replicas.pending,
        "nextPublishDue": lambda row: _moment(row.next_publish_due),
        "lastPublishedAt": lambda row: _moment(row.last_published_at),
        "badRecords": lambda row: row.bad_records,
    }
)
"""Name -> the value of a row in the column by which a list can be sorted."""


@dataclass(frozen=True)
class ListOrder:
    """The column by which a list is sorted; unknown values are last in either direction."""

    column: str = ATTENTION
    descending: bool = False

    @classmethod
    def parse(cls, text: str) -> "ListOrder":
        """Return the order that a name says; `-` before it: the highest value first.

        Raises:
            InvalidRequest: there is no such column.
        """
        name = text.removeprefix("-")
        if name not in COLUMNS:
            hint = f"one of {', '.join(COLUMNS)}; -lagMillis: the highest value first"
            raise InvalidRequest([FieldError("/query/sort", f"[{name}] is no column", hint)])
        return cls(name, descending=text != name)

    @property
    def list_name(self) -> str:
        """The name of the list in this order, for its cursors."""
        return f"{LIST} by {'-' if self.descending else ''}{self.column}"

    def place_of(self, row: ListedSupervisor) -> KeyedPlace:
        """Return the place of a row."""
        return KeyedPlace(COLUMNS[self.column](row), row.id)

    def sorted(self, rows: Iterable[ListedSupervisor]) -> list[ListedSupervisor]:
        """Return rows in this order; those with equal values by id."""
        value = COLUMNS[self.column]
        by_id = sorted(rows, key=lambda row: row.id)
        known = [(value(row), row) for row in by_id]
        rest = [row for found, row in known if found is None]
        known = [pair for pair in known if pair[0] is not None]
        known.sort(key=lambda pair: _comparable(pair[0]), reverse=self.descending)
        return [row for _, row in known] + rest

    def is_behind(self, row: KeyedPlace, place: KeyedPlace) -> bool:
        """Return whether a row is behind a place."""
        if row.value == place.value:
            return row.row_id > place.row_id
        if row.value is None or place.value is None:
            return row.value is None
        mine, other = _comparable(row.value), _comparable(place.value)
        return mine < other if self.descending else mine > other


def _comparable(value: SortValue) -> tuple[str | int | float, ...]:
    """Return a value that can be compared with others of its column."""
    assert value is not None
    return tuple(value) if isinstance(value, list) else (value,)


# -- pages -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ListedPage:
    """One page of the list."""

    rows: Sequence[ListedSupervisor]
    totals: Mapping[str, int] = field(default_factory=dict)
    """State -> number of supervisors that the caller may read, whatever the filter."""
    matching: int = 0
    """Rows of all pages together."""
    following: str | None = None
    """The cursor of the next page; None: there is none."""


def page_of(
    readable: Sequence[ListedSupervisor],
    wanted: ListFilter,
    order: ListOrder,
    limit: int,
    cursor: str | None,
) -> ListedPage:
    """Return a page of the rows that the caller may read.

    Raises:
        BadCursor: the cursor is of another list, or of another order.
    """
    place = read_keyed(order.list_name, cursor)
    fitting = order.sorted(row for row in readable if wanted.fits(row))
    left = fitting
    if place is not None:
        try:
            left = [row for row in fitting if order.is_behind(order.place_of(row), place)]
        except TypeError:  # a value of another kind than the column's
            raise BadCursor(order.list_name) from None
    shown = left[:limit]
    more = len(left) > len(shown)
    return ListedPage(
        rows=shown,
        totals=dict(sorted(Counter(str(row.state.state) for row in readable).items())),
        matching=len(fitting),
        following=write_keyed(order.list_name, order.place_of(shown[-1])) if more else None,
    )
