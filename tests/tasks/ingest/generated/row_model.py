"""What rows a random spec makes of random records: plain Python, after the page of the spec.

It shares no code with the product: fields, times, filters, transforms, types, rollup.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from math import floor

from pydantic import JsonValue

from tasks.contract.ingest_spec import ColumnType, Discovery
from tests.tasks.ingest.generated.draws.filters import Document
from tests.tasks.ingest.generated.draws.records import EPOCH, ONE_MICRO, Case, Fields, Sent
from tests.tasks.ingest.generated.draws.specs import BESIDE, DEEP, LINES, PATTERN, Drawn, Measure
from tests.tasks.ingest.generated.draws.times import floor_of
from tests.tasks.ingest.generated.filter_model import passes
from tests.tasks.ingest.generated.value_model import (
    Cell,
    Scalar,
    as_number,
    fits,
    grown,
    is_long,
    measured,
    read,
    single,
    sort_of,
    text_of,
    worked_out,
    wrapped,
)

Cells = Mapping[str, Cell]
Line = frozenset[tuple[str, object]]
"""A row of a table: its columns that are not null, and their values."""

_OWN = {"__time", "__partition", "__offset", "__topic", ""}
_OF_ROLLUP = {"__count", "__at"}
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UNITS = {"posix": 1_000_000, "millis": 1_000, "micro": 1}


@dataclass(frozen=True)
class Raw:
    """A record that became a row, before columns have types."""

    partition: int
    offset: int
    time: datetime
    """Its own, not cut down."""
    fields: Fields
    """With what transforms make."""
    keys: frozenset[str]
    """The fields that the record itself has."""


@dataclass(frozen=True)
class Row:
    """One row as the table has it; nulls are left out."""

    partition: int
    offset: int
    own_time: datetime
    time: datetime
    cells: Cells
    measures: Mapping[str, Scalar]
    counted: Mapping[str, frozenset[str]]
    """Of each distinct count the values that it counts."""
    misfit: bool
    """A value did not fit its column."""


@dataclass(frozen=True)
class Expected:
    """All that becomes of a topic."""

    rows: tuple[Row, ...]
    rejects: Mapping[tuple[int, int], str]
    """(partition, offset) -> reason."""
    types: Mapping[str, ColumnType]
    """Those of the columns that have the types of their values."""


def expected(case: Case, topic: str) -> Expected:
    """Work out what becomes of a topic."""
    raw: list[Raw] = []
    rejects: dict[tuple[int, int], str] = {}
    for partition, records in enumerate(case.partitions):
        for offset, sent in enumerate(records):
            judged = _judged(case.spec, sent, topic)
            if isinstance(judged, str):
                rejects[partition, offset] = judged
            else:
                raw.append(replace(judged, partition=partition, offset=offset))
    columns = _columns(case.spec, raw)
    rows = tuple(_row(case.spec, one, columns) for one in raw)
    typed = {name: kind for name, kind in columns.items() if case.spec.is_typed(name)}
    return Expected(rows, rejects, typed)


def _judged(spec: Drawn, sent: Sent, topic: str) -> Raw | str:
    if sent.form is not None:
        return sent.form
    fields = _fields_of(spec, sent, topic)
    time = _time_of(spec, fields.get(spec.time_column))
    if isinstance(time, str):
        return time
    computed = {name: transformed(name, fields, time) for name, _ in spec.transforms}
    if "__time" in computed:
        time = _cut(time, 1_000) + timedelta(hours=1)
    whole = {**fields, **{name: value for name, value in computed.items() if name != "__time"}}
    if spec.filter is not None and not passes(spec.filter, whole):
        return "filtered"
    if spec.not_before is not None and time < spec.not_before:
        return "before-minimum-time"
    if spec.not_after is not None and time > spec.not_after:
        return "after-maximum-time"
    return Raw(0, 0, time, whole, frozenset(_keys(spec, fields)))


def _keys(spec: Drawn, fields: Fields) -> Iterator[str]:
    """The fields that a record has: those that its format names, and those with a value."""
    for name, value in fields.items():
        # Of the fields of Avro `o` alone can only be nested.
        named = spec.written in LINES or (spec.written == "avro" and name != "o")
        flat = value is not None and not _is_nested(spec, value)
        if spec.discovery is not Discovery.TEXTS or named or flat or name in spec.explicit:
            yield name


def _is_nested(spec: Drawn, value: JsonValue) -> bool:
    if isinstance(value, list):
        return spec.written == "protobuf" or any(isinstance(one, dict | list) for one in value)
    return isinstance(value, dict)


def _fields_of(spec: Drawn, sent: Sent, topic: str) -> dict[str, JsonValue]:
    fields = dict(sent.fields)
    if spec.written in LINES:
        for name in ("t", *spec.fields):
            fields.setdefault(name, None)  # a line has all of them
    if spec.flattened:
        inner = fields.get("o")
        fields = {k: v for k, v in fields.items() if spec.roots is None or k in spec.roots}
        if sent.value is not None:
            fields[DEEP] = inner.get("k") if isinstance(inner, dict) else None
    if spec.kafka:
        header = None if sent.header is None else sent.header.decode()
        beside = dict(zip(BESIDE, (sent.key_text, sent.millis, topic, header), strict=True))
        fields |= {name: value for name, value in beside.items() if value is not None}
    return fields


def _time_of(spec: Drawn, value: JsonValue) -> datetime | str:
    """Return a time, or the reason why there is none."""
    text = text_of(value)
    if text is None or not text.strip(" "):
        return spec.missing or "no-timestamp"
    written = spec.time_format
    if written == "auto":
        written = "iso" if _ISO.fullmatch(text) else "millis"
    try:
        if written == "iso":
            if not _ISO.fullmatch(text):
                return "bad-timestamp"
            return datetime.fromisoformat(text)
        if written == PATTERN:
            return datetime.strptime(text, "%d/%m/%Y %H:%M").replace(tzinfo=UTC)
        if written == "nano":
            return EPOCH + int(text) // 1_000 * ONE_MICRO
        return EPOCH + floor(Decimal(text) * _UNITS[written]) * ONE_MICRO
    except (ValueError, InvalidOperation):
        return "bad-timestamp"


def _cut(time: datetime, micros: int) -> datetime:
    return EPOCH + (time - EPOCH) // ONE_MICRO // micros * micros * ONE_MICRO


def _columns(spec: Drawn, raw: Sequence[Raw]) -> dict[str, ColumnType]:
    """Return the columns that have a value, with their types."""
    found_types: dict[str, ColumnType] = {
        d.name: d.type for d in spec.dimensions if d.type is not None
    }
    names = {d.name for d in spec.dimensions if d.type is None}
    if spec.discovery is not Discovery.NOTHING:
        own = _OWN | (_OF_ROLLUP if spec.rollup else set()) | spec.excluded | found_types.keys()
        names |= {key for one in raw for key in one.keys} - own
    for name in sorted(names):
        if not spec.is_typed(name):
            found_types[name] = "string"
        elif (kind := _kind(_values(spec, raw, name))) is not None:
            found_types[name] = kind
    return found_types


def _values(spec: Drawn, raw: Iterable[Raw], name: str) -> Iterator[JsonValue]:
    return (one.fields.get(name) for one in raw if _is_there(spec, one, name))


def _is_there(spec: Drawn, raw: Raw, name: str) -> bool:
    """Tell whether a row has a column: of one that is met, records without the field do not."""
    listed = {dimension.name for dimension in spec.dimensions}
    return name in {*listed, *raw.keys, *(spec.roots or ())}


def _kind(values: Iterable[JsonValue]) -> ColumnType | None:
    """Return the type that values make."""
    sorts = {sort_of(value) for value in values if value is not None}
    if not sorts:
        return None
    for known in (_SCALARS, _LISTS):
        if sorts <= set(known):
            return next(kind for kind in reversed(known) if kind in sorts)
    return "string" if sorts == {"string"} else "json"


_SCALARS: tuple[ColumnType, ...] = ("long", "double")
_LISTS: tuple[ColumnType, ...] = ("array<long>", "array<double>", "array<string>")


def _row(spec: Drawn, raw: Raw, columns: Mapping[str, ColumnType]) -> Row:
    transform_names = {name for name, _ in spec.transforms}
    cells: dict[str, Cell] = {}
    misfit = False
    for name, kind in columns.items():
        value = raw.fields.get(name) if _is_there(spec, raw, name) else None
        if spec.discovers_text(name) and name not in transform_names and _is_nested(spec, value):
            value = None
        if spec.is_typed(name):
            cells[name] = grown(value, kind)
        elif name in transform_names:
            cells[name] = worked_out(value, kind)
        else:
            cells[name] = read(value, kind)
        misfit = misfit or not fits(value, cells[name])
    measures: dict[str, Scalar] = {}
    counted: dict[str, frozenset[str]] = {}
    for metric in spec.metrics:
        counts = metric.filter is None or passes(metric.filter, raw.fields)
        metric_value = _metric_value(metric, raw.fields)
        if metric.is_sketch:
            counted[metric.name] = _distinct_texts(metric_value) if counts else frozenset()
            continue
        measures[metric.name] = _measured(metric, metric_value) if counts else None
        if metric.of == "count":
            measures[metric.name] = int(counts)
        misfit = misfit or (counts and metric_value is not None and measures[metric.name] is None)
    return Row(
        partition=raw.partition,
        offset=raw.offset,
        own_time=raw.time,
        # Rows that are rolled up have Druid's milliseconds.
        time=_cut(floor_of(raw.time, spec.query), 1_000 if spec.rollup else 1),
        cells={name: value for name, value in cells.items() if value is not None},
        measures={name: value for name, value in measures.items() if value is not None},
        counted=counted,
        misfit=misfit,
    )


def _metric_value(metric: Measure, fields: Fields) -> JsonValue:
    if metric.expression is not None:
        return multiplied(fields.get("v"), 2)
    return None if metric.field is None else fields.get(metric.field)


def _measured(metric: Measure, value: JsonValue) -> Scalar:
    if metric.type == "string" and isinstance(value, bool):
        return text_of(value)  # a metric has the field itself, and not what expressions see
    return measured(value, metric.type)


def _distinct_texts(value: JsonValue) -> frozenset[str]:
    """Return what a distinct count is of: of a list its entries."""
    texts = map(text_of, value if isinstance(value, list) else [value])
    return frozenset(text for text in texts if text is not None)


_NEW_YORK: Document = {"period": "P1D", "timeZone": "America/New_York"}


def transformed(name: str, fields: Fields, time: datetime) -> JsonValue:
    """Work out one of `random_specs.TRANSFORMS`."""
    g, n, o = text_of(fields.get("g")), fields.get("n"), fields.get("o")
    match name:
        case "upper":
            return None if g is None else g.upper()
        case "more":
            number = as_number(n)
            return wrapped(n + 1) if is_long(n) else None if number is None else number + 1
        case "shout":
            return None if g is None else f"{g}!"
        case "known":
            return "none" if g is None else g
        case "size":
            number = as_number(n)
            # NaN is more than any number.
            return "big" if number is not None and not number <= 1 else "small"
        case "id":
            return 0 if n is None else n
        case "once":
            return multiplied(n, 1)
        case "real":
            number = as_number(n)
            return None if number is None else float(number)
        case "hours":
            return (time - EPOCH) // ONE_MICRO // 1_000 // 3_600_000
        case "pair":
            return [g, "end"]
        case "day":
            return (floor_of(time, _NEW_YORK) - EPOCH) // ONE_MICRO // 1_000
        case "g" | "late one":
            return "NONE" if g is None else g.upper()
        case "inner":
            held = o.get("k") if isinstance(o, dict) else None
            return None if isinstance(held, dict | list) else held
        case _:
            return None


def multiplied(value: JsonValue, by: int) -> JsonValue:
    """Return what an expression makes: longs wrap, anything else is a double."""
    if isinstance(value, bool):
        value = int(value)
    if is_long(value):
        return wrapped(value * by)
    number = as_number(value)
    return None if number is None else number * by


def rolled_up(rows: Iterable[Row], metrics: Sequence[Measure]) -> Counter[Line]:
    """Return the rows of one range, rolled up; sketches are left out."""
    groups: dict[tuple[datetime, Line], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row.partition, row.offset)):
        groups.setdefault((row.time, frozenset(row.cells.items())), []).append(row)
    return Counter(
        frozenset({("__time", time), *cells, ("__count", len(group)), *_aggregates(group, metrics)})
        for (time, cells), group in groups.items()
    )


def _aggregates(group: Sequence[Row], metrics: Sequence[Measure]) -> Iterator[tuple[str, object]]:
    timed = sorted(group, key=lambda row: (row.own_time, row.partition, row.offset))
    for metric in metrics:
        placed = [row.measures[metric.name] for row in group if metric.name in row.measures]
        by_time = [row.measures[metric.name] for row in timed if metric.name in row.measures]
        if placed:
            found = _aggregated(metric.of, placed, by_time)
            yield metric.name, _held(found, metric.type) if metric.of == "sum" else found


def _held(total: Scalar, kind: ColumnType) -> Scalar:
    """Return a sum in its column: longs wrap around, a float has 24 bits."""
    if isinstance(total, int):
        return wrapped(total) if kind == "long" else total
    return single(total) if kind == "float" and isinstance(total, float) else total


def _aggregated(of: str, placed: Sequence[Scalar], by_time: Sequence[Scalar]) -> Scalar:
    numbers = [value for value in placed if isinstance(value, int | float)]
    match of:
        case "count" | "sum":
            return sum(numbers)
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "first":
            return by_time[0]
        case "last":
            return by_time[-1]
        case _:
            return placed[0]
