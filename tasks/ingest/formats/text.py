"""Records that are one line of text each: csv, tsv, or the groups of a regular expression."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from tasks.contract.ingest_spec import RegexFormat, TextFormat
from tasks.ingest.formats.parsed import Parsed, WantedFields
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import KnownSchemas
from tasks.ingest.spark.text_functions import IS_PLAIN_LINE, IS_UTF8, add_text_functions
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import ArrayValue, Value
from tasks.rows.sql.matching import group_sql, replace_sql, search_sql
from tasks.rows.sql.text import text

_NOTHING = "\x01tidegate\x01"
"""Marks a missing value between two separators; `""` in quotes is an empty text."""
_MARK = "\x02"
"""Precedes each group of a pattern; a record that contains it is read group by group."""
_SURROGATES = 0xD800
_META = ".$|()[{^?*+\\"
_LINE = r"CASE WHEN endswith(s, '\n') THEN regexp_replace(s, '\\r?\\n\\z', '') ELSE s END"
r"""SQL of the record without a final `\n` or `\r\n`.  Not a column: `s` is one already."""
_QUOTE = '"'
_VALUES_MAX = 20_480
"""With more values in a csv record `from_csv` fails, in every mode: `maxColumns` of its parser."""


_FIRST_LINE = r"""CASE WHEN contains(CAST(_key AS STRING), '\n')
THEN CAST(concat(substring_index(CAST(_key AS STRING), '\n', 1), '\n') AS BINARY) ELSE _key END"""
"""SQL of a key of text: of several lines only the first counts, as in Druid."""


@dataclass(frozen=True)
class LineReader:
    """Reads values and keys that are lines; the fields of a line have the names of columns."""

    columns: tuple[str, ...]
    reasons: frozenset[RejectReason]
    read: Callable[[DataFrame, WantedFields], Parsed]
    """Parses a frame with `s`."""

    def named_fields(self, *, flat: bool) -> frozenset[str]:  # noqa: ARG002 -- texts are flat
        """Return the columns."""
        return frozenset(self.columns)

    def parse(self, records: DataFrame, wanted: WantedFields, _: KnownSchemas) -> Parsed:
        """Read the values as lines."""
        return self.read(records.selectExpr("*", "CAST(v AS STRING) AS s"), wanted)

    def with_key_name(self, records: DataFrame, answers: KnownSchemas) -> DataFrame:
        """Add the text of the first column of a key."""
        kept = [column for column in records.columns if column != "v"]
        moved = records.selectExpr(*kept, "v AS _v", f"{_FIRST_LINE} AS v")
        first = self.columns[0]
        parsed = self.parse(moved, WantedFields(texts=(first,)), answers)
        name = f"CASE WHEN ({parsed.reason}) = 0 THEN {parsed.text(first)} END AS _name"
        return parsed.frame.selectExpr(*kept, "_v AS v", name)


def text_reader(spec: TextFormat) -> LineReader:
    """Return the reader of csv or tsv."""
    reasons = frozenset({RejectReason.EMPTY, RejectReason.NOT_A_LINE})
    return LineReader(spec.columns, reasons, lambda frame, wanted: parse_text(frame, spec, wanted))


def regex_reader(spec: RegexFormat) -> LineReader:
    """Return the reader of lines that a regular expression divides."""
    reasons = frozenset({RejectReason.EMPTY, RejectReason.NOT_A_LINE, RejectReason.NO_MATCH})
    return LineReader(spec.columns, reasons, lambda frame, wanted: parse_regex(frame, spec, wanted))


def parse_text(records: DataFrame, spec: TextFormat, wanted: WantedFields) -> Parsed:
    """Parse `s`; the frame gains `r0` (the reason) and `a` (the values in order)."""
    add_text_functions(records.sparkSession)
    crowded = _crowded(spec.delimiter) if spec.type == "csv" else None
    frame = records.selectExpr("*", f"{_judge(crowded)} AS r0")
    if crowded is not None:
        line = f"CASE WHEN NOT ({crowded}) THEN {_LINE} END"
        schema = ", ".join(f"_{n} STRING" for n in range(len(spec.columns)))
        options = {
            "sep": spec.delimiter,
            "quote": _QUOTE,
            "escape": _QUOTE,
            "nullValue": _NOTHING,
            "mode": "PERMISSIVE",
        }
        frame = frame.select("*", fn.from_csv(fn.expr(line), schema, options).alias("a"))
        places = {column: f"a._{n}" for n, column in enumerate(spec.columns)}
    else:
        pattern = text(_literally(spec.delimiter))
        frame = frame.selectExpr("*", f"split({_LINE}, {pattern}, -1) AS a")
        places = {c: f"nullif(get(a, {n}), '')" for n, c in enumerate(spec.columns)}
    return _parsed(frame, "r0", places, spec.list_delimiter, wanted)


def parse_regex(records: DataFrame, spec: RegexFormat, wanted: WantedFields) -> Parsed:
    """Parse `s`; the frame gains `r0` and `a`: an empty text and the groups, or less if none match.

    All groups are extracted at once: the line becomes a list of them, each behind a mark.
    """
    add_text_functions(records.sparkSession)
    pattern = rf"\A(?:{spec.pattern})\z"
    groups = range(1, len(spec.columns) + 1)
    marked = replace_sql(_LINE, pattern, "".join(f"{_MARK}${n}" for n in groups))
    one_by_one = ", ".join(group_sql(_LINE, pattern, n) for n in groups)
    captures = (
        f"CASE WHEN NOT contains(s, {text(_MARK)}) "
        f"THEN split({marked}, {text(_MARK)}, -1) "
        f"WHEN {search_sql(_LINE, pattern)} THEN array('', {one_by_one}) END"
    )
    no_match = RejectReason.NO_MATCH.code
    reason = f"CASE WHEN r0 <> 0 THEN r0 WHEN coalesce(size(a), 0) < 2 THEN {no_match} ELSE 0 END"
    frame = records.selectExpr("*", f"{_judge()} AS r0").selectExpr("*", f"{captures} AS a")
    places = {column: f"nullif(get(a, {n}), '')" for n, column in enumerate(spec.columns, 1)}
    return _parsed(frame, reason, places, spec.list_delimiter, wanted)


def _parsed(
    frame: DataFrame,
    reason: str,
    places: Mapping[str, str],
    divided_by: str | None,
    wanted: WantedFields,
) -> Parsed:
    texts = {name: places[name] for name in wanted.texts if name in places}
    values = {name: places[name] for name in wanted.values if name in places}
    if divided_by is None:
        typed = {name: Value(string=place) for name, place in values.items()}
        return Parsed(frame, reason, texts=texts, values=typed)
    return Parsed(
        frame,
        reason,
        texts={name: _as_text(place, divided_by) for name, place in texts.items()},
        values={name: _as_value(place, divided_by) for name, place in values.items()},
    )


def _as_text(place: str, divided_by: str) -> str:
    divided = f"to_json({_divided(place, divided_by)})"
    return f"CASE WHEN contains({place}, {text(divided_by)}) THEN {divided} ELSE {place} END"


def _as_value(place: str, divided_by: str) -> Value:
    several = f"contains({place}, {text(divided_by)})"
    return Value(
        string=f"CASE WHEN NOT {several} THEN {place} END",
        array=ArrayValue(
            ElementType.STRING, f"CASE WHEN {several} THEN {_divided(place, divided_by)} END"
        ),
    )


def _divided(place: str, by: str) -> str:
    return f"split({place}, {text(_literally(by))}, -1)"


def _literally(plain: str) -> str:
    """Return a Java regular expression that matches exactly a text.

    A single character is written so that Java splits by it without a regular expression.
    """
    if len(plain) == 1 and ord(plain) < _SURROGATES:
        return f"\\{plain}" if plain in _META else plain
    return "".join(f"\\x{{{ord(sign):x}}}" for sign in plain)


def _crowded(delimiter: str) -> str:
    """Return the SQL of whether a csv record may have more than `_VALUES_MAX` values.

    In a long record first all delimiters are counted; only if they are too many, those in quotes
    are left out, from the start on.  Behind a value that is not well-formed each delimiter counts
    again, so the result is never lower than the parser's count.
    """
    sign = rf"\x{{{ord(delimiter):x}}}"
    value = text(rf'\G(?:"[^"]*+(?:""[^"]*+)*+"|[^"{sign}]++)?+({sign}|\z)')
    bare = f"regexp_replace({_LINE}, {value}, '$1')"
    numbers = (_count("s", delimiter), _count(bare, delimiter))
    return f"octet_length(s) >= {_VALUES_MAX}" + "".join(
        f" AND {number} >= {_VALUES_MAX}" for number in numbers
    )


def _count(within: str, sign: str) -> str:
    return f"(length({within}) - length(replace({within}, {text(sign)}, '')))"


def _judge(crowded: str | None = None) -> str:
    """Return the SQL of the reject reason, or 0; in csv, with `crowded`, quotes must pair up.

    A quote within quotes may be doubled.  Most records are plain lines, which a quick check finds.
    """
    plain, broken = f"{IS_PLAIN_LINE}(s)", ""
    if crowded is not None:
        plain += f" AND octet_length(s) < {_VALUES_MAX}"
        odd = f"contains(s, {text(_QUOTE)}) AND {_count('s', _QUOTE)} % 2 = 1"
        broken = f" OR ({odd}) OR ({crowded})"
    return (
        f"CASE WHEN {plain} THEN 0 "
        f"WHEN s IS NULL THEN {RejectReason.NULL_VALUE.code} "
        f"WHEN NOT {IS_UTF8}(s) THEN {RejectReason.NOT_A_LINE.code} "
        f"WHEN trim({_LINE}) = '' THEN {RejectReason.EMPTY.code} "
        f"WHEN contains({_LINE}, '\\n') OR contains({_LINE}, '\\r'){broken} "
        f"THEN {RejectReason.NOT_A_LINE.code} ELSE 0 END"
    )
