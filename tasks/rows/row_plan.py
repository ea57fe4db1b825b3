"""The row plan: which fields of records a spec's rows need, and in which form.  Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from tasks.contract.ingest_spec import Column, Metric, RowSpec, TimestampSpec
from tasks.rows.arrays import ELEMENTS
from tasks.rows.discovery import unsettled
from tasks.rows.expression.compile import compile_expression, names_in
from tasks.rows.expression.parse import parse
from tasks.rows.expression.tree import ElementType, Name, Node
from tasks.rows.expression.value import ArrayValue, Value, as_double
from tasks.rows.filter_sql import fields_in, filter_sql

NumberType = Literal["long", "double"]
"""Types of number columns that a format may read directly as numbers."""

_ANYTHING = Value(
    *("i0l", "i0d", "i0s", ArrayValue(ElementType.STRING, "i0a"), "i0j"),
    number="i0n",
    truth="i0t",
    digits="i0g",
)

TIME = "__time"
"""Name of a row's time in expressions and filters: milliseconds since the epoch."""

OWN_TIME = "__at"
"""Column of rows before their rollup: their own time in microseconds, not truncated."""

RECORDS = "__count"
"""Column of rolled-up rows: the number of records that each row stands for."""

OWN_COLUMNS = ("__time", "__partition", "__offset", "__topic")
"""Columns that we add; no field with such a name becomes a column (see `is_reserved`)."""

_DISTINCT, _ENTRIES = "__of_", "__each_"


@dataclass(frozen=True)
class RowPlan:
    """The columns by the source of their values; numbers are indexes in the requested columns."""

    texts: tuple[tuple[int, Column], ...]
    """Columns made directly from a field's text."""
    values: tuple[tuple[int, Column], ...]
    """Columns made from a field with its own type."""
    transformed: tuple[tuple[int, Column], ...]
    """Columns made by a transform of the same name."""
    transforms: tuple[tuple[str, Node], ...]
    metrics: tuple[tuple[Metric, Node | None], ...]
    """Metrics with their inputs; None: a count."""
    inputs: tuple[str, ...]
    """Fields that transforms, filters and metrics read."""
    discovered: frozenset[str] = frozenset()
    """Columns that get their types from the records' values."""
    observed: tuple[str, ...] = ()
    """Names whose values' kinds are reported, in order; some may not be columns yet."""

    @property
    def text_names(self) -> tuple[str, ...]:
        """The fields whose text is stored, sorted."""
        return tuple(sorted({column.name for _, column in self.texts}))

    @property
    def value_names(self) -> tuple[str, ...]:
        """The fields that are needed with their own type, sorted."""
        computed = {name for name, _ in self.transforms}
        values = {column.name for _, column in self.values} | (set(self.observed) - computed)
        return tuple(sorted({*self.inputs, *values}))


def plan_rows(
    spec: RowSpec, columns: Sequence[Column], kinds: Mapping[str, int] = MappingProxyType({})
) -> RowPlan:
    """Return the plan of a spec; `kinds` are those of discovered columns (`tasks.rows.discovery`).

    Raises:
        ExpressionError: an expression of the spec cannot be parsed.
    """
    transforms = tuple((t.name, parse(t.expression)) for t in spec.transforms)
    computed = {name for name, _ in transforms}
    looked_at = {name for _, tree in transforms for name in names_in(tree)}
    if spec.filter is not None:
        looked_at |= set(fields_in(spec.filter)) - computed
    metrics = tuple((metric, _input_of(metric)) for metric in spec.metrics)
    for metric, tree in metrics:
        looked_at |= (frozenset() if tree is None else names_in(tree)) - computed
        looked_at |= (set() if metric.filter is None else set(fields_in(metric.filter))) - computed
    numbered = list(enumerate(columns))
    plain = [(n, c) for n, c in numbered if c.name not in computed]
    return RowPlan(
        texts=tuple((n, c) for n, c in plain if not _has_own_type(c, kinds)),
        values=tuple((n, c) for n, c in plain if _has_own_type(c, kinds)),
        transformed=tuple((n, c) for n, c in numbered if c.name in computed),
        transforms=transforms,
        metrics=metrics,
        inputs=tuple(sorted(looked_at - {TIME})),
        discovered=frozenset(kinds),
        observed=unsettled(kinds),
    )


def numbers_of(plan: RowPlan, time: TimestampSpec) -> dict[str, NumberType]:
    """Return the fields whose texts are only needed to make one type of number of them."""
    kinds: dict[str, set[str]] = {}
    for _, column in plan.texts:
        kinds.setdefault(column.name, set()).add(column.type)
    in_numbers = time.format in {"millis", "posix", "micro", "nano"}
    kinds.setdefault(time.column, set()).add("long" if in_numbers else "string")
    wanted: tuple[NumberType, ...] = ("long", "double")
    return {name: kind for name, found in kinds.items() for kind in wanted if found == {kind}}


def _has_own_type(column: Column, kinds: Mapping[str, int]) -> bool:
    return column.type == "json" or column.type in ELEMENTS or column.name in kinds


def _input_of(metric: Metric) -> Node | None:
    if metric.expression is not None:
        return parse(metric.expression)
    return None if metric.field is None else Name(0, metric.field)


def measured(spec: RowSpec) -> tuple[Column, ...]:
    """Return the columns behind a table's own in the files of a batch: the inputs of metrics.

    A sketch's input is the value itself until the rows are merged, under names of its own: a text
    and, behind the columns of all metrics, the entries of a list.
    """
    columns = [
        Column(name=f"{_DISTINCT}{m.name}", type="string")
        if m.is_sketch
        else Column(name=m.name, type=m.type)
        for m in spec.metrics
    ]
    lists = [m.name for m in spec.metrics if m.is_sketch]
    columns += [Column(name=f"{_ENTRIES}{of}", type="array<string>") for of in lists]
    if needs_own_time(spec):
        columns.append(Column(name=OWN_TIME, type="long"))
    return tuple(columns)


def counted_apart(spec: RowSpec) -> tuple[tuple[int, int], ...]:
    """Return for each sketch the index of its text in `measured`, and of its entries."""
    counts = [number for number, metric in enumerate(spec.metrics) if metric.is_sketch]
    return tuple((text, entries) for entries, text in enumerate(counts, len(spec.metrics)))


def metric_columns(spec: RowSpec) -> tuple[Column, ...]:
    """Return the columns of metrics in published files; a sketch has no type of columns."""
    return tuple(Column(name=m.name, type=m.type) for m in spec.metrics if not m.is_sketch)


def needs_own_time(spec: RowSpec) -> bool:
    """Return whether a rollup needs the rows' own times."""
    return spec.rollup and any(m.of in {"first", "last"} for m in spec.metrics)


def is_reserved(column: str) -> bool:
    """Return whether a name is reserved for columns of ours, in any case of letters.

    It is so without rollup too: a table's columns must not depend on whether rows are merged.
    """
    name = column.lower()
    return not name or name in OWN_COLUMNS or is_own_of_rollup(name)


def is_own_of_rollup(column: str) -> bool:
    """Return whether a rollup makes a column, or needs it until its rows are merged."""
    return column in {RECORDS, OWN_TIME} or column.startswith((_DISTINCT, _ENTRIES))


def staged(value: Value, prefix: str) -> tuple[list[str], Value]:
    """Name each text of a value; return the SQL to select, and the value by these names.

    The value's number gets a name as well if its SQL is long.
    """
    names = {
        "long": f"{prefix}l",
        "double": f"{prefix}d",
        "string": f"{prefix}s",
        "json": f"{prefix}j",
        "truth": f"{prefix}t",
        "digits": f"{prefix}g",
    }
    held = {key: name for key, name in names.items() if getattr(value, key) is not None}
    selected = [f"{getattr(value, key)} AS {name}" for key, name in held.items()]
    array = value.array
    if array is not None:
        selected.append(f"{array.sql} AS {prefix}a")
        variant = None if array.variant is None else f"{prefix}w"
        selected += [] if array.variant is None else [f"{array.variant} AS {variant}"]
        array = replace(array, sql=f"{prefix}a", variant=variant, known_shape=None)
    number = f"{prefix}n" if value.string or value.array or len(value.texts) > 1 else None
    if number is not None:
        selected.append(f"{as_double(value)} AS {number}")
    return selected, Value(**held, array=array, number=number)


def there(value: Value) -> str:
    """Return the SQL of whether a value is not null."""
    return "(" + (" OR ".join(f"({sql}) IS NOT NULL" for sql in value.texts) or "false") + ")"


def check_rows(spec: RowSpec) -> None:
    """Check that every expression of a spec can be compiled, whatever its fields hold.

    Raises:
        ExpressionError: an expression cannot.
    """
    plan = plan_rows(spec, ())
    trees = [tree for _, tree in plan.transforms] + [tree for _, tree in plan.metrics if tree]
    for tree in trees:
        compile_expression(tree, lambda _: _ANYTHING)
    for wanted in (spec.filter, *(metric.filter for metric in spec.metrics)):
        if wanted is not None:
            filter_sql(wanted, lambda _: _ANYTHING)
