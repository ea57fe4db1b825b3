"""The `boundedStreamConfig` of a spec: fixed offset ranges that are read once.

Source: Druid 39's BoundedStreamConfig (apache/druid PR 19372): partition -> offset, twice; offsets
may be written as texts; the end is exclusive.
"""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BeforeValidator, PlainSerializer, model_validator

from supervisor.core.spec.section import Section
from supervisor.core.values.field_types import shown, wrong

OFFSET_MAX = 2**62
"""Larger offsets are mistakes, such as Druid's value for "no end"."""
PARTITIONS_MAX = 10_000
_HINT = 'write partition -> offset, such as {"0": 0, "1": 250}'


def _read_offsets(value: object) -> dict[int, int]:
    if not isinstance(value, Mapping):
        raise wrong("must be an object", _HINT)
    if not value:
        raise wrong("must name a partition at least", _HINT)
    if len(value) > PARTITIONS_MAX:
        raise wrong(f"names {len(value)} partitions", f"at most {PARTITIONS_MAX}")
    return {_whole(p, "a partition"): _whole(at, "an offset") for p, at in value.items()}


def _whole(value: object, what: str) -> int:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) <= len(_LONGEST):
        number = int(text)
        if number <= OFFSET_MAX:
            return number
    raise wrong(f"{shown(value)} is not {what}", _HINT)


_LONGEST = str(OFFSET_MAX)
PartitionOffsets = Annotated[
    dict[int, int],
    BeforeValidator(_read_offsets),
    PlainSerializer(lambda found: {str(p): found[p] for p in sorted(found)}),
]
"""Partition -> offset; the keys are texts on the wire."""


class BoundedStreamConfig(Section):
    """Start and end offsets of the partitions that are read once; the names are Druid's."""

    part = "boundedStreamConfig"

    start_sequence_numbers: PartitionOffsets
    end_sequence_numbers: PartitionOffsets
    """Exclusive."""

    @model_validator(mode="after")
    def _has_two_ends_each(self) -> Self:
        first, end = self.start_sequence_numbers, self.end_sequence_numbers
        if odd := sorted(first.keys() ^ end.keys()):
            raise wrong(
                f"partition {', '.join(map(str, odd[:5]))} is in one of startSequenceNumbers and "
                "endSequenceNumbers only",
                "name the same partitions in both",
            )
        if backwards := sorted(p for p in first if end[p] < first[p]):
            p = backwards[0]
            raise wrong(
                f"partition {p} ends at {end[p]}, before its start {first[p]}",
                "the end is exclusive; equal offsets are an empty range",
            )
        return self
