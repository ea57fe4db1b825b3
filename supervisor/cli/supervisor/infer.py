"""Inference of a spec from sampled records: the time field, and the type of each column.

The module is pure, so that tests are tables.  A doubtful result has a note.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.values.field_types import RESERVED_COLUMNS

_LONG = range(-(2**63), 2**63)
_MILLIS = range(10**12, 10**13)  # 2001 to 2286
_SECONDS = range(10**9, 10**10)
_COVERS = 0.9
"""Minimum share of the records with a readable value in the time field."""
_LIKELY = re.compile(r"^(@?timestamp|ts|time|__time|event_?time|datetime|date)$", re.IGNORECASE)
_POSSIBLE = re.compile(r"time|date|(^|_)(ts|at)$", re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")


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
    records: int = 0
    ints: int = 0
    floats: int = 0
    nulls: int = 0
    objects: int = 0
    """Objects, and lists that contain objects or lists."""
    lists: int = 0
    elements: "_Field | None" = None
    """Counts over the elements of all lists of scalars."""
    others: int = 0
    formats: dict[str, int] = field(default_factory=dict)

    def take(self, value: object) -> None:
        self.records += 1
        match value:
            case None:
                self.nulls += 1
            case bool():
                self.others += 1
            case int() if value in _LONG:
                self.ints += 1
            case int() | float():
                self.floats += 1
            case dict():
                self.objects += 1
            case list():
                self._take_list(value)
            case _:
                self.others += 1
        if (written := _time_format(value)) is not None:
            self.formats[written] = self.formats.get(written, 0) + 1

    def _take_list(self, value: list[object]) -> None:
        if any(isinstance(element, dict | list) for element in value):
            self.objects += 1
            return
        self.lists += 1
        self.elements = self.elements or _Field()
        for element in value:
            # In an array of numbers, true and false are numbers, as in the discovery of types.
            self.elements.take(int(element) if isinstance(element, bool) else element)

    @property
    def type(self) -> str:
        if self.objects or (self.lists and self.lists + self.nulls < self.records):
            return "json"
        if self.elements is not None:
            some = self.elements.records > self.elements.nulls
            return f"array<{self.elements.type if some else 'long'}>"
        if self.others or not (self.ints or self.floats):
            return "string"
        return "double" if self.floats else "long"


def infer(values: Sequence[bytes], timestamp_column: str | None = None) -> Inferred:
    """Return the schema of the records' values; `timestamp_column` is the user's own choice.

    Raises:
        NothingToInfer: no value is a JSON object, or no field is a time.
    """
    records = list(_objects(values))
    if not records:
        shown = values[0][:60].decode(errors="replace") if values else ""
        raise NothingToInfer(f"none of {len(values)} records is a JSON object; the first: {shown}")
    fields: dict[str, _Field] = {}
    for record in records:
        for name, value in record.items():
            fields.setdefault(name, _Field()).take(value)
    column, written = _timestamp(fields, len(records), timestamp_column)
    notes = list(_notes(fields, values, records, column))
    columns = tuple(
        (name, found.type) for name, found in fields.items() if _is_column(name, fields, column)
    )
    return Inferred(column, written, columns, tuple(notes))


def _objects(values: Sequence[bytes]) -> Iterator[dict[str, object]]:
    for value in values:
        try:
            record: object = json.loads(value)
        except ValueError:
            continue
        if isinstance(record, dict) and record:
            yield record


def _timestamp(fields: Mapping[str, _Field], records: int, wanted: str | None) -> tuple[str, str]:
    if wanted is not None and wanted not in fields:
        raise NothingToInfer(f"no record has a field {wanted}; there are: {', '.join(fields)}")
    candidates = []
    for position, (name, found) in enumerate(fields.items()):
        readable = sum(found.formats.values())
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
    fields: Mapping[str, _Field],
    values: Sequence[bytes],
    records: Sequence[object],
    timestamp: str,
) -> Iterator[str]:
    if (others := len(values) - len(records)) > 0:
        yield f"{others} of {len(values)} records are no JSON objects: they will be rejected"
    readable = sum(fields[timestamp].formats.values())
    if readable < len(records):
        yield f"{len(records) - readable} records have no readable {timestamp}: rejected as well"
    for name, field_summary in fields.items():
        if name == timestamp:
            continue
        if not _is_column(name, fields, timestamp):
            yield f"{name or 'a field without a name'} is left out: the name is taken"
        elif field_summary.type == "json":
            yield f"{name} holds objects, or lists beside other values: its column is json"
        elif field_summary.nulls == field_summary.records:
            yield f"{name} is always null: taken for string"
