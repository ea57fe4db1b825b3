"""ISO 8601 periods in SQL: round a time down or up to a period, or shift it by periods.

Buckets without an origin begin with the calendar: years on 1 January, months on the first, weeks on
Monday, days at midnight; hours, minutes and seconds at full ones.  All other periods are counted
from the origin, by default 1970-01-01T00:00 of the zone.  Years to days follow the zone's calendar,
with days of 23 and 25 hours; hours and shorter parts are exact lengths of time.

Source: Druid's `PeriodGranularity` and Joda's chronologies.  Where those miscount (hours before
1970 or in zones east of Greenwich, mixed periods before the origin), the rule above holds instead.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tasks.rows.time.zones import DAY, FIRST, LAST, SECOND, Zone, bounded, let, read_zone

_MILLI = 1_000
_HOUR, _MINUTE = 3_600 * SECOND, 60 * SECOND
_MONDAY = 4 * DAY
"""1970-01-05."""

_YEARS_MAX = 10_000
_MONTHS_MAX = 12 * _YEARS_MAX
_MICROS_MAX = _YEARS_MAX * 366 * DAY

_FORM = re.compile(
    r"P(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?"
    r"(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})(?:[.,]([0-9]{1,3}))?S)?)?",
    re.IGNORECASE,
)
_WRITE = "write a period of ISO 8601 such as PT15M, P1D or P1M"


class PeriodError(ValueError):
    """A period or origin that cannot be used; `message` says why, `fix` what to write."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}; {fix}")
        self.message = message
        self.fix = fix


@dataclass(frozen=True, kw_only=True)
class Period:
    """A period by its written parts; no part is negative, at least one is not zero."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: int = 0
    millis: int = 0

    @property
    def all_months(self) -> int:
        """Years and months together, in months."""
        return self.years * 12 + self.months

    @property
    def all_days(self) -> int:
        """Weeks and days together, in days."""
        return self.weeks * 7 + self.days

    @property
    def exact_micros(self) -> int:
        """Hours and shorter parts together, in microseconds."""
        parts = self.hours * _HOUR + self.minutes * _MINUTE + self.seconds * SECOND
        return parts + self.millis * _MILLI

    @property
    def parts(self) -> int:
        """The number of parts that are not zero."""
        own = (self.years, self.months, self.weeks, self.days)
        return sum(map(bool, (*own, self.hours, self.minutes, self.seconds, self.millis)))

    @property
    def first_local(self) -> int:
        """The wall clock, in microseconds, from which days are counted without an origin.

        One week begins on Monday; all else is counted from 1970-01-01, a Thursday.
        """
        return _MONDAY if self.parts == 1 and self.weeks == 1 else 0

    @property
    def on_the_clock(self) -> bool:
        """Whether its buckets begin at full hours, minutes etc. if there is no origin."""
        if self.exact_micros not in {_HOUR, _MINUTE, SECOND, _MILLI}:
            return False
        single = self.parts == 1 and 1 in {self.hours, self.minutes, self.seconds}
        return single or self.millis == 1


def read_period(text: str) -> Period:
    """Parse a period of ISO 8601, down to milliseconds.

    Raises:
        PeriodError: the text is no period, or it is zero, negative or longer than 10,000 years.
    """
    shown = repr(text[:40])
    if "-" in text:
        raise PeriodError(f"{shown} is negative, or no period", _WRITE)
    match = _FORM.fullmatch(text.strip())
    if match is None or text.strip()[-1] in "pPtT":
        raise PeriodError(f"{shown} is no period", _WRITE)
    *whole, fraction = match.groups()
    counts = [int(count or 0) for count in whole]
    named = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
    millis = int((fraction or "").ljust(3, "0"))
    period = Period(**dict(zip(named, counts, strict=True)), millis=millis)
    if not period.parts:
        raise PeriodError(f"{shown} has no length", _WRITE)
    long = period.all_days * DAY + period.exact_micros
    if period.all_months > _MONTHS_MAX or long > _MICROS_MAX:
        raise PeriodError(f"{shown} is longer than 10,000 years", "write a shorter one")
    return period


def floor_sql(
    time: str, period: Period, *, zone: str = "UTC", origin: datetime | None = None
) -> str:
    """Return the SQL TIMESTAMP at which the bucket of the SQL TIMESTAMP `time` begins.

    Null where that is before year 1.

    Raises:
            ZoneError: `zone` is not a time zone.
            PeriodError: this zone or this origin has no defined buckets of the period.
    """
    return _rounded(time, _buckets(period, read_zone(zone), origin).floor)


def ceil_sql(
    time: str, period: Period, *, zone: str = "UTC", origin: datetime | None = None
) -> str:
    """Return the SQL TIMESTAMP of the first bucket that does not begin before `time`.

    Null where that is after year 9999.

    Raises:
            ZoneError: `zone` is not a time zone.
            PeriodError: this zone or this origin has no defined buckets of the period.
    """
    return _rounded(time, _buckets(period, read_zone(zone), origin).ceil)


def tile_sql(
    time: str, period: Period, *, zone: str = "UTC", origin: datetime | None = None
) -> str:
    """Return the SQL of the begin of a time's tile, in microseconds since 1970.

    Tiles are the buckets of `floor_sql`, made to cover time without a gap or an overlap: each ends
    where the next begins.  They differ from buckets at clock changes: of a midnight that occurs
    twice the first counts; a skipped midnight is the moment after the change; the rest of an hour
    after a change of less than an hour belongs to the tile before.  None begins before year 1.

    Raises:
        ZoneError: `zone` is not a time zone.
        PeriodError: this zone or this origin has no defined buckets of the period.
    """
    tile = let("t", f"unix_micros({time})", _tile(period, read_zone(zone), origin))
    return f"greatest({tile}, {FIRST})"


def shift_sql(time: str, period: Period, step: str, *, zone: str = "UTC") -> str:
    """Return the SQL TIMESTAMP that lies `step` (SQL of a whole number) periods after `time`.

    The parts are added one after the other, the longest first; a day that a month lacks becomes
    its last.  Null outside the years 1 to 9999.

    Raises:
        ZoneError: `zone` is not a time zone.
    """
    place = read_zone(zone)
    moved = "v.t"
    for months in (period.years * 12, period.months):
        if months:
            moved = _moved(place, moved, _add_months("l", f"CAST(v.n * {months} AS INT)"))
    for days in (period.weeks * 7, period.days):
        if days:
            moved = _moved(place, moved, f"l + v.n * {days * DAY}")
    if period.exact_micros:
        moved = f"{moved} + v.n * {period.exact_micros}"
    # Within this bound no product overflows; beyond it the result is outside our years anyway.
    exact = period.all_days * DAY + period.exact_micros
    most = min(_MONTHS_MAX // max(period.all_months, 1), _MICROS_MAX // max(exact, 1))
    body = f"CASE WHEN v.n = 0 THEN v.t WHEN v.n BETWEEN -{most} AND {most} THEN {moved} END"
    given = f"struct(unix_micros({time}) AS t, CAST({step} AS BIGINT) AS n)"
    return bounded(let("v", given, body))


@dataclass(frozen=True)
class _Buckets:
    """SQL over `t`, the instant: the begin of its bucket, and the first begin not before `t`."""

    floor: str
    ceil: str


def _rounded(time: str, body: str) -> str:
    return bounded(let("t", f"unix_micros({time})", body))


def _tile(period: Period, zone: Zone, origin: datetime | None) -> str:
    floor = _buckets(period, zone, origin).floor
    if zone.offset is not None:
        return floor
    start = None if origin is None else _micros(origin)
    if period.all_months:
        return _from_origin_by_months(period.all_months, zone, start).floor
    if period.all_days:
        local = str(period.first_local) if start is None else _local_origin(zone, start)
        return _from_origin_by_days(period.all_days, zone, local).floor
    return _on_the_clock(period, zone) if start is None and period.on_the_clock else floor


def _buckets(period: Period, zone: Zone, origin: datetime | None) -> _Buckets:
    """Choose the way of counting; see the docstring of the module."""
    if origin is not None and origin.tzinfo is None:
        raise PeriodError("the origin has no time zone", "write it with Z or an offset")
    start = None if origin is None else _micros(origin)
    months, days, exact = period.all_months, period.all_days, period.exact_micros
    if months and (days or exact):
        raise PeriodError(
            "months and days in one period have no fixed place in the calendar",
            "use either years and months, or weeks, days and hours",
        )
    if days and exact and zone.offset is None:
        raise PeriodError(
            f"days and hours in one period have no fixed place in {zone.id}, where days differ "
            "in length",
            "use UTC or an offset such as +05:30, or a period of days alone or of hours alone",
        )
    if period.parts == 1 and start is None and 1 in {months, days, period.years, period.weeks}:
        return _calendar(period, zone)
    if months:
        return _from_origin_by_months(months, zone, start)
    if days and not exact:
        return _from_origin_by_days(days, zone, _local_origin(zone, start))
    return _exact(period, zone, start)


def _exact(period: Period, zone: Zone, start: int | None) -> _Buckets:
    length = period.all_days * DAY + period.exact_micros
    rest = f"pmod(t - {_origin(zone, start)}, {length})"
    if start is None and period.on_the_clock:  # the wall clock of that moment
        rest = f"pmod({zone.local('t')}, {length})"
    return _Buckets(
        f"t - {rest}", let("r", rest, f"CASE WHEN r = 0 THEN t ELSE t - r + {length} END")
    )


def _on_the_clock(period: Period, zone: Zone) -> str:
    """Return the last moment up to `t` with a full hour, minute or second on the clock."""
    length = period.exact_micros
    # First by the offset at `t`; if the clock had another offset at that moment, one step earlier.
    before = f"CASE WHEN {zone.local('b')} - b = o THEN b ELSE b - {length} END"
    before = let("b", f"t - pmod(t + o, {length})", before)
    body = let("o", f"{zone.local('c')} - c", f"CASE WHEN o = l - t THEN c ELSE {before} END")
    return let("l", zone.local("t"), let("c", f"t - pmod(l, {length})", body))


def _calendar(period: Period, zone: Zone) -> _Buckets:
    """Return the buckets of one year, month, week or day."""
    if period.all_days:
        length = period.all_days * DAY
        begin = f"l - pmod(l - {period.first_local}, {length})"
        following = f"b + {length}"
    else:
        unit = "YEAR" if period.years else "MONTH"
        begin = f"unix_micros(date_trunc('{unit}', timestamp_micros(l)))"
        following = _add_months("b", str(period.all_months))
    # Midnight may occur twice; then the one with the offset of `t` counts, if there is one.
    floor = zone.instant("b")
    if zone.offset is None:
        floor = f"CASE WHEN {zone.local('t - (l - b)')} = b THEN t - (l - b) ELSE {floor} END"
    up = let("f", floor, f"CASE WHEN f = t THEN t ELSE {zone.instant(following)} END")

    def with_begin(body: str) -> str:
        return let("l", zone.local("t"), let("b", begin, body))

    return _Buckets(with_begin(floor), with_begin(up))


def _from_origin_by_days(days: int, zone: Zone, origin: str) -> _Buckets:
    """Count days from `origin`, SQL of a wall clock."""
    length = days * DAY
    base = f"l - pmod(l - {origin}, {length})"
    return _nearest(zone, base, lambda number: f"b + {number * length}")


def _from_origin_by_months(months: int, zone: Zone, start: int | None) -> _Buckets:
    origin = _local_origin(zone, start)
    apart = f"({_month_of('l')} - {_month_of(origin)})"
    base = f"{apart} - pmod({apart}, {months})"
    return _nearest(
        zone, base, lambda number: _add_months(origin, f"CAST(b + {number * months} AS INT)")
    )


def _nearest(zone: Zone, base: str, boundary: Callable[[int], str]) -> _Buckets:
    """Choose among the boundaries around `t`, as instants: `boundary(0)` is the nearest by local.

    A clock change may skip a boundary or repeat it; hence the neighbours.
    """
    at = {number: zone.instant(boundary(number)) for number in range(-1, 3)}
    floor = f"CASE WHEN {at[1]} <= t THEN {at[1]} WHEN {at[0]} <= t THEN {at[0]} ELSE {at[-1]} END"
    ceil = f"CASE WHEN {at[0]} >= t THEN {at[0]} WHEN {at[1]} >= t THEN {at[1]} ELSE {at[2]} END"

    def with_base(body: str) -> str:
        return let("l", zone.local("t"), let("b", base, body))

    return _Buckets(with_base(floor), with_base(ceil))


def _moved(zone: Zone, instant: str, local: str) -> str:
    """Return the SQL of a computation with the wall clock, `l`."""
    return let("l", zone.local(instant), zone.instant(f"({local})"))


def _add_months(local: str, months: str) -> str:
    """Add months to a wall clock; a day that the month lacks becomes its last."""
    date = f"add_months(CAST(timestamp_micros({local}) AS DATE), {months})"
    return f"(CAST(unix_date({date}) AS BIGINT) * {DAY} + pmod({local}, {DAY}))"


def _month_of(local: str) -> str:
    moment = f"timestamp_micros({local})"
    return f"(CAST(year({moment}) AS BIGINT) * 12 + month({moment}))"


def _origin(zone: Zone, start: int | None) -> str:
    """Return the SQL of the origin; texts of constants, which Spark computes once per query."""
    return zone.instant("0L") if start is None else f"({start}L)"


def _local_origin(zone: Zone, start: int | None) -> str:
    return "0L" if start is None else zone.local(f"({start}L)")


def _micros(moment: datetime) -> int:
    micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    if not FIRST <= micros <= LAST:  # an offset can bring it there
        raise PeriodError("the origin lies outside the years 1 to 9999", "write a later one")
    return micros
