"""Functions of nested data, which is stored as JSON text."""

import re
from dataclasses import replace

from tasks.rows.expression.functions.general import cast
from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.let import let
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import (
    ArrayValue,
    Value,
    as_json,
    first,
    of_array,
    of_text,
    quoted,
)
from tasks.rows.sql.text import text

_STEP = re.compile(r"\.([^.\[\]'\"*?\s]+)|\[(\d{1,9})\]|\['([^'?\\]+)'\]|\[\"([^\"'?\\]+)\"\]")
_DECIMAL = text(r"\A-?[0-9]")
_WHOLE = text(r"\A-?[0-9]+\z")
_ESCAPE, _BACKSLASHES = r"\u", "\\\\"
_UPPER, _LOWER = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F]"
_HALF = text(rf"{_UPPER}(?!{_LOWER})|(?<!{_UPPER}){_LOWER}")


def _path(given: Given, place: int) -> str:
    """Return a path in Spark's form without its `$`; no other path reaches Spark.

    Raises:
        ExpressionError: the argument is no literal, or no path of Druid's.
    """
    written = given.literal_text(place, "the path")
    at, path = 1, ""
    while written.startswith("$") and at < len(written):
        match = _STEP.match(written, at)
        if match is None:
            break
        dotted, number, single, double = match.groups()
        key = dotted or single or double
        if key == "*":
            break
        path += f"[{int(number)}]" if number else f"['{key}']"
        at = match.end()
    if not written.startswith("$") or at < len(written):
        fix = "write $, .name, ['name'] and [0] only"
        raise given.wrong(place, f"the path '{written}' cannot be read", fix)
    return path


def _raw(document: str, path: str) -> str:
    """Return STRING: the JSON text at a path; a text keeps its quotes."""
    # Below a wildcard Spark keeps the quotes, otherwise it removes them.
    found = f"get_json_object(concat('[', {document}, ']'), {text('$[*]' + path)})"
    return f"nullif({found}, 'null')"


def _document(given: Given, place: int = 0) -> str:
    """Return the JSON text of an argument; a value that is not nested stays as it is."""
    return as_json(given.values[place])


def _json_value(given: Given) -> Value:
    """Return a scalar, or an array if its type is requested."""
    path = _path(given, 1)
    document = _document(given)
    raw = _raw(document, path)
    plain = f"get_json_object({document}, {text('$' + path)})"
    if not given.has(2):
        return _scalar(raw, plain)
    name = given.literal_text(2, "the type")
    value = _scalar(raw, plain)
    if name.upper().startswith("ARRAY<"):
        value = replace(value, array=ArrayValue(ElementType.STRING, _elements(raw)), number=None)
    return cast(given, value, name, 2)


def _scalar(raw: str, plain: str) -> Value:
    """As in Druid, true and false are the longs 1 and 0."""
    long = let(
        raw,
        lambda r: (
            f"CASE WHEN {r} RLIKE {_WHOLE} THEN CAST({r} AS BIGINT) "
            f"WHEN {r} = 'true' THEN 1L WHEN {r} = 'false' THEN 0L END"
        ),
    )
    double = let(
        raw,
        lambda r: (
            f"CASE WHEN {r} RLIKE {_DECIMAL} AND NOT ({r} RLIKE {_WHOLE} "
            f"AND CAST({r} AS BIGINT) IS NOT NULL) THEN CAST({r} AS DOUBLE) END"
        ),
    )
    string = f"CASE WHEN startswith({raw}, '\"') THEN {plain} END"
    return Value(long=long, double=double, string=string)


def _elements(raw: str) -> str:
    return let(
        raw,
        lambda r: f"CASE WHEN startswith({r}, '[') THEN from_json({r}, 'ARRAY<STRING>') END",
    )


def _json_query(given: Given) -> Value:
    return Value(json=_raw(_document(given), _path(given, 1)))


def _json_keys(given: Given) -> Value:
    """Return the keys of an object; null for any other value."""
    found = _raw(_document(given), _path(given, 1))
    return of_array(ElementType.STRING, f"json_object_keys({found})")


def _json_object(given: Given) -> Value:
    """Keys are literals; of equal keys the last counts."""
    if len(given.values) % 2:
        raise given.wrong(
            len(given.values) - 1, "json_object needs a value for each key", "add one"
        )
    held = {
        given.literal_text(place, "a key"): given.values[place + 1]
        for place in range(0, len(given.values), 2)
    }
    parts = [
        f"{quoted(text(key))}, ':', coalesce({as_json(value)}, 'null')"
        for key, value in held.items()
    ]
    inner = ", ',', ".join(parts)
    return Value(json=f"concat('{{', {inner}, '}}')" if parts else "'{}'")


def _has_whole_pairs(raw: str) -> str:
    """Return BOOLEAN: whether no escape of a JSON text is half of a surrogate pair."""
    # Escaped backslashes are removed first, because no escape begins in them.
    escapes = f"replace({raw}, {text(_BACKSLASHES)}, ' ')"
    return f"NOT (contains({raw}, {text(_ESCAPE)}) AND {escapes} RLIKE {_HALF})"


def parsed(text_of_json: str) -> str:
    """Return STRING: a text as JSON text; null if it is not exactly one JSON value, or is null."""

    def read(raw: str) -> str:
        # The mark is the second element only if the text is a single JSON value.  It is a hash of
        # the whole text, so that no text can contain its own mark.
        mark = f"CAST(xxhash64({raw}) AS STRING)"
        whole = f"get_json_object(concat('[', {raw}, ',', {mark}, ']'), '$[1]') = {mark}"
        return f"CASE WHEN {whole} AND {_has_whole_pairs(raw)} THEN {_raw(raw, '')} END"

    return let(text_of_json, read)


def _parse_json(given: Given) -> Value:
    """If Druid's parse_json would fail the row, the result is null, as for try_parse_json."""
    value = given.values[0]
    if not value.string:
        return Value(json=value.json)

    found = [parsed(value.string)] + ([value.json] if value.json else [])
    return Value(json=first(found, "STRING"))


def _to_json_string(given: Given) -> Value:
    return of_text(as_json(given.values[0]))


FUNCTIONS = table(
    Function("json_value(data, path[, type])", 2, 3, _json_value),
    Function("json_query(data, path)", 2, 2, _json_query),
    Function("json_keys(data, path)", 2, 2, _json_keys),
    Function("json_object(key, value, ...)", 0, None, _json_object),
    Function("parse_json(text)", 1, 1, _parse_json),
    Function("try_parse_json(text)", 1, 1, _parse_json),
    Function("to_json_string(value)", 1, 1, _to_json_string),
)
