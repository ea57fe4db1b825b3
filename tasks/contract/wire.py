"""The pydantic base class of all messages and specs, and the field types that they share."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    Strict,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

from tasks.contract.masking import masked_within
from tasks.contract.offsets import OffsetsError, TopicPartition


class Wire(BaseModel):
    """Frozen model that refuses unknown keys, with camelCase on the wire and snake_case in code."""

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
        """Return the JSON text of the message, as it is sent."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Parse a text of `to_json`.

        Raises:
            pydantic.ValidationError: `text` is not a valid message of this class.
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


_LEAST, _MOST = -(2**63), 2**63 - 1
_SIGNED = Field(ge=_LEAST, le=_MOST)
"""What databases and the JVM can hold."""


_partition = lru_cache(maxsize=2**17)(TopicPartition.parse)
"""Partitions by their names, which come again in each sync: of a thousand topics at most."""


def _read_offsets(
    value: object, by_pydantic: ValidatorFunctionWrapHandler
) -> dict[TopicPartition, int]:
    """Read usual offsets in one go; pydantic, which is slow at it, reads or refuses all others.

    A sync of a large worker has thousands of them, each second.
    """
    if type(value) is dict and {*map(type, value.values())} == {int}:
        numbers, kinds = value.values(), {*map(type, value)}
        fits = min(numbers) >= _LEAST and max(numbers) <= _MOST
        if fits and kinds == {TopicPartition}:
            return {**value}
        if fits and kinds == {str}:
            with suppress(ValueError):
                return {_partition(name): number for name, number in value.items()}
    read: dict[TopicPartition, int] = by_pydantic(value)
    return read


WireOffsets = Annotated[
    dict[TopicPartition, Annotated[int, _SIGNED]],
    BeforeValidator(_parse_offsets),
    WrapValidator(_read_offsets),
    PlainSerializer(_write_offsets),
]
"""Offsets in a message: `{"topic:0": 17}` on the wire, sorted by partition."""

Whole = Annotated[int, Strict(), _SIGNED]
"""A whole number of 64 bits in a message; `true` and `1.5` are refused."""
Truth = Annotated[bool, Strict()]
"""`true` or `false` in a message; `0` and `"no"` are refused."""


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
"""A duration in a message, written as a number of seconds.  Messages carry durations instead of
times, so that the clocks of two machines are never compared."""

Shown = Annotated[str, AfterValidator(masked_within)]
"""A text for people, which a library may have written, with secrets masked by their names.

The writer of a message and its reader both mask the text, whatever version the other side has.
Masking never makes the text longer, so a text within the bound of its field stays within it.
"""

Instant = AwareDatetime
"""A point in time with a zone, written in ISO 8601."""


def iso_utc(moment: datetime) -> str:
    """Return `moment` as Druid writes times: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + (
        f"{moment.astimezone(UTC).microsecond // 1000:03d}Z"
    )
