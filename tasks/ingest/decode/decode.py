"""Decoding of each record to a row, or to a reject reason.  The same bytes give the same result.

    value ─► form? ─► fields ─► a time? ─► transforms ─► wanted? ─► columns, metrics ─► row
      └ null-value      │         └ no-timestamp           └ filtered
      └ empty           │         └ bad-timestamp          └ before-minimum-time
      └ not-json, …  ◄──┘                                  └ after-maximum-time
                                         do its values fit? ┴ unfit-value, if the spec asks

Each rule is SQL text over a frame of `p` (partition), `o` (offset), `v` (the value's bytes).  No
rule depends on a clock, a locale or the machine.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from tasks.contract.ingest_spec import Column, Metric, RowSpec, UnfitValues
from tasks.ingest.decode.transform import (
    MICROS_MIN,
    as_column,
    as_time,
    as_value,
    from_millis,
    micros,
    read_time,
    within_type,
)
from tasks.ingest.decode.unfit import Lost, unfit_sql
from tasks.ingest.formats.parse import parse
from tasks.ingest.formats.parsed import NEVER, NO_NUMBERS, NONE_OF_NAMES, Parsed, WantedFields
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import NO_SCHEMAS, Schemas
from tasks.ingest.spark.sql import (
    AGAIN_COLUMN,
    ERROR_COLUMN,
    KIND_COLUMN,
    MISSING_SCHEMA_COLUMN,
    REASON_COLUMN,
    UNFIT_COLUMN,
    UNKNOWN_COLUMN,
)
from tasks.rows.arrays import ELEMENTS, count_of, held_in
from tasks.rows.discovery import kinds_sql, stored
from tasks.rows.expression.compile import compile_expression
from tasks.rows.expression.tree import Node
from tasks.rows.expression.value import Value, as_long, without_array
from tasks.rows.filter_sql import filter_sql
from tasks.rows.row_plan import (
    TIME,
    RowPlan,
    measured,
    needs_own_time,
    numbers_of,
    plan_rows,
    staged,
    there,
)
from tasks.rows.sql.text import text
from tasks.rows.sql.text import texts as listed
from tasks.rows.time.period import floor_sql, read_period

_UNFIT_TEXTS = "unfit_texts"
"""Like `UNFIT_COLUMN`, for columns that come directly from fields."""


def decode(
    records: DataFrame,
    spec: RowSpec,
    columns: Sequence[Column],
    *,
    known: Iterable[str],
    schemas: Schemas = NO_SCHEMAS,
    kinds: Mapping[str, int] = MappingProxyType({}),
    hidden: Collection[str] = (),
    flat: Collection[str] | None = None,
    straight: bool = True,
) -> DataFrame:
    """Turn records (see `source.read_range`) into judged rows, in one pass; runs no job.

    The result has `p`, `o`, `s` (the value as text), `size` (bytes), `t` (time), `c0`, `c1`, …
    (the columns, in order, then those of `measured(spec)`), `bad` (a value did not fit) and
    `reason` (0: a row).  Further columns, named in `sql`: `unknown` unless `known` is empty (all
    columns are declared then), `asked` for a format with a registry, `q0`, `q1`, … of
    `RowPlan.observed`, `unfit` if such values make a record no row, and `again`.

    `straight`: read all fields at once, numbers as numbers, if the format can; the rows are equal.
    `kinds`: of the columns with discovered types, and of names that are not columns yet.
    `hidden`: columns of transforms, only for records that have a field of that name.
    `flat`: fields whose nested values are null and never new; None: nested values are texts.
    """
    plan = plan_rows(spec, columns, kinds)
    texts = sorted({*plan.text_names, spec.timestamp.column})
    known = tuple(sorted(set(known) - set(hidden)))
    numbers = numbers_of(plan, spec.timestamp)
    plain = None if flat is None else frozenset(flat)
    wanted = WantedFields(tuple(texts), plan.value_names, known, numbers, plain, straight)
    frame, inputs, carried = _judged(parse(records, spec, wanted, schemas), plan, spec)
    frame, judged = _timed(frame, plan, spec, carried), _judges(spec)
    fields, lost = inputs, list[Lost]()
    if plan.transforms:
        kept = [*carried, *([_UNFIT_TEXTS] if judged else [])]
        frame, fields, lost = _transformed(frame, plan, inputs, kept, hidden=hidden)
    elif spec.filter is not None or plan.metrics:
        fields = inputs | {TIME: Value(long="unix_millis(t)")}
    if plan.metrics:
        frame, more = _measured(frame, plan, fields, len(columns), declared=not spec.rollup)
        lost += more
    if judged:
        frame = frame.selectExpr("*", f"{unfit_sql(lost, _UNFIT_TEXTS)} AS {UNFIT_COLUMN}")
    misfit = " OR ".join(["misfit", *(one.sql for one in lost)])
    if hidden:
        frame = frame.withColumn("unknown", fn.expr(_without(hidden)))
    if needs_own_time(spec):
        last = len(columns) + len(measured(spec)) - 1
        frame = frame.selectExpr("*", f"unix_micros(t) AS c{last}")
    return frame.selectExpr(
        *("p", "o", "s", "size"),
        f"{_stored_time(spec)} AS t",
        *(f"c{n}" for n in range(len(columns) + len(measured(spec)))),
        *(column for column in (MISSING_SCHEMA_COLUMN, AGAIN_COLUMN) if column in carried),
        *(f"{KIND_COLUMN}{n}" for n in range(len(plan.observed))),
        *([UNFIT_COLUMN] if judged else []),
        f"({misfit} OR unknown IS NOT NULL) AS {ERROR_COLUMN}",
        f"{_reason(spec, fields)} AS {REASON_COLUMN}",
        *([f"CASE WHEN t IS NOT NULL THEN unknown END AS {UNKNOWN_COLUMN}"] if known else []),
    )


def _timed(frame: DataFrame, plan: RowPlan, spec: RowSpec, carried: Sequence[str]) -> DataFrame:
    """Add the time `t`, and the fields of a row that do not fit or are unknown."""
    lost = _misfits(plan)
    return frame.selectExpr("*", f"{read_time('x', spec.timestamp)} AS y").selectExpr(
        *("p", "o", "s", "size", "x", "r", *carried),
        f"{as_time('x', 'y', spec.timestamp)} AS t",
        f"{' OR '.join(one.sql for one in lost) or 'false'} AS misfit",
        f"CASE WHEN r = 0 THEN nullif(fresh, {NONE_OF_NAMES}) END AS unknown",
        *([f"{unfit_sql(lost)} AS {_UNFIT_TEXTS}"] if _judges(spec) else []),
    )


def _judged(
    parsed: Parsed, plan: RowPlan, spec: RowSpec
) -> tuple[DataFrame, dict[str, Value], list[str]]:
    """Name the parts: `x` the time's text, `r` the reason, `f0` … texts, `c0` … columns.

    Returns also the inputs of transforms and filter, and the names that later steps need.
    """
    inputs: dict[str, Value] = {}
    looked_at: list[str] = []
    for number, name in enumerate(plan.inputs):
        selected, inputs[name] = staged(parsed.value(name), f"i{number}")
        looked_at += selected
    if parsed.missing_schemas != NO_NUMBERS:
        looked_at.append(f"{parsed.missing_schemas} AS {MISSING_SCHEMA_COLUMN}")
    if parsed.again != NEVER:
        looked_at.append(f"{parsed.again} AS {AGAIN_COLUMN}")
    computed = {name for name, _ in plan.transforms}
    looked_at += [
        f"{kinds_sql(parsed.value(name))} AS {KIND_COLUMN}{n}"
        for n, name in enumerate(plan.observed)
        if name not in computed
    ]
    frame = parsed.frame.selectExpr(
        *("p", "o", "s"),
        f"coalesce(octet_length({parsed.raw}), 0) AS size",
        f"{parsed.text(spec.timestamp.column)} AS x",
        f"{parsed.reason} AS r",
        *(f"{_raw(parsed, c)} AS f{n}" for n, c in plan.texts if c.type != "string"),
        *(f"{_value(parsed, c)} AS c{n}" for n, c in plan.texts),
        *(f"{_stored_sql(plan, c, parsed.value(c.name))} AS c{n}" for n, c in plan.values),
        *(f"{held_in(parsed.value(c.name))} AS f{n}" for n, c in _declared_arrays(plan)),
        *(f"{_is_infinite(parsed.value(c.name))} AS f{n}" for n, c in _discovered_numbers(plan)),
        *looked_at,
        f"{parsed.unknown} AS fresh",
    )
    carried = [f"c{n}" for n, _ in (*plan.texts, *plan.values)]
    return frame, inputs, carried + [text.rpartition(" AS ")[2] for text in looked_at]


def _raw(parsed: Parsed, column: Column) -> str:
    """Return the SQL of the text from which a column's value is made; null if none is needed."""
    exact = parsed.exact.get(column.name)
    return parsed.text(column.name) if exact is None else exact.otherwise


def _value(parsed: Parsed, column: Column) -> str:
    value = as_value(_raw(parsed, column), column.type)
    exact = parsed.exact.get(column.name)
    if exact is None:
        return value
    return f"CASE WHEN NOT {parsed.again} THEN {exact.number} ELSE {value} END"


def _stored_sql(plan: RowPlan, column: Column, value: Value) -> str:
    """Return the SQL of a value as its column stores it."""
    if column.name in plan.discovered:
        # If the column may still grow to a type, a non-finite number is null in that type.
        finite = value.double and within_type(value.double, "double")
        return stored(replace(value, double=finite, number=None, digits=None), column.type)
    return as_column(value, column.type)


def _transformed(
    frame: DataFrame,
    plan: RowPlan,
    inputs: dict[str, Value],
    carried: Sequence[str],
    *,
    hidden: Collection[str],
) -> tuple[DataFrame, dict[str, Value], list[Lost]]:
    """Compute the transforms; they see the record's fields and time, but not each other."""
    before = inputs | {TIME: Value(long="unix_millis(t)")}
    computed: dict[str, Value] = {}
    selected: list[str] = []
    for number, (name, tree) in enumerate(plan.transforms):
        worked_out = compile_expression(tree, lambda field: before.get(field, Value()))
        texts, computed[name] = staged(worked_out, f"m{number}")
        selected += texts
    frame = frame.selectExpr("*", *selected)
    held = computed | {name: _where_met(name, computed[name]) for name in hidden}
    columns = [f"{_stored_sql(plan, c, held[c.name])} AS c{n}" for n, c in plan.transformed]
    columns += [
        f"{kinds_sql(held[name])} AS {KIND_COLUMN}{n}"
        for n, name in enumerate(plan.observed)
        if name in computed
    ]
    if TIME in computed:
        # A transform that makes the time null makes it a bad time, even if the record had none.
        moved = "CASE WHEN t IS NULL THEN x ELSE 'moved' END AS x"
        kept = ["p", "o", "s", "size", moved, "r", "misfit", "unknown", *carried]
        kept += [text.rpartition(" AS ")[2] for text in selected]
        time = from_millis(as_long(computed[TIME]))
        frame = frame.selectExpr(*kept, f"CASE WHEN t IS NOT NULL THEN {time} END AS t", *columns)
    else:
        frame = frame.selectExpr("*", *columns)
    lost = [
        Lost(_is_lost(held[c.name], c, f"c{n}"), c, declared=c.name not in plan.discovered)
        for n, c in plan.transformed
    ]
    return frame, inputs | computed | {TIME: Value(long="unix_millis(t)")}, lost


def _where_met(name: str, value: Value) -> Value:
    """Return a value, or null if its record has no field of that name."""

    def met(sql: str | None) -> str | None:
        return sql and f"CASE WHEN array_contains(unknown, {text(name)}) THEN {sql} END"

    array = value.array
    if array is not None:
        variant, shape = met(array.variant), met(array.known_shape)
        array = replace(array, sql=met(array.sql) or "", variant=variant, known_shape=shape)
    return Value(
        *(met(value.long), met(value.double), met(value.string), array, met(value.json)),
        digits=met(value.digits),
    )


def _without(hidden: Collection[str]) -> str:
    """Return the SQL of the unknown keys, without names that were requested only as `hidden`."""
    return f"nullif(array_except(unknown, array({listed(sorted(hidden))})), {NONE_OF_NAMES})"


def _measured(
    frame: DataFrame, plan: RowPlan, fields: dict[str, Value], columns: int, *, declared: bool
) -> tuple[DataFrame, list[Lost]]:
    """Compute the inputs of metrics, which see all fields, of transforms and of the record."""
    lost: list[Lost] = []
    staging: list[str] = []
    selected: list[str] = []
    entries: list[str] = []
    for number, (metric, tree) in enumerate(plan.metrics, columns):
        counted, measure = _counted(metric, fields), "1L"
        if tree is not None:
            texts, value = staged(_measured_value(metric, tree, fields), f"k{number}")
            staging += texts
            if metric.is_sketch:
                entries.append(f"CASE WHEN {counted} THEN {_entries(value)} END")
                value = without_array(value)
            measure = as_column(value, metric.type)
            missing = f"({counted} AND {there(value)} AND c{number} IS NULL)"
            lost.append(Lost(missing, Column(name=metric.name, type=metric.type), declared))
        otherwise = "0L" if metric.of == "count" else "NULL"
        selected.append(f"CASE WHEN {counted} THEN {measure} ELSE {otherwise} END AS c{number}")
    after = columns + len(plan.metrics)
    selected += [f"{each} AS c{number}" for number, each in enumerate(entries, after)]
    frame = frame.selectExpr("*", *staging).selectExpr("*", *selected)
    return frame, lost


def _measured_value(metric: Metric, tree: Node, fields: dict[str, Value]) -> Value:
    """Return the input of a metric: for a field the value itself, which may be a boolean."""
    if metric.field is not None:
        return fields.get(metric.field, Value())
    return compile_expression(tree, lambda field: fields.get(field, Value()))


def _entries(value: Value) -> str:
    """Return the SQL of a list as texts, null if it is no list: each entry counts as a value.

    Source: Druid's `HllSketchBuildUtil.updateSketch`.
    """
    listed = value.array.sql if value.array else "NULL"
    return f"CAST({listed} AS ARRAY<STRING>)"


def _counted(metric: Metric, fields: dict[str, Value]) -> str:
    """Return the SQL of whether a row counts for a metric."""
    if metric.filter is None:
        return "true"
    return f"coalesce({filter_sql(metric.filter, lambda field: fields.get(field, Value()))}, false)"


def _reason(spec: RowSpec, fields: dict[str, Value]) -> str:
    """Return the SQL of the reject reason: by the form, then the time, then the spec's filters."""
    no, bad = RejectReason.NO_TIMESTAMP.code, RejectReason.BAD_TIMESTAMP.code
    cases = [
        "WHEN r <> 0 THEN r",
        f"WHEN t IS NULL THEN CASE WHEN x IS NULL OR trim(x) = '' THEN {no} ELSE {bad} END",
    ]
    if spec.filter is not None:
        kept = filter_sql(spec.filter, lambda field: fields.get(field, Value()))
        cases.append(f"WHEN NOT coalesce({kept}, false) THEN {RejectReason.FILTERED.code}")
    if spec.not_before is not None:
        bound = f"timestamp_micros({micros(spec.not_before)})"
        cases.append(f"WHEN t < {bound} THEN {RejectReason.TOO_EARLY.code}")
    if spec.not_after is not None:
        bound = f"timestamp_micros({micros(spec.not_after)})"
        cases.append(f"WHEN t > {bound} THEN {RejectReason.TOO_LATE.code}")
    if _judges(spec):  # the last: an unwanted record is dropped, whatever it holds
        cases.append(f"WHEN {UNFIT_COLUMN} IS NOT NULL THEN {RejectReason.UNFIT_VALUE.code}")
    return f"CASE {' '.join(cases)} ELSE 0 END"


def _stored_time(spec: RowSpec) -> str:
    """Return the SQL of a row's time, truncated, but not to before year 1, as in `tile_sql`."""
    if spec.truncation is None:
        return "t"
    cut = spec.truncation
    floor = floor_sql("t", read_period(cut.period), zone=cut.time_zone, origin=cut.origin)
    return f"CASE WHEN t IS NOT NULL THEN coalesce({floor}, timestamp_micros({MICROS_MIN})) END"


def _judges(spec: RowSpec) -> bool:
    return spec.unfit_values is UnfitValues.QUARANTINE


def _misfits(plan: RowPlan) -> list[Lost]:
    """Return the values that may not fit their columns; every value fits a column of texts."""
    typed = [(n, column) for n, column in plan.texts if column.type != "string"]
    lost = [Lost(f"(f{n} IS NOT NULL AND c{n} IS NULL)", column) for n, column in typed]
    lost += [Lost(_has_fewer(f"c{n}", f"f{n}"), c) for n, c in _declared_arrays(plan)]
    return lost + [Lost(f"f{n}", c, declared=False) for n, c in _discovered_numbers(plan)]


def _is_lost(value: Value, column: Column, stored_as: str) -> str:
    """Return the SQL of whether a value, or an element of it, is present but did not fit."""
    if column.type in ELEMENTS:
        return _has_fewer(stored_as, held_in(value))
    return f"({there(value)} AND {stored_as} IS NULL)"


def _is_infinite(value: Value) -> str:
    """Return the SQL of whether a field holds a number beyond the range of a double."""
    if not value.double:
        return "false"
    return f"(({value.double}) IS NOT NULL AND {within_type(value.double, 'double')} IS NULL)"


def _has_fewer(array: str, wanted: str) -> str:
    return f"(coalesce({count_of(array)}, 0) < coalesce({wanted}, 0))"


def _declared_arrays(plan: RowPlan) -> list[tuple[int, Column]]:
    return [(n, c) for n, c in plan.values if c.type in ELEMENTS and c.name not in plan.discovered]


def _discovered_numbers(plan: RowPlan) -> list[tuple[int, Column]]:
    """Return (index, column) of the columns with discovered types that may hold numbers."""
    return [
        (n, c) for n, c in plan.values if c.name in plan.discovered and c.type in {"double", "json"}
    ]
