"""How time is divided: chunks of segments, and what rows' times are cut down to."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from supervisor.core.spec_fields import Flag, Moment, Text, nearest, shown, wrong
from tasks.ingest_spec import Granularity, Truncation
from tasks.period import PeriodError, floor_sql, read_period
from tasks.wire import Wire
from tasks.zones import ZoneError

_PERIODS = {
    "SECOND": "PT1S",
    "MINUTE": "PT1M",
    "FIVE_MINUTE": "PT5M",
    "TEN_MINUTE": "PT10M",
    "FIFTEEN_MINUTE": "PT15M",
    "THIRTY_MINUTE": "PT30M",
    "HOUR": "PT1H",
    "SIX_HOUR": "PT6H",
    "EIGHT_HOUR": "PT8H",
    "DAY": "P1D",
    "WEEK": "P1W",
    "MONTH": "P1M",
    "QUARTER": "P3M",
    "YEAR": "P1Y",
}
"""Druid's names for periods in UTC."""


def read_granularity(value: object) -> Granularity:
    """Take the name of a segment granularity in any case, or the object that Druid writes for it.

    Raises:
        PydanticCustomError: it is none.
    """
    if isinstance(value, Granularity):
        return value
    name = value
    if isinstance(value, Mapping) and value.get("type") == "period":
        extra = {k: v for k, v in value.items() if k not in {"type", "period"} and v is not None}
        if extra.pop("timeZone", "UTC") != "UTC" or extra:
            raise wrong("a period with a time zone or an origin is not built yet", "use UTC")
        names = {period: name for name, period in _PERIODS.items()}
        name = names.get(str(value.get("period")))
    elif isinstance(value, Mapping) and value.keys() == {"type"}:
        name = value["type"]
    if isinstance(name, str) and name.upper() in Granularity.__members__:
        return Granularity[name.upper()]
    text = value if isinstance(value, str) else "this granularity"
    close = nearest(value, Granularity.__members__) if isinstance(value, str) else None
    raise wrong(
        f"{shown(text)} is not a segment granularity here" + (f"; {close} is" if close else ""),
        f"use one of {', '.join(Granularity.__members__)}",
    )


class PeriodGranularity(Wire):
    """Times are cut down to the beginning of their period."""

    type: Literal["period"] = "period"
    period: Text
    time_zone: Text = "UTC"
    origin: Moment | None = None

    @model_validator(mode="after")
    def _can_be_had(self) -> Self:
        try:
            floor_sql("t", read_period(self.period), zone=self.time_zone, origin=self.origin)
        except (PeriodError, ZoneError) as error:
            raise wrong(error.message, error.fix) from None
        return self


class DurationGranularity(Wire):
    """Times are cut down to a multiple of so many milliseconds after an origin."""

    type: Literal["duration"]
    duration: Annotated[int, Field(strict=True, ge=1, le=10**12)]
    origin: Moment | None = None


def read_query_granularity(value: object) -> object:
    """Take Druid's names and objects; None keeps times as they are.

    Raises:
        PydanticCustomError: it is no granularity.
    """
    name = value["type"] if isinstance(value, Mapping) and value.keys() == {"type"} else value
    if name is None or not isinstance(name, str):
        if isinstance(value, Mapping) and value.get("type") == "duration":
            spec = DurationGranularity.model_validate(value)
            seconds, millis = divmod(spec.duration, 1000)
            written = f"PT{seconds}.{millis:03d}S" if millis else f"PT{seconds}S"
            origin = spec.origin or datetime(1970, 1, 1, tzinfo=UTC)
            return {"period": written, "origin": origin}
        return value
    if name.upper() == "NONE":
        return None
    if name.upper() == "ALL":
        raise wrong("queryGranularity ALL gives every row the same time", "use YEAR, or a period")
    if name.upper() in _PERIODS:
        return {"period": _PERIODS[name.upper()]}
    close = nearest(name, (*_PERIODS, "NONE"))
    raise wrong(
        f"{shown(name)} is not a granularity" + (f"; {close} is" if close else ""),
        f"use NONE, {', '.join(_PERIODS)}, or a period",
    )


class GranularitySpec(Wire):
    """How rows are divided into time chunks, and whether equal ones of a time become one."""

    segment_granularity: Annotated[Granularity, BeforeValidator(read_granularity)] = Granularity.DAY
    query_granularity: Annotated[
        PeriodGranularity | None, BeforeValidator(read_query_granularity)
    ] = None
    """None: times are stored as they are."""
    rollup: Flag = False

    @property
    def truncation(self) -> Truncation | None:
        """What times are cut down to, as tasks are told it."""
        cut = self.query_granularity
        if cut is None:
            return None
        return Truncation(period=cut.period, time_zone=cut.time_zone, origin=cut.origin)

    def normalised(self) -> dict[str, object]:
        """Return it as GET writes it."""
        everything = self.segment_granularity is Granularity.ALL
        cut = self.query_granularity
        return {
            "type": "uniform",
            "segmentGranularity": {"type": "all"} if everything else str(self.segment_granularity),
            "queryGranularity": {"type": "none"} if cut is None else cut.model_dump(mode="json"),
            "rollup": self.rollup,
            "intervals": [],
        }
