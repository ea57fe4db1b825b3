"""The `granularitySpec` of a spec: time chunks of segments, and truncation of rows' times."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from supervisor.core.spec.section import Fixed, Section, Unsupported
from supervisor.core.values.field_types import Flag, Moment, Text, Whole, nearest, shown, wrong
from tasks.contract.ingest_spec import PERIODS, Granularity, PeriodChunks, Truncation
from tasks.contract.wire import Wire
from tasks.rows.time.period import PeriodError, floor_sql, read_period
from tasks.rows.time.zones import SECOND, ZoneError

_NAMES = ", ".join(granularity.value for granularity in PERIODS)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PeriodGranularity(Wire):
    """Granularity by calendar periods of a time zone."""

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
    """Granularity by multiples of a duration in milliseconds after an origin."""

    type: Literal["duration"]
    duration: Annotated[Whole, Field(ge=1, le=10**12)]
    origin: Moment | None = None


EVERYTHING = PeriodGranularity(period="P10000Y", origin=datetime(1, 1, 1, tzinfo=UTC))
"""Query granularity ALL: one period that begins with the single time chunk of ALL."""


def read_segment_granularity(value: object) -> Granularity | PeriodGranularity:
    """Read a segment granularity: a name in any case, or one of Druid's objects.

    A granularity with a name is returned as the name: a day in UTC is DAY in any form.

    Raises:
        PydanticCustomError: the value is no segment granularity.
        ValidationError: a member of the object is wrong.
    """
    if isinstance(value, Granularity | PeriodGranularity):
        return value
    if isinstance(value, Mapping) and _has_members(value):
        read = _of_object(value)
        names = {PeriodGranularity(period=period): name for name, period in PERIODS.items()}
        return names.get(read) or _of_whole_seconds(read)
    name = value["type"] if isinstance(value, Mapping) else value
    if isinstance(name, str) and name.upper() in Granularity.__members__:
        return Granularity[name.upper()]
    if isinstance(name, str) and name.upper() == "NONE":
        message = "NONE has no time chunks: no segment could be allocated for any row"
        raise wrong(message, f"use one of {_NAMES}, ALL, or a period")
    raise _unknown(name, (*PERIODS, Granularity.ALL), "a segment granularity")


def read_query_granularity(value: object) -> PeriodGranularity | None:
    """Read a query granularity, one of Druid's names or objects; None: times are not truncated.

    Raises:
        PydanticCustomError: the value is no granularity.
        ValidationError: a member of the object is wrong.
    """
    if value is None or isinstance(value, PeriodGranularity):
        return value
    if isinstance(value, Mapping) and _has_members(value):
        return _of_object(value)
    name = value["type"] if isinstance(value, Mapping) else value
    if isinstance(name, str) and name.upper() == "NONE":
        return None
    if isinstance(name, str) and name.upper() == Granularity.ALL:
        return EVERYTHING
    if isinstance(name, str) and name.upper() in Granularity.__members__:
        return PeriodGranularity(period=PERIODS[Granularity[name.upper()]])
    raise _unknown(name, ("NONE", *PERIODS, Granularity.ALL), "a granularity")


def _has_members(value: Mapping[object, object]) -> bool:
    """Whether an object has more than the name in `type`, as Druid's `{"type": "all"}`."""
    return value.keys() != {"type"} or value["type"] in ("period", "duration")


def _of_object(value: Mapping[object, object]) -> PeriodGranularity:
    members = {name: member for name, member in value.items() if member is not None}
    if members.get("type") != "duration":
        return PeriodGranularity.model_validate(members)
    read = DurationGranularity.model_validate(members)
    seconds, millis = divmod(read.duration, 1000)
    written = f"PT{seconds}.{millis:03d}S" if millis else f"PT{seconds}S"
    return PeriodGranularity(period=written, origin=read.origin or _EPOCH)


def _of_whole_seconds(read: PeriodGranularity) -> PeriodGranularity:
    origin = read.origin
    if read_period(read.period).exact_micros % SECOND or (origin and origin.microsecond):
        message = "a time chunk has whole seconds, and begins with one"
        raise wrong(message, "use a longer period, and an origin without a fraction of a second")
    return read


def _unknown(name: object, known: tuple[str, ...], what: str) -> Exception:
    text = name if isinstance(name, str) else "this"
    close = nearest(name, known) if isinstance(name, str) else None
    return wrong(
        f"{shown(text)} is not {what}" + (f"; {close} is" if close else ""),
        f"use one of {', '.join(known)}, or a period",
    )


class GranularitySpec(Section):
    """Time chunks, truncation of times, and rollup of rows with equal dimensions and time."""

    part = "granularitySpec"
    others = MappingProxyType(
        {
            "type": Fixed("uniform", answers=("uniform",)),
            "intervals": Unsupported(
                "leave it empty: a stream has no fixed intervals", ([],), answers=([],)
            ),
        }
    )

    segment_granularity: Annotated[
        Granularity | PeriodGranularity, BeforeValidator(read_segment_granularity)
    ] = Granularity.DAY
    query_granularity: Annotated[
        PeriodGranularity | None, BeforeValidator(read_query_granularity)
    ] = None
    """None: times are not truncated."""
    rollup: Flag = False

    @field_validator("query_granularity")
    @classmethod
    def _fits_into_a_chunk(
        cls, value: PeriodGranularity | None, info: ValidationInfo
    ) -> PeriodGranularity | None:
        """Refuse query granularity ALL unless the segment granularity is ALL as well.

        Source: Druid's `SegmentAllocateAction`, which otherwise finds no segment for a row.
        """
        segment = info.data.get("segment_granularity", Granularity.ALL)
        if value == EVERYTHING and segment is not Granularity.ALL:
            raise wrong(
                "ALL gives every row one time, which lies in none of the time chunks",
                "use segmentGranularity ALL as well, or queryGranularity YEAR, or a period",
            )
        return value

    @property
    def chunks(self) -> Granularity | PeriodChunks:
        """The time chunks, in the form of the contract."""
        configured = self.segment_granularity
        if isinstance(configured, Granularity):
            return configured
        return PeriodChunks(
            period=configured.period, time_zone=configured.time_zone, origin=configured.origin
        )

    @property
    def truncation(self) -> Truncation | None:
        """The truncation of times, in the form of the contract; None: there is none."""
        cut = self.query_granularity
        if cut is None:
            return None
        return Truncation(period=cut.period, time_zone=cut.time_zone, origin=cut.origin)

    def normalised(self) -> dict[str, object]:
        """Return the granularitySpec as GET writes it: ALL and NONE are objects."""
        chunks, cut = self.segment_granularity, self.query_granularity
        section = super().normalised()
        if chunks is Granularity.ALL:
            section["segmentGranularity"] = {"type": "all"}
        if cut is None or cut == EVERYTHING:
            section["queryGranularity"] = {"type": "none" if cut is None else "all"}
        return section
