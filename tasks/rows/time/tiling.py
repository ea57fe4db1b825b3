"""Tiles of time by a period: the rule of `tasks.rows.time.period.tile_sql`, in Python.

    all tiles alike in length ──► counted from an anchor
    months, days of a zone    ──► boundaries of the calendar around the moment: the last up to it
    a full hour of a zone     ──► the last moment at which its clock showed one

Moments are whole microseconds since 1970 in UTC; wall clocks are the same, as if they were UTC.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from tasks.rows.time.period import Period
from tasks.rows.time.zones import DAY

_CYCLE_YEARS = 400
_CYCLE_DAYS = 146_097
"""The calendar repeats after so many days, which are 400 years."""

_EPOCH = date(1970, 1, 1).toordinal()

Tile = tuple[int, int]
"""[start, end)."""


class WallClock(Protocol):
    """The clock of a time zone; offsets are in microseconds east of UTC."""

    def offset(self, instant: int) -> int:
        """Return how far the wall clock is ahead of UTC at an instant."""
        ...

    def offset_shown(self, local: int) -> int:
        """Return the offset at a wall clock time; the earlier one if it occurs twice or never."""
        ...


@dataclass(frozen=True)
class FixedClock:
    """A clock whose offset never changes."""

    east: int = 0

    def offset(self, instant: int) -> int:  # noqa: ARG002 -- of every moment
        """Return how far the wall clock is ahead of UTC."""
        return self.east

    def offset_shown(self, local: int) -> int:  # noqa: ARG002 -- of every wall clock
        """Return the same."""
        return self.east


@dataclass(frozen=True)
class Tiling:
    """A period from an origin, in the zone of a clock; `tile_sql` must accept the three."""

    period: Period
    clock: WallClock
    origin: int | None = None

    @property
    def even(self) -> tuple[int, int] | None:
        """The length of every tile, and the begin of one; None if lengths differ."""
        period, fixed = self.period, isinstance(self.clock, FixedClock)
        if period.all_months or (period.all_days and not fixed):
            return None
        length = period.all_days * DAY + period.exact_micros
        if self.origin is not None:
            return length, self.origin
        if period.on_the_clock and not fixed:
            return None
        first = period.first_local
        return length, first - self.clock.offset_shown(first)

    def around(self, moment: int) -> Tile:
        """Return the tile of `moment`."""
        if (even := self.even) is not None:
            length, anchor = even
            start = moment - (moment - anchor) % length
            return start, start + length
        local = moment + self.clock.offset(moment)
        if self.period.all_months:
            first = self._first_local(0)
            months = self.period.all_months
            count = (_month_of(local) - _month_of(first)) // months
            return self._nearest(moment, lambda n: _plus_months(first, (count + n) * months))
        if self.period.all_days:
            first = self._first_local(self.period.first_local)
            length = self.period.all_days * DAY
            count = (local - first) // length
            return self._nearest(moment, lambda n: first + (count + n) * length)
        return self._on_the_clock(moment)

    def _first_local(self, default: int) -> int:
        return default if self.origin is None else self.origin + self.clock.offset(self.origin)

    def _nearest(self, moment: int, boundary: Callable[[int], int]) -> Tile:
        """Choose among boundaries, as wall clocks: `boundary(0)` is the nearest by the clock."""
        shown = [boundary(number) for number in range(-1, 3)]
        at = [local - self.clock.offset_shown(local) for local in shown]
        return max(i for i in at if i <= moment), min(i for i in at if i > moment)

    def _on_the_clock(self, moment: int) -> Tile:
        length, clock = self.period.exact_micros, self.clock
        east = clock.offset(moment)
        start = moment - (moment + east) % length
        end = start + length
        if (before := clock.offset(start)) != east:  # the clock showed no full one there
            start = moment - (moment + before) % length
            start -= 0 if clock.offset(start) == before else length
        if (after := clock.offset(end)) != east:
            last = end - (end + after) % length
            end = last if last > moment and clock.offset(last) == after else last + length
        return start, end


def _month_of(local: int) -> int:
    year, day = _date_of(local)
    return year * 12 + day.month - 1


def _plus_months(local: int, months: int) -> int:
    """Add months to a wall clock; a day that the month lacks becomes its last."""
    year, month = divmod(_month_of(local) + months, 12)
    wanted = _date_of(local)[1].day
    lasts = _ordinal(year + (month == 11), (month + 1) % 12 + 1) - _ordinal(year, month + 1)  # noqa: PLR2004 -- December
    days = _ordinal(year, month + 1) + min(wanted, lasts) - 1 - _EPOCH
    return days * DAY + local % DAY


def _date_of(local: int) -> tuple[int, date]:
    """Return the year of a wall clock, and the same day in the like year of 1 to 400."""
    cycle, rest = divmod(local // DAY + _EPOCH - 1, _CYCLE_DAYS)
    day = date.fromordinal(rest + 1)
    return day.year + cycle * _CYCLE_YEARS, day


def _ordinal(year: int, month: int) -> int:
    """Return the number of a month's first day, for any year, as `date` ends with 9999."""
    cycle, like = divmod(year - 1, _CYCLE_YEARS)
    return date(like + 1, month, 1).toordinal() + cycle * _CYCLE_DAYS
