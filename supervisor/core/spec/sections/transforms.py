"""The `transformSpec` of a spec: computed fields, and the filter of rows."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from supervisor.core.spec.filters import FILTER
from supervisor.core.spec.section import Section
from supervisor.core.values.field_types import FieldName, Text, shown, wrong
from tasks.contract.filters import And, Filter, IsFalse, IsTrue, Not, Or
from tasks.contract.ingest_spec import RowSpec, Transform
from tasks.rows.expression.errors import ExpressionError
from tasks.rows.row_plan import check_rows

TRANSFORMS_MAX = 500
_OWN = frozenset({"__partition", "__offset", "__topic"})


class TransformField(Section):
    """A field computed by an expression; it hides a field of the record with the same name."""

    part, title = "transform", "a transform"

    type: Literal["expression"] = "expression"
    name: FieldName
    expression: Text

    @model_validator(mode="after")
    def _can_be_worked_out(self) -> Self:
        if self.name.lower() in _OWN:
            raise wrong(f"{shown(self.name)} is a column of its own", "give it another name")
        check_rows_of(RowSpec(transforms=(self.contract(),)), f"{shown(self.name)}: ")
        return self

    def contract(self) -> Transform:
        """Return the transform in the form of the contract."""
        return Transform(name=self.name, expression=self.expression)


class TransformSpec(Section):
    """Transforms read a record's fields and `__time`, not each other; the filter reads all."""

    part = "transformSpec"

    transforms: tuple[TransformField, ...] = Field(default=(), max_length=TRANSFORMS_MAX)
    filter: Annotated[Filter | None, FILTER] = None

    @field_validator("filter")
    @classmethod
    def _can_be_decided(cls, value: Filter | None) -> Filter | None:
        return None if value is None else checked_filter(value)

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        names = [transform.name for transform in self.transforms]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise wrong(f"transform {shown(twice[0])} is given twice", "keep one")
        return self


def checked_filter(wanted: Filter) -> Filter:
    """Return a filter after checking that each of its parts can be evaluated.

    Raises:
        PydanticCustomError: a part cannot be; the error has the pointer to it.
    """
    for place, part in _parts(wanted, ""):
        check_rows_of(RowSpec(filter=part), "filter: ", place)
    return wanted


def _parts(wanted: Filter, place: str) -> Iterator[tuple[str, Filter]]:
    """Yield (pointer, filter) of all inner filters that hold no others."""
    match wanted:
        case And() | Or():
            for number, inner in enumerate(wanted.fields):
                yield from _parts(inner, f"{place}/fields/{number}")
        case Not() | IsTrue() | IsFalse():
            yield from _parts(wanted.field, f"{place}/field")
        case _:
            yield place, wanted


def check_rows_of(rows: RowSpec, of: str, within: str = "") -> None:
    """Refuse an expression or filter that cannot be evaluated; `of` begins the message.

    Raises:
        PydanticCustomError: with the problem and its place.
    """
    try:
        check_rows(rows)
    except ExpressionError as error:
        raise wrong(f"{of}{error}", error.fix, within) from None
