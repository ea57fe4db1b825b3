"""The function `format`: texts by a pattern of Java's `Formatter`, which is parsed here first.

A pattern that Java refuses would fail a job.  So Spark gets one checked part at a time, with a
value of the type that the part takes.  Source: Java's `Formatter`, Druid's `nonStrictFormat`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.value import Value, as_string, is_there, of_text
from tasks.rows.sql.text import text

_PART = re.compile(r"%(?:([0-9]+)\$)?([-#+ 0,(<]*)([0-9]+)?(\.[0-9]+)?(.)", re.DOTALL)
_ANY, _LONGS = "bBsS", "doxX"
_LENGTH_MAX = 10_000
"""Most characters in the sum of a pattern's widths and precisions."""

# The flags that each conversion accepts.
_FLAGS = {
    **dict.fromkeys(_ANY, "-"),
    "d": "-+ 0,(",
    **dict.fromkeys("oxX", "-#0"),
    **dict.fromkeys("eE", "-#+ 0("),
    "f": "-#+ 0,(",
    **dict.fromkeys("gG", "-+ 0,("),
    **dict.fromkeys("aA", "-#+ 0"),
}
_OTHER = {
    **dict.fromkeys("cChH", "use %s"),
    **dict.fromkeys("tT", "use timestamp_format"),
}


@dataclass(frozen=True)
class _Directive:
    """One `%…` of a pattern."""

    place: int
    """Number of the argument, from 0."""
    flags: str
    width: str
    precision: str
    conversion: str

    @property
    def written(self) -> str:
        """The part in Java's notation, for a separate argument."""
        return f"%{self.flags}{self.width}{self.precision}{self.conversion}"

    @property
    def fault(self) -> str | None:
        """The reason why Java would refuse the part; None: it would not."""
        for flag in self.flags:
            if flag not in _FLAGS[self.conversion] or self.flags.count(flag) > 1:
                return f"the flag '{flag}' does not go here"
        for both in ("-0", "+ "):
            if set(both) <= set(self.flags):
                return f"the flags '{both[0]}' and '{both[1]}' do not go together"
        if set(self.flags) & {"-", "0"} and not self.width:
            return "the width is missing"
        if self.precision and self.conversion in _LONGS:
            return "whole numbers have no precision"
        return None


def _format(given: Given) -> Value:
    """As in Druid, if a value has another type, the pattern is followed by all values."""
    if len(given.values) == 1:
        return of_text(given.text(0))  # Druid does not parse the pattern in this case
    if not given.values[0].texts:
        return Value()
    pattern = given.literal_text(0, "the pattern")
    pieces, tests, length = [], [], 0
    for part in _parts(given, pattern):
        if isinstance(part, str):
            pieces.append(text(part))
            continue
        length += int(part.width or 0) + int(part.precision[1:] or 0)
        if length > _LENGTH_MAX:
            fix = f"let widths and precisions be {_LENGTH_MAX} in all"
            raise given.wrong(0, f"'{part.written}' makes the text too long", fix)
        pieces.append(_part_sql(given, part))
        tests += _unfit(given, part)
    whole = f"concat({', '.join(pieces)})" if pieces else "''"
    if tests:
        held = "".join(
            f", '; ', coalesce({as_string(value)}, 'null')" for value in given.values[1:]
        )
        fits = " AND ".join(f"({sql}) IS NULL" for sql in dict.fromkeys(tests))
        whole = f"CASE WHEN {fits} THEN {whole} ELSE concat({text(pattern)}{held}) END"
    return of_text(whole)


def _parts(given: Given, pattern: str) -> Iterator[str | _Directive]:
    """Split a pattern into texts and directives.

    Raises:
        ExpressionError: Java would refuse the pattern, or an argument is missing.
    """
    at, ordinary, last = 0, 0, -1
    while at < len(pattern):
        begin = pattern.find("%", at)
        if begin < 0:
            begin = len(pattern)
        if begin > at:
            yield pattern[at:begin]
            at = begin
            continue
        match = _PART.match(pattern, at)
        if match is None:
            raise given.wrong(0, f"'{pattern[at:]}' is no part of a pattern", "write %% for %")
        index, flags, width, precision, conversion = match.groups(default="")
        at = match.end()
        if conversion in {"%", "n"} and match.group() == f"%{conversion}":
            yield "%" if conversion == "%" else "\n"
            continue
        if conversion not in _FLAGS or ("<" in flags and index):
            fix = _OTHER.get(conversion, "write %% for %")
            raise given.wrong(0, f"'{match.group()}' is not known", fix)
        if index:
            last = int(index) - 1
        elif "<" not in flags:
            last, ordinary = ordinary, ordinary + 1
        part = _Directive(last, flags.replace("<", ""), width, precision, conversion)
        if not 0 <= last < len(given.values) - 1:
            raise given.wrong(0, f"'{match.group()}' has no value", "give one more to format")
        if part.fault:
            raise given.wrong(0, f"'{match.group()}': {part.fault}", "write it as Java does")
        yield part


def _part_sql(given: Given, part: _Directive) -> str:
    """Return STRING: the text of a part; for null the word `null`.

    Raises:
        ExpressionError: its value never has the type that the part takes.
    """
    value = given.values[part.place + 1]
    form = text(part.written)
    if value.is_array or (value.json and len(value.texts) == 1):
        fix = "use array_to_string or to_json_string"
        raise given.wrong(part.place + 1, "format takes no arrays and no nested data", fix)
    if part.conversion in "sS":
        return f"format_string({form}, {as_string(value)})"
    if part.conversion in "bB":
        return f"format_string({form}, {is_there(value)})"
    kind, held = ("LONG", value.long) if part.conversion in _LONGS else ("DOUBLE", value.double)
    if value.texts and not held:
        fix = f"cast it: cast(x, '{kind}')"
        raise given.wrong(part.place + 1, f"'{part.written}' takes a {kind.lower()}", fix)
    null = f"CAST(NULL AS {'BIGINT' if kind == 'LONG' else 'DOUBLE'})"
    return f"format_string({form}, {held or null})"


def _unfit(given: Given, part: _Directive) -> list[str]:
    """Return the SQL texts that must be null if a value has the type that a part takes."""
    if part.conversion in _ANY:
        return []
    value = given.values[part.place + 1]
    held = value.long if part.conversion in _LONGS else value.double
    return [sql for sql in value.texts if sql != held]


FUNCTIONS = table(Function("format(pattern, value, ...)", 1, None, _format))
