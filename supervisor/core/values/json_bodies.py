"""Strict parsing of a request body as a JSON object, with a clear message if it is not one.

A body is refused early if it is too large or too deep.  It is also refused if two parsers could
understand it differently (a duplicate key, NaN, a lone surrogate).
"""

import json
import math
import re

from supervisor.core.values.errors import FieldError, InvalidSpec

SIZE_BYTES_MAX = 1024 * 1024
DEPTH_MAX = 64
"""The maximum nesting of objects and arrays."""
_DIGITS_MAX = 100
_KEY_SHOWN_MAX = 60
# Every text begins at a quote, so a bracket in a text is passed over; each sign is looked at once.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.?)*+(?:"|\Z)|([\[{])|([\]}])', re.DOTALL)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def parse_document(body: bytes) -> dict[str, object]:
    """Return the JSON object that `body` holds, in UTF-8.

    Raises:
        InvalidSpec: `body` is not a JSON object, or it is too large, too deep or ambiguous; the
            message names line and column if the JSON syntax is broken.

    Source: CVE-2021-25646, where an empty key changed the configuration of a Druid server.
    """
    if len(body) > SIZE_BYTES_MAX:
        raise _refused(f"body has {len(body)} bytes, at most {SIZE_BYTES_MAX} (1 MiB) are allowed")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise _refused(f"body is not UTF-8: byte {error.start}") from None
    if _depth(text) > DEPTH_MAX:
        raise _refused(f"body is too deep: at most {DEPTH_MAX} levels are allowed")
    try:
        document = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise _refused(f"body is not JSON: {place}: {error.msg}", "send a JSON object") from None
    if not isinstance(document, dict):
        raise _refused("body must be an object", 'send a JSON object: {"type": "kafka", ...}')
    _check_texts(document)
    return document


def _refused(message: str, hint: str = "") -> InvalidSpec:
    return InvalidSpec([FieldError("", message, hint)])


def _depth(text: str) -> int:
    """Return the nesting by counting brackets, because a recursive parser could crash on them."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        if match[1]:
            depth += 1
            deepest = max(deepest, depth)
        elif match[2]:
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members: dict[str, object] = {}
    for key, value in pairs:
        if not key:
            raise _refused("body has an empty key", "remove it")
        if key in members:
            shown_key = ascii(key[:_KEY_SHOWN_MAX])
            raise _refused(f"body has the key {shown_key} twice in one object", "give it once")
        members[key] = value
    return members


def _constant(name: str) -> float:
    raise _refused(f"body is not JSON: {name} is no number in JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _refused("body holds a number that is too large")
    return number


def _int(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise _refused(f"body holds a number of more than {_DIGITS_MAX} digits")
    return int(digits)


def storable(text: str) -> str:
    """Return a text of a body as it is.

    Raises:
        ValueError: UTF-8 or PostgreSQL cannot store it.
    """
    if _UNSTORABLE.search(text):
        raise ValueError("has a NUL or half a character (\\u0000, \\ud800)")
    return text


def _check_texts(document: object) -> None:
    """Refuse texts that JSON can express, but that UTF-8 or PostgreSQL cannot store."""
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str) and _UNSTORABLE.search(value):
            raise _refused("body holds a text with a NUL or half a character (\\u0000, \\ud800)")
