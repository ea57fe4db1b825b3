"""Tiles of periods by `zoneinfo`: boundaries are listed, or clocks looked at second by second.

Shares no code with `tasks`.
"""

from datetime import UTC, datetime, timedelta

from tests.tasks.rows.time.calendar import FULL, SINGLE, ZonedPeriod, boundaries, zone_of
from tests.tasks.rows.time.evaluate import EPOCH, MICROSECOND, at

ZONES = (
    *("UTC", "+05:30", "-03:30", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata"),
    *("Australia/Lord_Howe", "America/Sao_Paulo", "America/Havana", "Pacific/Apia"),
    *("America/Toronto", "Africa/Monrovia", "Asia/Singapore"),
)
"""With days that begin at 01:00, have two midnights, or are none; with odd changes of offsets."""

CHANGES = [
    *(("America/Los_Angeles", "2024-03-10T10:00"), ("America/Los_Angeles", "2024-11-03T09:00")),
    *(("Europe/Berlin", "2024-03-31T01:00"), ("Europe/Berlin", "2024-10-27T01:00")),
    *(("Europe/Berlin", "1945-05-24T00:00"), ("Europe/Berlin", "1893-03-31T23:06:32")),
    *(("Australia/Lord_Howe", "2024-10-05T15:30"), ("Australia/Lord_Howe", "2024-04-06T15:00")),
    *(("America/Sao_Paulo", "2018-11-04T03:00"), ("America/Havana", "2024-11-03T05:00")),
    *(("Pacific/Apia", "2011-12-30T10:00"), ("America/Toronto", "1919-03-31T04:30")),
    *(("Africa/Monrovia", "1972-01-07T00:44:30"), ("Asia/Singapore", "1981-12-31T16:00")),
    *(("UTC", "2024-02-29T00:00"), ("UTC", "1969-12-31T23:00"), ("UTC", "1582-10-15T00:00")),
]
"""A zone, and when its clocks are changed."""

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
PERIODS = [
    *(
        ZonedPeriod(text, months=n)
        for text, n in [("P1M", 1), ("P3M", 3), ("P1Y", 12), ("P1Y6M", 18)]
    ),
    *(ZonedPeriod(text, days=n) for text, n in [("P1D", 1), ("P1W", 7), ("P2W", 14), ("P3D", 3)]),
    *(ZonedPeriod(f"PT{n}H", length=n * HOUR) for n in (1, 2, 6, 24)),
    *(ZonedPeriod(f"PT{n}M", length=n * HOUR / 60) for n in (1, 15, 90)),
    *(ZonedPeriod(f"PT{n}S", length=n * SECOND) for n in (1, 61)),
    ZonedPeriod("PT1H30M", length=HOUR * 1.5),
]
ORIGINS = (None, at("2012-01-31T13:45:10"), at("1969-07-20T20:17:40"), at("2024-03-31T01:30:00"))


def tile(moment: datetime, period: ZonedPeriod) -> tuple[datetime, datetime]:
    """Return the last boundary up to a moment, and the first after it."""
    if period.text in SINGLE and period.origin is None:
        return _shown_last(moment, period), _shown_next(moment, period)
    found = sorted(boundaries(moment, period))
    return max(b for b in found if b <= moment), min(b for b in found if b > moment)


def _shown_last(moment: datetime, period: ZonedPeriod) -> datetime:
    second = EPOCH + (moment - EPOCH) // SECOND * SECOND
    while not _is_full(second, period):
        second -= SECOND
    return second


def _shown_next(moment: datetime, period: ZonedPeriod) -> datetime:
    second = EPOCH + (moment - EPOCH) // SECOND * SECOND + SECOND
    while not _is_full(second, period):
        second += SECOND
    return second


def _is_full(moment: datetime, period: ZonedPeriod) -> bool:
    assert period.length in FULL
    shown = moment.astimezone(zone_of(period.zone)).replace(tzinfo=UTC)
    return not (shown - EPOCH) % period.length


class ZoneClock:
    """What the clocks of a zone show, by `zoneinfo`; see `tasks.rows.time.tiling.Clock`."""

    def __init__(self, name: str) -> None:
        self._zone = zone_of(name)

    def offset(self, instant: int) -> int:
        return self._east((EPOCH + instant * MICROSECOND).astimezone(self._zone))

    def offset_shown(self, local: int) -> int:
        return self._east((EPOCH + local * MICROSECOND).replace(tzinfo=self._zone))

    def _east(self, moment: datetime) -> int:
        east = moment.utcoffset()
        assert east is not None
        return east // MICROSECOND
