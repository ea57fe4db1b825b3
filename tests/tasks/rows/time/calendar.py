"""Buckets of periods by `zoneinfo`: written from Druid's rules, shares no code with `tasks`.

Boundaries are listed around the moment and searched; nothing is computed by remainders.
"""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from itertools import takewhile
from zoneinfo import ZoneInfo

SPAN = 3
"""So many periods around the moment are listed."""


@dataclass(frozen=True)
class ZonedPeriod:
    """One question; `length` is exact time, `days` and `months` are of the calendar."""

    text: str
    months: int = 0
    days: int = 0
    length: timedelta = timedelta()
    zone: str = "UTC"
    origin: datetime | None = None


def zone_of(name: str) -> tzinfo:
    if name[0] in "+-":
        hours, minutes = int(name[1:3]), int(name[4:6])
        size = timedelta(hours=hours, minutes=minutes)
        return timezone(-size if name[0] == "-" else size)
    return ZoneInfo(name)


def plus_months(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def plus_local(moment: datetime, period: ZonedPeriod, count: int) -> datetime:
    """Move the wall clock by `count` periods of the calendar, from an aware local time."""
    day = plus_months(moment.date(), period.months * count) + timedelta(days=period.days * count)
    naive = datetime.combine(day, moment.time().replace(fold=0))
    return naive.replace(tzinfo=moment.tzinfo).astimezone(UTC)


def boundaries(moment: datetime, period: ZonedPeriod) -> Iterator[datetime]:
    """List the instants at which buckets begin, some before and some after the moment."""
    zone = zone_of(period.zone)
    origin = period.origin or datetime(1970, 1, 1, tzinfo=zone)
    if period.text == "P1W" and period.origin is None:
        origin = datetime(1970, 1, 5, tzinfo=zone)
    local = origin.astimezone(zone)
    if period.months or (period.days and not period.length):
        apart = moment.astimezone(UTC) - origin.astimezone(UTC)
        near = round(apart / timedelta(days=period.months * 30.436875 + period.days))
        for count in range(near - SPAN, near + SPAN + 1):
            yield plus_local(local, period, count)
        return
    length = period.length + timedelta(days=period.days)
    start = origin.astimezone(UTC)
    if period.origin is None and length in FULL and period.text in SINGLE:
        # The full hour (minute, second) on the wall clock of the moment.
        shown = moment.astimezone(zone).replace(tzinfo=None)
        start = moment.astimezone(UTC) - (
            shown - datetime.combine(shown.date(), datetime.min.time())
        )
    near = round((moment.astimezone(UTC) - start) / length)
    for count in range(near - SPAN, near + SPAN + 1):
        yield start + count * length


FULL = {timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)}
SINGLE = {"PT1H", "PT1M", "PT1S"}


def floor(moment: datetime, period: ZonedPeriod) -> datetime:
    return list(takewhile(lambda begin: begin <= moment, boundaries(moment, period)))[-1]


def ceil(moment: datetime, period: ZonedPeriod) -> datetime:
    return next(begin for begin in boundaries(moment, period) if begin >= moment)
