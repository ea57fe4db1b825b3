"""Parsing of Avro schemas, with bounds on their size.  Pure.

    JSON text ─► checked, names resolved ─► a tree of types ─► Spark's schema (`avro_sql`)

Names and order of fields, symbols and branches are kept.  Documentation, defaults, aliases and
logical types are dropped, because they do not change the bytes of a record: a record is decoded
with the schema of its writer, and a logical type is the plain value beneath it.
Source: the specification of Apache Avro 1.12, "Schema Declaration".
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

TEXT_MAX = 500_000
"""Most characters of a schema."""
TYPES_MAX = 2_000
"""Most types in one schema, each counted at each use."""
DEPTH_MAX = 30
"""Most levels of nested types."""
FIXED_MAX = 65_536
"""Most bytes of a fixed."""

SCALARS = frozenset({"null", "boolean", "int", "long", "float", "double", "string"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NAME_MAX = 200
_SHOWN_MAX = 60


class AvroSchemaError(Exception):
    """A text is no schema, or an unsupported one; the message says where and why."""


@dataclass(frozen=True)
class Scalar:
    """A type without parts, with Avro's name for it."""

    kind: str


@dataclass(frozen=True)
class BinaryType:
    """Bytes: a fixed number of them (a fixed, which has a name), or any number."""

    name: str = "bytes"
    size: int | None = None


@dataclass(frozen=True)
class Enumeration:
    """One of several names."""

    name: str
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Array:
    """A list."""

    items: "AvroType"


@dataclass(frozen=True)
class Map:
    """A map from texts to values."""

    values: "AvroType"


@dataclass(frozen=True)
class Union:
    """One of several types; the order of branches is that of the schema."""

    branches: tuple["AvroType", ...]

    @property
    def valued(self) -> tuple["AvroType", ...]:
        """The branches other than null."""
        return tuple(branch for branch in self.branches if branch != Scalar("null"))


@dataclass(frozen=True)
class Record:
    """Named fields, in order; the name is the short one."""

    name: str
    fields: tuple[tuple[str, "AvroType"], ...]


AvroType = Scalar | BinaryType | Enumeration | Array | Map | Union | Record


def read_schema(text: str, references: Sequence[str] = ()) -> Record:
    """Parse the schema of records; `references` are the schemas that it refers to, in order.

    Raises:
        AvroSchemaError: the text is no schema, not one of a record, recursive or too large.
    """
    reader = _Reader({})
    for reference in references:
        reader.read(_parsed(reference), "", ("a reference",))
    schema = reader.read(_parsed(text), "", ())
    if not isinstance(schema, Record):
        raise AvroSchemaError("the schema must be one of a record, which has fields")
    return schema


def name_of(kind: AvroType) -> str:
    """Return the name of a type as a branch of a union."""
    match kind:
        case Scalar(kind=name) | BinaryType(name=name) | Enumeration(name=name) | Record(name=name):
            return name
        case Array():
            return "array"
        case Map():
            return "map"
        case Union():
            return "union"


def may_be_flat(kind: AvroType) -> bool:
    """Return whether a type has flat values: scalars, or lists of them."""
    match kind:
        case Record() | Map() | Scalar(kind="null"):
            return False
        case Array(items=Array() | Map() | Record()):
            return False
        case Union(branches=branches):
            return any(map(may_be_flat, branches))
        case _:
            return True


def _parsed(text: str) -> object:
    if len(text) > TEXT_MAX:
        raise AvroSchemaError(f"the schema has more than {TEXT_MAX} characters")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise AvroSchemaError("the schema is not JSON") from None


@dataclass
class _Reader:
    """Parses one schema; `named` has its named types by full name, None while one is incomplete."""

    named: dict[str, AvroType | None]
    types: int = 0

    def read(self, schema: object, space: str, place: tuple[str, ...]) -> AvroType:
        if len(place) > DEPTH_MAX:
            raise _at(place[:3], f"is nested more than {DEPTH_MAX} deep")
        match schema:
            case str():
                return self._by_name(schema, space, place)
            case list():
                return self._counted(self._union(schema, space, place), place)
            case dict():
                return self._counted(self._complex(schema, space, place), place)
            case _:
                raise _at(place, "is no type: give a name, a list or an object")

    def _counted(self, kind: AvroType, place: tuple[str, ...], number: int = 1) -> AvroType:
        self.types += number
        if self.types > TYPES_MAX:
            raise _at(place[:1], f"has more than {TYPES_MAX} types, each counted where it is used")
        return kind

    def _by_name(self, name: str, space: str, place: tuple[str, ...]) -> AvroType:
        if name in SCALARS:
            return self._counted(Scalar(name), place)
        if name == "bytes":
            return self._counted(BinaryType(), place)
        full = name if "." in name or not space else f"{space}.{name}"
        if full not in self.named:
            full = name  # as in Java's parser, a name without a namespace is visible within one
        if full not in self.named:
            raise _at(place, f"names the type {_shown(name)}, which is not declared before it")
        known = self.named[full]
        if known is None:
            raise _at(place, f"is recursive: {_shown(name)} holds itself, which cannot be read")
        if len(place) + _depth(known) > DEPTH_MAX:
            raise _at(place[:3], f"is nested more than {DEPTH_MAX} deep")
        return self._counted(known, place, _size(known))

    def _union(self, schema: list[object], space: str, place: tuple[str, ...]) -> Union:
        if not schema:
            raise _at(place, "is a union of nothing")
        branches = tuple(
            self.read(branch, space, (*place, f"branch {n}")) for n, branch in enumerate(schema)
        )
        names = [name_of(branch) for branch in branches]
        if "union" in names:
            raise _at(place, "is a union with a union in it, which Avro does not have")
        plain = [n for n, b in zip(names, branches, strict=True) if not _is_named(b)]
        if len(set(plain)) < len(plain):
            raise _at(place, "is a union with one type twice")
        return Union(branches)

    def _complex(self, schema: dict[str, object], space: str, place: tuple[str, ...]) -> AvroType:
        match schema.get("type"):
            case "record" | "error":
                return self._record(schema, space, place)
            case "enum":
                return self._enum(schema, space, place)
            case "fixed":
                return self._fixed(schema, space, place)
            case "array":
                items = self.read(schema.get("items"), space, (*place, "items"))
                if not _bytes_min(items):
                    raise _at(place, "is an array of what takes no byte: nothing bounds its length")
                return Array(items)
            case "map":
                return Map(self.read(schema.get("values"), space, (*place, "values")))
            case str() | list() | dict() as inner:  # a type with properties, such as a logical type
                return self.read(inner, space, (*place, "type"))
            case _:
                raise _at(place, "is an object without a type")

    def _record(self, schema: dict[str, object], space: str, place: tuple[str, ...]) -> Record:
        name, full, space = self._declare(schema, space, place)
        given = schema.get("fields")
        if not isinstance(given, list) or not given:
            raise _at(place, f"is the record {_shown(name)}, which needs a list of fields")
        fields: dict[str, AvroType] = {}
        for number, field in enumerate(given):
            key = field.get("name") if isinstance(field, dict) else None
            if not isinstance(field, dict) or not isinstance(key, str) or not _is_name(key):
                raise _at((*place, f"field {number}"), "needs a name and a type")
            if key in fields:
                raise _at(place, f"has the field {_shown(key)} twice")
            fields[key] = self.read(field.get("type"), space, (*place, key))
        found = Record(name, tuple(fields.items()))
        self.named[full] = found
        return found

    def _enum(self, schema: dict[str, object], space: str, place: tuple[str, ...]) -> Enumeration:
        name, full, _ = self._declare(schema, space, place)
        symbols = schema.get("symbols")
        if not isinstance(symbols, list) or not symbols:
            raise _at(place, f"is the enum {_shown(name)}, which needs a list of symbols")
        known = [s for s in symbols if isinstance(s, str) and _is_name(s)]
        if len(set(known)) < len(symbols):
            raise _at(place, f"is the enum {_shown(name)}: its symbols must be names, each once")
        found = Enumeration(name, tuple(known))
        self.named[full] = found
        return found

    def _fixed(self, schema: dict[str, object], space: str, place: tuple[str, ...]) -> BinaryType:
        name, full, _ = self._declare(schema, space, place)
        size = schema.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= FIXED_MAX:
            raise _at(place, f"is the fixed {_shown(name)}: its size must be 1 to {FIXED_MAX}")
        found = BinaryType(name, size)
        self.named[full] = found
        return found

    def _declare(
        self, schema: dict[str, object], space: str, place: tuple[str, ...]
    ) -> tuple[str, str, str]:
        """Return the short and the full name of a named type, and the namespace inside the type."""
        given, own = schema.get("name"), schema.get("namespace", space)
        if not isinstance(given, str) or not isinstance(own, str):
            raise _at(place, "needs a name")
        before, _, name = given.rpartition(".")
        inner = before or own
        full = f"{inner}.{name}" if inner else name
        if not all(_is_name(part) for part in full.split(".")) or name in {*SCALARS, "bytes"}:
            raise _at(place, f"has the name {_shown(full)}, which Avro does not allow")
        if full in self.named:
            raise _at(place, f"declares the type {_shown(full)} a second time")
        self.named[full] = None
        return name, full, inner


def _is_named(kind: AvroType) -> bool:
    fixed = isinstance(kind, BinaryType) and kind.size is not None
    return fixed or isinstance(kind, Record | Enumeration)


def _is_name(text: str) -> bool:
    return len(text) <= _NAME_MAX and _NAME.fullmatch(text) is not None


def _inner(kind: AvroType) -> Sequence[AvroType]:
    match kind:
        case Array(items=inner) | Map(values=inner):
            return (inner,)
        case Union(branches=branches):
            return branches
        case Record(fields=fields):
            return [inner for _, inner in fields]
        case _:
            return ()


def _size(kind: AvroType) -> int:
    return 1 + sum(_size(inner) for inner in _inner(kind))


def _depth(kind: AvroType) -> int:
    return 1 + max((_depth(inner) for inner in _inner(kind)), default=0)


def _bytes_min(kind: AvroType) -> int:
    """Return the fewest bytes of a value of a type, where 1 stands for any more."""
    match kind:
        case Scalar(kind="null"):
            return 0
        case Record(fields=fields):
            return max(_bytes_min(inner) for _, inner in fields)
        case _:
            return 1


def _shown(name: str) -> str:
    return ascii(name[:_SHOWN_MAX])[1:-1]


def _at(place: Sequence[str], location: str) -> AvroSchemaError:
    return AvroSchemaError(f"{_shown('.'.join(place)) or 'the schema'} {location}")
