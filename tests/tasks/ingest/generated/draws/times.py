"""Granularities of random specs, in any time zone, and where their periods begin."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from pydantic import JsonValue

from tasks.rows.time.zone_names import REGIONS
from tests.tasks.rows.time.calendar import ZonedPeriod, floor
from tests.tasks.rows.time.tiles import tile

_PERIODS = {
    period.text: period
    for period in (
        *(ZonedPeriod(f"PT{n}M", length=timedelta(minutes=n)) for n in (1, 15)),
        *(ZonedPeriod(f"PT{n}H", length=timedelta(hours=n)) for n in (1, 6)),
        *(ZonedPeriod("P1D", days=1), ZonedPeriod("P1W", days=7), ZonedPeriod("P3D", days=3)),
        *(
            ZonedPeriod("P1M", months=1),
            ZonedPeriod("P3M", months=3),
            ZonedPeriod("P1Y", months=12),
        ),
    )
}
_NAMED = {"MINUTE": "PT1M", "HOUR": "PT1H", "DAY": "P1D", "WEEK": "P1W", "MONTH": "P1M"}
_WITHOUT = {"NONE", "ALL"}
"""The first cuts no time down, the second is one chunk of all times."""
_ORIGINS = [None, None, "2012-01-31T13:45:10Z"]

QUERIES: list[JsonValue] = ["MINUTE", "HOUR", "DAY", "DAY", "MONTH"]
SEGMENTS: list[JsonValue] = [
    *("HOUR", "DAY", "DAY", "WEEK", "MONTH", "ALL"),
    {"type": "duration", "duration": 5_400_000, "origin": "2024-01-01T00:10:00Z"},
]


def periods() -> st.SearchStrategy[JsonValue]:
    """Periods of the calendar or of exact lengths, in any zone."""
    return st.builds(
        _period, st.sampled_from(sorted(_PERIODS)), _zones(), st.sampled_from(_ORIGINS)
    )


def _zones() -> st.SearchStrategy[str]:
    return st.sampled_from(["UTC", *sorted(REGIONS)])


def _period(text: str, zone: str, origin: str | None) -> JsonValue:
    whole: dict[str, JsonValue] = {"type": "period", "period": text, "timeZone": zone}
    return whole | ({"origin": origin} if origin is not None else {})


def floor_of(time: datetime, granularity: JsonValue) -> datetime:
    """Cut a time down as queryGranularity says."""
    period = _period_of(granularity)
    return time if period is None else floor(time, period).astimezone(UTC)


def chunk_of(time: datetime, granularity: JsonValue) -> tuple[datetime, datetime] | None:
    """Return the chunk of segmentGranularity that a time lies in; None: there is but one."""
    period = _period_of(granularity)
    return None if period is None else tile(time, period)


def _period_of(granularity: JsonValue) -> ZonedPeriod | None:
    if not isinstance(granularity, dict):
        name = str(granularity)
        return None if name in _WITHOUT else _PERIODS[_NAMED[name]]
    origin = granularity.get("origin")
    begin = None if origin is None else datetime.fromisoformat(str(origin))
    if "duration" in granularity:
        length = timedelta(milliseconds=int(str(granularity["duration"])))
        return ZonedPeriod(f"PT{length.total_seconds():.0f}S", length=length, origin=begin)
    zone = str(granularity["timeZone"])
    return replace(_PERIODS[str(granularity["period"])], zone=zone, origin=begin)
