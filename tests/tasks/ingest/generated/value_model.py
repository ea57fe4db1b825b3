"""What a value is in a column: plain Python, after the page of the spec.

Not from that page, but from the tests of decoding: doubles are written as Java does, and a text
that is a number may have blanks around it.
"""

import json
import math
import re
import struct
import sys
from decimal import Decimal
from typing import TypeGuard

from pydantic import JsonValue

from tasks.contract.ingest_spec import ColumnType
from tests.tasks.ingest.generated.draws.records import EXACT

Scalar = str | int | float | None
Cell = Scalar | tuple[Scalar, ...]
"""What a column holds; an array's elements may be null."""

ELEMENTS: dict[ColumnType, ColumnType] = {
    "array<long>": "long",
    "array<double>": "double",
    "array<string>": "string",
}

_SINGLE_MAX = 3.4028235e38
_MOST = {"double": sys.float_info.max, "float": _SINGLE_MAX}
_NO_NUMBERS = {"NaN", "Infinity", "+Infinity", "-Infinity"}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def as_number(value: JsonValue) -> float | None:
    """Return what a value is beside a number."""
    if isinstance(value, str):
        return double_of(value)
    if isinstance(value, bool) or is_long(value):
        return value
    return float(value) if isinstance(value, int | float) else None


def read(value: JsonValue, kind: ColumnType) -> Cell:
    """Return a field's value in a column whose type is given; null if it does not fit."""
    if kind in ELEMENTS:
        return listed(value, kind)
    text = text_of(value)
    if kind == "json":
        return None if value is None else json_of(value)
    if text is None or kind == "string":
        return text
    return _whole(text.strip(" ")) if kind == "long" else _real(text.strip(" "), kind)


def listed(value: JsonValue, kind: ColumnType) -> tuple[Scalar, ...] | None:
    """Return a value in a column of arrays: a scalar is a list of one, an object is none."""
    if value is None or isinstance(value, dict):
        return None
    several = value if isinstance(value, list) else [value]
    return tuple(_element(one, ELEMENTS[kind]) for one in several)


def _element(value: JsonValue, kind: ColumnType) -> Scalar:
    if value is None or isinstance(value, dict | list):
        return None
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, int) and not is_long(value):
        value = float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        value = int(value)  # of all numbers the text is that of the least type that holds them
    text = text_of(value)
    assert text is not None
    if kind == "string":
        return text
    return _whole(text.strip(" ")) if kind == "long" else _real(text.strip(" "), kind)


def fits(value: JsonValue, cell: Cell) -> bool:
    """Tell whether nothing of a value is lost in its column."""
    if not isinstance(cell, tuple):
        return value is None or cell is not None
    several = value if isinstance(value, list) else [value]
    return [one is None for one in several] == [one is None for one in cell]


def sort_of(value: JsonValue) -> ColumnType:
    """Return the type of a column that has met this value alone; it is not null."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, float) or (isinstance(value, int) and not is_long(value)):
        return "double"
    if isinstance(value, int):
        return "long"
    held = {sort_of(one) for one in value if one is not None} if isinstance(value, list) else set()
    if isinstance(value, dict) or not held <= {"long", "double", "string"}:
        return "json"
    most = "string" if "string" in held else "double" if "double" in held else "long"
    return next(kind for kind, of in ELEMENTS.items() if of == most)


def is_long(value: JsonValue) -> TypeGuard[int]:
    """Tell whether a value is a whole number of 64 bits."""
    return isinstance(value, int) and -(2**63) <= value < 2**63


def wrapped(value: int) -> int:
    """Return what 64 bits hold of a whole number."""
    return (value + 2**63) % 2**64 - 2**63


def _whole(text: str) -> int | None:
    if _INTEGER.fullmatch(text):
        return int(text) if is_long(int(text)) else None
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return int(number) if abs(number) <= EXACT and number == int(number) else None


def _real(text: str, kind: ColumnType) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    if kind == "double":
        return float(text)
    return single(float(text)) if abs(float(text)) <= _SINGLE_MAX else None


def single(number: float) -> float:
    """Return a number with the 24 bits of a float."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def worked_out(value: JsonValue, kind: ColumnType) -> Cell:
    """Return what an expression has made in a column whose type is given."""
    if kind in ELEMENTS:
        return listed(value, kind)
    return measured(value, kind)


def measured(value: JsonValue, kind: ColumnType) -> Scalar:
    """Return what an expression has made as a scalar."""
    if value is None or isinstance(value, dict | list):
        return None if value is None or kind not in {"string", "json"} else json_of(value)
    if isinstance(value, bool):
        value = int(value)
    match kind:
        case "string":
            return text_of(value)
        case "json":
            return json_of(value)
        case "long":
            return _cut(value)
        case _:
            number = as_number(value)
            if number is None or not abs(number) <= _MOST[kind]:
                return None
            return float(number) if kind == "double" else single(number)


def _cut(value: JsonValue) -> int | None:
    """Return a number without its fraction; null if no long is that."""
    exact: float | Decimal | None = as_number(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        exact = Decimal(value)
    if exact is None or exact != exact or abs(exact) == math.inf:  # noqa: PLR0124 -- NaN
        return None
    if isinstance(exact, float):
        return int(exact) if abs(exact) < 2**63 else None
    return int(exact) if is_long(int(exact)) else None


def grown(value: JsonValue, kind: ColumnType) -> Cell:
    """Return a value in a column whose type its values made."""
    if value is None:
        return None
    if isinstance(value, int) and not is_long(value):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if kind in ELEMENTS:
        return listed(value, kind)
    if kind == "json" and isinstance(value, list) and sort_of(value) != "json":
        return json_of(list(listed(value, "array<string>") or ()))
    if kind == "json":
        whole = isinstance(value, float) and value == int(value) and abs(value) <= EXACT
        return json_of(int(value) if whole and isinstance(value, float) else value)
    if isinstance(value, bool | int | float):
        return int(value) if kind == "long" else float(value)
    assert isinstance(value, str)
    return value


def _without_fractions(value: JsonValue) -> JsonValue:
    """Return what lies deeper than a column's own values: 1.0 is 1 in it."""
    if isinstance(value, dict):
        return {name: _without_fractions(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_fractions(inner) for inner in value]
    return int(value) if isinstance(value, float) and value == int(value) else value


def text_of(value: JsonValue) -> str | None:
    """Return a value as text: objects and lists as JSON, doubles as Java writes them."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _java(value)
    return _json_text(value)


def _json_text(value: JsonValue) -> str:
    """Return a value as JSON, with numbers as a text has them; infinity has quotes."""
    if isinstance(value, dict):
        members = (f"{_json_text(name)}:{_json_text(inner)}" for name, inner in value.items())
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_json_text, value))}]"
    if isinstance(value, float) and math.isfinite(value):
        return _java(value)
    return json.dumps(_java(value) if isinstance(value, float) else value, ensure_ascii=False)


def json_of(value: JsonValue) -> str:
    """Return a value as JSON; true and false are 1 and 0, unless they lie deeper."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return _java(value) if math.isfinite(value) else json.dumps(_java(value))
    return json.dumps(_without_fractions(value), separators=(",", ":"), ensure_ascii=False)


def _java(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "-Infinity" if number < 0 else "Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    first, *rest = map(str, digits)
    power = exponent + len(digits) - 1
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{power}"


def double_of(text: str) -> float | None:
    """Return the number that a text writes, to an expression."""
    if text.lower() in {"true", "false"}:
        return float(text.lower() == "true")
    return float(text) if _NUMBER.fullmatch(text) or text in _NO_NUMBERS else None
