"""The one pydantic base of every message and spec, and the types that cross the wire in it."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    Strict,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from tasks.contract.masking import masked_within
from tasks.contract.offsets import OffsetsError, TopicPartition


class Wire(BaseModel):
    """Frozen, unknown keys refused, camelCase on the wire, snake_case in the code."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        ser_json_timedelta="float",
    )

    def to_json(self) -> str:
        """Return the message as JSON text, as it crosses the wire."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote.

        Raises:
            pydantic.ValidationError: the text is no such message.
        """
        return cls.model_validate_json(text)


def _parse_offsets(value: object) -> object:
    if not isinstance(value, dict):
        return value
    parsed: dict[object, object] = {}
    for key, offset in value.items():
        try:
            parsed[TopicPartition.parse(key) if isinstance(key, str) else key] = offset
        except OffsetsError as error:
            raise ValueError(str(error)) from error
    return parsed


def _write_offsets(value: dict[TopicPartition, int]) -> dict[str, int]:
    return {str(TopicPartition(*p)): value[p] for p in sorted(value)}


WireOffsets = Annotated[
    dict[TopicPartition, int],
    BeforeValidator(_parse_offsets),
    PlainSerializer(_write_offsets),
]
"""Offsets in a message: `{"topic:0": 17}` on the wire, sorted by partition."""

Whole = Annotated[int, Strict()]
"""A whole number in a message: neither true nor 1.5 is one."""
Truth = Annotated[bool, Strict()]
"""true or false in a message: neither 0 nor "no" is one."""


def _no_truth(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("is no duration: give seconds as a number")  # noqa: TRY004 -- pydantic's
    return value


Seconds = Annotated[
    timedelta,
    BeforeValidator(_no_truth),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "format": "duration"}]},
        mode="validation",
    ),
    PlainSerializer(lambda value: value.total_seconds(), return_type=float),
]
"""A duration between the planes: seconds as a number, since no two clocks are compared."""

Shown = Annotated[str, AfterValidator(masked_within)]
"""A text for people, which a library may have written: without what its name marks as a secret.

It is masked by whoever writes the message and by whoever reads it, of whatever version the other
is.  It never gets longer, so a bound that let it pass once does so again.
"""

Instant = AwareDatetime
"""A point in time, aware; written in ISO 8601 with its zone."""


def iso_utc(moment: datetime) -> str:
    """Return `moment` as Druid writes times: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + (
        f"{moment.astimezone(UTC).microsecond // 1000:03d}Z"
    )
