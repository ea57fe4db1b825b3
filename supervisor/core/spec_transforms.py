"""What is made of a record's fields, and which rows are wanted: the `transformSpec` of a spec."""

from typing import Literal, Self

from pydantic import Field, model_validator

from supervisor.core.spec_fields import FieldName, Text, shown, wrong
from tasks.expression.errors import ExpressionError
from tasks.filters import Filter
from tasks.ingest_spec import RowSpec, Transform
from tasks.row_plan import check_rows
from tasks.wire import Wire

TRANSFORMS_MAX = 500
_OWN = frozenset({"__partition", "__offset", "__topic"})


class TransformField(Wire):
    """A field that an expression works out; it hides a record's own field of that name."""

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
        """Return it as tasks are told it."""
        return Transform(name=self.name, expression=self.expression)


class TransformSpec(Wire):
    """Transforms see a record's fields and `__time`, and not each other; the filter sees all."""

    transforms: tuple[TransformField, ...] = Field(default=(), max_length=TRANSFORMS_MAX)
    filter: Filter | None = None

    @model_validator(mode="after")
    def _can_be_decided(self) -> Self:
        names = [transform.name for transform in self.transforms]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise wrong(f"transform {shown(twice[0])} is given twice", "keep one")
        check_rows_of(RowSpec(filter=self.filter), "filter: ")
        return self

    def normalised(self) -> dict[str, object]:
        """Return it as GET writes it."""
        wanted = None if self.filter is None else self.filter.model_dump(mode="json")
        return {
            "filter": wanted,
            "transforms": [transform.model_dump(mode="json") for transform in self.transforms],
        }


def check_rows_of(rows: RowSpec, of: str) -> None:
    """Refuse an expression or filter that cannot be worked out; `of` says whose.

    Raises:
        PydanticCustomError: what is wrong with it, and where.
    """
    try:
        check_rows(rows)
    except ExpressionError as error:
        raise wrong(f"{of}{error}", error.fix) from None
