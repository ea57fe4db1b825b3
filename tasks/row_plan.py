"""What has to be asked of records so that a spec's rows come out of them.  Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.expression.compile import compile_expression, names_in
from tasks.expression.parse import parse
from tasks.expression.tree import Kind, Part
from tasks.expression.value import ArrayValue, Value, as_double
from tasks.filter_sql import fields_in, filter_sql
from tasks.ingest_spec import Column, RowSpec

_ANYTHING = Value("i0l", "i0d", "i0s", ArrayValue(Kind.STRING, "i0a"), "i0j", number="i0n")

TIME = "__time"
"""What expressions and filters call a row's time: milliseconds since the epoch."""


@dataclass(frozen=True)
class RowPlan:
    """Columns by where their values come from; numbers count the columns that were asked for."""

    texts: tuple[tuple[int, Column], ...]
    """Straight from a field's text."""
    values: tuple[tuple[int, Column], ...]
    """From a field whose own type counts."""
    made: tuple[tuple[int, Column], ...]
    """From a transform of the same name."""
    transforms: tuple[tuple[str, Part], ...]
    inputs: tuple[str, ...]
    """Fields that transforms and the filter look at."""

    @property
    def text_names(self) -> tuple[str, ...]:
        """The fields whose text is stored, sorted."""
        return tuple(sorted({column.name for _, column in self.texts}))

    @property
    def value_names(self) -> tuple[str, ...]:
        """The fields that are asked for with their own type, sorted."""
        return tuple(sorted({*self.inputs, *(column.name for _, column in self.values)}))


def plan_rows(spec: RowSpec, columns: Sequence[Column]) -> RowPlan:
    """Return what a spec asks for.

    Raises:
        ExpressionError: an expression of the spec says nothing.
    """
    transforms = tuple((t.name, parse(t.expression)) for t in spec.transforms)
    made = {name for name, _ in transforms}
    looked_at = {name for _, tree in transforms for name in names_in(tree)}
    if spec.filter is not None:
        looked_at |= set(fields_in(spec.filter)) - made
    numbered = list(enumerate(columns))
    return RowPlan(
        texts=tuple((n, c) for n, c in numbered if c.name not in made and c.type != "json"),
        values=tuple((n, c) for n, c in numbered if c.name not in made and c.type == "json"),
        made=tuple((n, c) for n, c in numbered if c.name in made),
        transforms=transforms,
        inputs=tuple(sorted(looked_at - {TIME})),
    )


def staged(value: Value, prefix: str) -> tuple[list[str], Value]:
    """Give a value's texts names of their own: what to select, and the value by these names.

    What a value of no fixed type is as a number gets a name as well: the SQL for it is long.
    """
    names = {
        "long": f"{prefix}l",
        "double": f"{prefix}d",
        "string": f"{prefix}s",
        "json": f"{prefix}j",
    }
    held = {key: name for key, name in names.items() if getattr(value, key) is not None}
    selected = [f"{getattr(value, key)} AS {name}" for key, name in held.items()]
    array = value.array
    if array is not None:
        selected.append(f"{array.sql} AS {prefix}a")
        array = replace(array, sql=f"{prefix}a")
    number = f"{prefix}n" if len(value.texts) > 1 else None
    if number is not None:
        selected.append(f"{as_double(value)} AS {number}")
    return selected, Value(**held, array=array, number=number)


def there(value: Value) -> str:
    """Return the SQL that tells whether a value is not null."""
    return "(" + (" OR ".join(f"({sql}) IS NOT NULL" for sql in value.texts) or "false") + ")"


def check_rows(spec: RowSpec) -> None:
    """Make sure that every expression of a spec can be worked out, whatever its fields hold.

    Raises:
        ExpressionError: one cannot.
    """
    for _, tree in plan_rows(spec, ()).transforms:
        compile_expression(tree, lambda _: _ANYTHING)
    if spec.filter is not None:
        filter_sql(spec.filter, lambda _: _ANYTHING)
