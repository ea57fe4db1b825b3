"""Export formats of a table: the field `exports` of a spec's dataSchema, which Druid lacks."""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from supervisor.core.values.field_types import one_of


class ExportFormat(StrEnum):
    """A table format that other systems read."""

    DELTA = "delta"
    ICEBERG = "iceberg"


def _read_format(value: object) -> object:
    return one_of(value, [*ExportFormat], "is no format that tables are exported in")


Exports = Annotated[
    tuple[Annotated[ExportFormat, BeforeValidator(_read_format)], ...],
    Field(max_length=10),
    AfterValidator(lambda value: tuple(sorted(set(value)))),
]
"""A set, kept sorted."""
