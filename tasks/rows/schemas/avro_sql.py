"""Translation of an Avro schema to Spark's, and the SQL from a decoded record to its JSON.  Pure.

    bytes + MARK ─► from_avro by `spark_schema` ─► {v: the record, e: MARK} ─► `json_sql` of v

Spark ignores bytes behind a record, and decodes a truncated record to null.  The mark behind the
record detects both: the mark is read intact only if the record ends where its bytes end.  The
schema for Spark has no user's name (fields are `f0`, `f1`, ...): Avro's bytes have no names, and
Spark or SQL could misread one.  For a list of doubles it has a list of records of one double each,
with the same bytes, because Avro 1.12.0, which Spark 4.0 ships, rounds lists of doubles to single
precision (AVRO-4110).

A record with a text that is no UTF-8 is invalid, because its JSON would have a different text.
Numbers stay exact.  NaN and the infinities become texts, because JSON lacks them.  Bytes become
base64 or text.  A map's keys are sorted, because their order in Avro depends on earlier reads.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from tasks.rows.schemas.avro import (
    Array,
    AvroType,
    BinaryType,
    Enumeration,
    Map,
    Record,
    Scalar,
    Union,
    name_of,
)
from tasks.rows.sql.text import text

MARK = bytes.fromhex("ff91c3a755e80b3d6c2f94d1087ab6fe")
"""Its first byte occurs only once, so no part of the mark looks like its beginning.  No bytes
behind a record are equal to this mark by chance."""

_WITH_NULLS = "map('ignoreNullFields', 'false')"
_MERGED = ({"int", "long"}, {"float", "double"})
"""The branches that Spark merges into one type, if a union has only these."""


@dataclass(frozen=True)
class Written:
    """The form of values that JSON has no notation for."""

    binary_as_string: bool = False
    """Bytes become UTF-8 text, with invalid ones replaced; else base64."""
    unions_by_type: bool = False
    """A value of a union of several types becomes an object, whose one key is the type's name."""


def spark_schema(record: Record) -> str:
    """Return the schema, as JSON, by which `from_avro` decodes a record and the mark behind it."""
    names = count()
    fields = [
        {"name": "v", "type": _to_json(record, names)},
        {"name": "e", "type": {"type": "fixed", "name": "m", "size": len(MARK)}},
    ]
    return json.dumps({"type": "record", "name": "w", "fields": fields})


def from_avro_sql(record: Record, value: str) -> str:
    """Return the SQL of the decoded struct of a binary `value`; `e` is null for an invalid one."""
    marked = f"concat({value}, X'{MARK.hex()}')"
    return f"from_avro({marked}, {text(spark_schema(record))}, map('mode', 'PERMISSIVE'))"


def json_sql(record: Record, place: str, written: Written) -> str:
    """Return the SQL of the JSON text of a decoded record at `place`, which must not be null."""
    return _Writer(written).json(record, place)


def no_text_sql(record: Record, place: str) -> str:
    """Return the SQL of whether a decoded record at `place` has a non-UTF-8 text; never null."""
    found = _no_text(record, place, count())
    return "false" if found is None else f"coalesce({found}, false)"


def _no_text(kind: AvroType, place: str, names: Iterator[int]) -> str | None:
    """Return the same for a value of any type; None: it has no text."""
    match kind:
        case Scalar(kind="string"):
            return f"NOT is_valid_utf8({place})"
        case Array(items=items):
            each = f"y{next(names)}"
            inner = _no_text(items, each, names)
            return inner and f"exists({place}, {each} -> {inner})"
        case Map(values=values):
            key, each = f"y{next(names)}", f"y{next(names)}"
            keys = f"exists(map_keys({place}), {key} -> NOT is_valid_utf8({key}))"
            inner = _no_text(values, each, names)
            held = inner and f"exists(map_values({place}), {each} -> {inner})"
            return f"({keys} OR {held})" if held else keys
        case Union() if len(kind.valued) == 1:
            return _no_text(kind.valued[0], place, names)
        case Union():
            places = ((each, f"{place}.member{n}") for n, each in enumerate(kind.valued))
        case Record(fields=fields):
            places = ((each, f"{place}.f{n}") for n, (_, each) in enumerate(fields))
        case _:
            return None
    found = [inner for each, at in places if (inner := _no_text(each, at, names))]
    return f"({' OR '.join(found)})" if found else None


def _to_json(kind: AvroType, names: Iterator[int]) -> object:
    match kind:
        case Scalar(kind=name):
            return name
        case BinaryType(size=None):
            return "bytes"
        case BinaryType(size=size):
            return {"type": "fixed", "name": f"n{next(names)}", "size": size}
        case Enumeration(symbols=symbols):
            return {"type": "enum", "name": f"n{next(names)}", "symbols": symbols}
        case Array(items=Scalar(kind="double")):
            one = [{"name": "d", "type": "double"}]
            items_schema = {"type": "record", "name": f"n{next(names)}", "fields": one}
            return {"type": "array", "items": items_schema}
        case Array(items=items):
            return {"type": "array", "items": _to_json(items, names)}
        case Map(values=values):
            return {"type": "map", "values": _to_json(values, names)}
        case Union(branches=branches):
            branch_schemas = [_to_json(branch, names) for branch in branches]
            if {name_of(branch) for branch in kind.valued} in _MERGED:
                # One more branch, which no value can have, keeps Spark from merging the two.
                branch_schemas.append({"type": "enum", "name": f"n{next(names)}", "symbols": []})
            return branch_schemas
        case Record(fields=fields):
            inner = [
                {"name": f"f{n}", "type": _to_json(t, names)} for n, (_, t) in enumerate(fields)
            ]
            return {"type": "record", "name": f"n{next(names)}", "fields": inner}


def _is_mixed(kind: AvroType) -> bool:
    """Return whether a type contains a union of several types, for which Spark has no one type."""
    match kind:
        case Union(branches=branches):
            return len(kind.valued) > 1 or any(_is_mixed(branch) for branch in branches)
        case Array(items=inner) | Map(values=inner):
            return _is_mixed(inner)
        case Record(fields=fields):
            return any(_is_mixed(inner) for _, inner in fields)
        case _:
            return False


@dataclass
class _Writer:
    written: Written
    _numbers: Iterator[int] = field(default_factory=count)

    def json(self, kind: AvroType, place: str) -> str:
        """Return the SQL of the JSON text of a value; never null: a null becomes `null`."""
        found = self._mixed(kind, place) if _is_mixed(kind) else self._plain(kind, place)
        return f"CASE WHEN {place} IS NULL THEN 'null' ELSE {found} END"

    def _plain(self, kind: AvroType, place: str) -> str:
        match kind:
            case Scalar(kind="boolean" | "int" | "long"):
                return f"CAST({place} AS STRING)"
            case Enumeration():
                return f"concat('\"', {place}, '\"')"
            case Array() | Map() | Record():
                return f"to_json({self._value(kind, place)}, {_WITH_NULLS})"
            case Union() if len(kind.valued) == 1:
                return self._plain(kind.valued[0], place)
            case _:  # the JSON of a list of one contains the value's text in brackets
                one = self._variable()
                listed = f"array(to_json(array({self._value(kind, place)}), {_WITH_NULLS}))"
                return f"transform({listed}, {one} -> substring({one}, 2, length({one}) - 2))[0]"

    def _mixed(self, kind: AvroType, place: str) -> str:
        match kind:
            case Array(items=items):
                each = self._variable()
                inner = f"transform({place}, {each} -> {self.json(items, each)})"
                return f"concat('[', array_join({inner}, ','), ']')"
            case Map(values=values):
                each = self._variable()
                value = self.json(values, f"{each}.value")
                pair = f"concat({self._plain(Scalar('string'), f'{each}.key')}, ':', {value})"
                inner = f"transform({self._entries(place)}, {each} -> {pair})"
                return f"concat('{{', array_join({inner}, ','), '}}')"
            case Union() if len(kind.valued) == 1:
                return self._mixed(kind.valued[0], place)
            case Union():
                return self._union(kind, place)
            case Record():
                return self._record(kind, place)
            case _:
                raise AssertionError(f"{kind} has no union in it")

    def _union(self, kind: Union, place: str) -> str:
        cases = []
        for number, branch in enumerate(kind.valued):
            member = f"{place}.member{number}"
            held = self.json(branch, member)
            if self.written.unions_by_type:
                held = f"concat({text(_opened(name_of(branch)))}, {held}, '}}')"
            cases.append(f"WHEN {member} IS NOT NULL THEN {held}")
        return f"CASE {' '.join(cases)} ELSE 'null' END"

    def _record(self, kind: Record, place: str) -> str:
        """Write each field with such a union separately, and then all others at once."""
        places = [(name, inner, f"{place}.f{n}") for n, (name, inner) in enumerate(kind.fields)]
        parts = ["'{'"]
        for name, inner, where in places:
            if _is_mixed(inner):
                key = f",{_opened(name)[1:]}" if len(parts) > 1 else _opened(name)[1:]
                parts += [text(key), self.json(inner, where)]
        plain = [(name, inner, where) for name, inner, where in places if not _is_mixed(inner)]
        if not plain:
            return f"concat({', '.join(parts)}, '}}')"
        rest = f"to_json({self._struct(plain)}, {_WITH_NULLS})"
        return f"concat({', '.join(parts)}, ',', substring({rest}, 2))"

    def _value(self, kind: AvroType, place: str) -> str:
        """Return the SQL of a value without such a union, for `to_json`; null if it is null."""
        match kind:
            case Scalar(kind="null"):
                return "CAST(NULL AS STRING)"
            case BinaryType() if self.written.binary_as_string:
                return f"CAST({place} AS STRING)"
            case Array(items=Scalar(kind="double")):
                return f"{place}.d"
            case Array(items=items):
                each = self._variable()
                value = self._value(items, each)
                return place if value == each else f"transform({place}, {each} -> {value})"
            case Map(values=values):
                each = self._variable()
                value = self._value(values, f"{each}.value")
                entries = self._entries(place)
                if value != f"{each}.value":
                    entries = f"transform({entries}, {each} -> struct({each}.key, {value}))"
                return f"map_from_entries({entries})"
            case Union():
                inner = self._value(kind.valued[0] if kind.valued else Scalar("null"), place)
                # Without this a null record would become a record of nulls.
                there = f"CASE WHEN {place} IS NOT NULL THEN {inner} END"
                return inner if inner == place else there
            case Record(fields=fields):
                return self._struct([(n, t, f"{place}.f{i}") for i, (n, t) in enumerate(fields)])
            case _:
                return place

    def _struct(self, fields: Sequence[tuple[str, AvroType, str]]) -> str:
        pairs = (f"{text(name)}, {self._value(kind, place)}" for name, kind, place in fields)
        return f"named_struct({', '.join(pairs)})"

    def _entries(self, place: str) -> str:
        one, other = self._variable(), self._variable()
        order = f"CASE WHEN {one}.key < {other}.key THEN -1 ELSE 1 END"  # each key occurs once
        return f"array_sort(map_entries({place}), ({one}, {other}) -> {order})"

    def _variable(self) -> str:
        return f"x{next(self._numbers)}"


def _opened(name: str) -> str:
    """Return the beginning of an object's JSON, up to the value of its first key."""
    return f"{{{json.dumps(name)}:"
