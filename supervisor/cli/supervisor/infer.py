"""Inference of a spec from a sample: the time field, and the columns with their discovered types.

The module is pure, so that tests are tables.  A doubtful result has a note.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from supervisor.core.values.field_types import RESERVED_COLUMNS
from supervisor.views.sample import SampleRow, SampleView

_MILLIS = range(10**12, 10**13)  # 2001 to 2286
_SECONDS = range(10**9, 10**10)
_COVERS = 0.9
"""Minimum share of the records with a readable value in the time field."""
_LIKELY = re.compile(r"^(@?timestamp|ts|time|__time|event_?time|datetime|date)$", re.IGNORECASE)
_POSSIBLE = re.compile(r"time|date|(^|_)(ts|at)$", re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
_UNKNOWN = "string"
"""Type of a column whose sampled values are all null."""


class NothingToInfer(ValueError):
    """The sample is not sufficient for a spec; the message says what is missing."""


@dataclass(frozen=True)
class Inferred:
    """The schema that was inferred from a sample."""

    timestamp_column: str
    timestamp_format: str
    columns: tuple[tuple[str, str], ...]
    """(name, type) of each column, in the order of first appearance."""
    notes: tuple[str, ...] = ()


@dataclass
class _Field:
    """The values of one field in all sampled records."""

    values: int = 0
    """The number of values that are not null."""
    formats: Counter[str] = field(default_factory=Counter)
    """The ways in which its values write a time, with the number of values."""

    def take(self, value: JsonValue) -> None:
        self.values += value is not None
        if (written := _time_format(value)) is not None:
            self.formats[written] += 1


def infer(sample: SampleView, timestamp_column: str | None = None) -> Inferred:
    """Return the schema of a sample whose spec has no time column, and discovers all types.

    `timestamp_column` is the user's own choice.

    Raises:
        NothingToInfer: no record is a JSON object, or no field is a time.
    """
    records = list(_objects(sample.data))
    if not records:
        raise NothingToInfer(_no_object(sample.data))
    fields: dict[str, _Field] = {}
    for record in records:
        for name, value in record.items():
            fields.setdefault(name, _Field()).take(value)
    time, written = _timestamp(fields, len(records), timestamp_column)
    # The discovery may have met the other spelling of a name first.
    types = {str(d["name"]).lower(): str(d["type"]) for d in sample.logical_dimensions}
    columns = {
        name: types.get(name.lower(), _UNKNOWN) for name in fields if _is_column(name, fields, time)
    }
    notes = []
    if bad := sum(row.unparseable for row in sample.data):
        notes += [f"{bad} of {len(sample.data)} records are no JSON objects: they will be rejected"]
    notes += _notes(fields, columns, time, len(records))
    return Inferred(time, written, tuple(columns.items()), tuple(notes))


def _objects(rows: Sequence[SampleRow]) -> Iterator[Mapping[str, JsonValue]]:
    """Yield the records that are JSON objects; a very long one came as a text and is left out."""
    for row in rows:
        record = row.input
        if not isinstance(record, dict) or not record or row.unparseable:
            continue
        is_text = list(record) == ["raw"] and "raw" not in (row.parsed or {})
        if not is_text:
            yield record


def _no_object(rows: Sequence[SampleRow]) -> str:
    first = rows[0].input if rows else None
    text = first.get("raw") if isinstance(first, dict) else first
    return f"none of {len(rows)} records is a JSON object; the first: {str(text)[:60]}"


def _timestamp(fields: Mapping[str, _Field], records: int, wanted: str | None) -> tuple[str, str]:
    if wanted is not None and wanted not in fields:
        raise NothingToInfer(f"no record has a field {wanted}; there are: {', '.join(fields)}")
    candidates = []
    for position, (name, summary) in enumerate(fields.items()):
        readable = summary.formats.total()
        if wanted is None and readable < _COVERS * records:
            continue
        if wanted in {None, name}:
            likely = 2 if _LIKELY.search(name) else 1 if _POSSIBLE.search(name) else 0
            candidates.append((-likely, -readable, position, name))
    if not candidates:
        raise NothingToInfer(
            "no field looks like a time (ISO 8601, milliseconds or seconds since 1970); "
            f"name one with --timestamp: {', '.join(fields)}"
        )
    name = min(candidates)[3]
    formats = fields[name].formats
    if len(formats) == 1:
        return name, next(iter(formats))
    return name, "auto"  # digits are milliseconds, everything else is ISO 8601


def _time_format(value: object) -> str | None:
    match value:
        case bool():
            return None
        case int() if value in _MILLIS:
            return "millis"
        case int() if value in _SECONDS:
            return "posix"
        case str() if _ISO.fullmatch(value):
            return "iso" if _is_iso(value) else None
        case str() if value.isascii() and value.isdigit() and int(value[:20]) in _MILLIS:
            return "millis"
        case _:
            return None


def _is_iso(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_column(name: str, fields: Mapping[str, _Field], timestamp: str) -> bool:
    if name == timestamp or not name or name.lower() in RESERVED_COLUMNS:
        return False
    same = [other for other in fields if other.lower() == name.lower() and other != timestamp]
    return same[0] == name


def _notes(
    fields: Mapping[str, _Field], columns: Mapping[str, str], time: str, records: int
) -> Iterator[str]:
    if (readable := fields[time].formats.total()) < records:
        yield f"{records - readable} records have no readable {time}: rejected as well"
    for name, summary in fields.items():
        if name == time:
            continue
        if name not in columns:
            yield f"{name or 'a field without a name'} is left out: the name is taken"
        elif columns[name] == "json":
            yield f"{name} holds objects, or values of several sorts: its column is json"
        elif not summary.values:
            yield f"{name} is always null: its column is {_UNKNOWN}"
