"""In which other formats a table is to be read: the `exports` of a spec's dataSchema; ours."""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from supervisor.core.spec_fields import nearest, shown, wrong


class ExportFormat(StrEnum):
    """A table format that other systems read."""

    DELTA = "delta"
    ICEBERG = "iceberg"


def _read_format(value: object) -> object:
    known = [each.value for each in ExportFormat]
    if value not in known:
        told = shown(value) if isinstance(value, str) else "this"
        close = nearest(value, known) if isinstance(value, str) else None
        hint = f"did you mean {close}?" if close else f"use one of {', '.join(known)}"
        raise wrong(f"{told} is no format that tables are exported in", hint)
    return value


Exports = Annotated[
    tuple[Annotated[ExportFormat, BeforeValidator(_read_format)], ...],
    Field(max_length=10),
    AfterValidator(lambda value: tuple(sorted(set(value)))),
]
"""A set, kept sorted."""
