"""How a record is written: the `inputFormat` of a spec.  Names on the wire are Druid's."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from supervisor.core.spec.sections.decoders import Decoder
from supervisor.core.spec.sections.protobuf import MessageDecoder
from supervisor.core.values.field_types import FieldName, Flag, Text, shown, wrong
from tasks.contract.ingest_spec import (
    AvroFormat,
    HeaderEncoding,
    JsonFormat,
    JsonPath,
    KafkaColumns,
    ProtobufFormat,
    RegexFormat,
    TextFormat,
    ValueFormat,
)
from tasks.contract.wire import Wire
from tasks.rows.json_path import KEYS_MAX, JsonPathError, canonical
from tasks.rows.sql.java_regex import RegexError, groups_of

FIELDS_MAX = 2_000
_SIGNS = r"[^'\\\x00-\x1f]+"
"""What a key in quotes is made of; `*` alone would stand for every key."""
_CTRL_A = "\x01"
"""Between the values of a list, unless a spec says otherwise: Druid's default."""
_LIST_DELIMITER_MAX = 100
"""Druid's console gives a UUID for one that no value has."""


def _checked_path(path: str) -> str:
    try:
        return canonical(path)
    except JsonPathError:
        raise wrong(
            f"path {shown(path)} cannot be followed",
            "name keys and places, such as $.user.id, $.tags[0] or $['a b'], and $.items[*].id for "
            "what all of a list have; scans (..), slices, filters and functions are not built",
        ) from None


def _checked_key(key: str) -> str:
    if key == "*" or re.fullmatch(_SIGNS, key) is None:
        raise wrong(
            f"key {shown(key)} cannot be followed",
            "it must not be empty or *, nor hold a quote, a backslash or a control character",
        )
    return key


def _checked_delimiter(text: str) -> str:
    if len(text) != 1 or text in '"\r\n\\':
        raise wrong(f"{shown(text)} cannot divide values", "use one character, such as , or |")
    return text


def _checked_list_delimiter(text: str) -> str:
    if not 1 <= len(text) <= _LIST_DELIMITER_MAX:
        raise wrong(
            f"listDelimiter must have 1 to {_LIST_DELIMITER_MAX} characters",
            "leave it out, or use |",
        )
    return text


def _without_repetition(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise wrong(f"column {shown(twice[0])} is named twice", "name each value once")
    return names


def _groups(pattern: str) -> int:
    try:
        return groups_of(pattern).count
    except RegexError as error:
        raise wrong(
            f"the pattern cannot be read: {error}", "use Java's regular expressions"
        ) from None


Key = Annotated[Text, AfterValidator(_checked_key)]
Delimiter = Annotated[Text, AfterValidator(_checked_delimiter)]
ListDelimiter = Annotated[Text, AfterValidator(_checked_list_delimiter)]
Columns = Annotated[
    tuple[FieldName, ...],
    Field(min_length=1, max_length=FIELDS_MAX),
    AfterValidator(_without_repetition),
]


class FlattenField(Wire):
    """One field of a record; a bare name is a top-level key."""

    type: Literal["root", "path", "tree"] = "root"
    name: FieldName
    expr: Text | None = None
    """path: where it lies.  root: the key, unless it is the name."""
    nodes: Annotated[tuple[Key, ...], Field(max_length=KEYS_MAX)] = ()
    """tree: the keys on the way to it."""

    @model_validator(mode="before")
    @classmethod
    def _read_bare_name(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value

    @field_validator("expr")
    @classmethod
    def _can_be_followed(cls, value: str | None, info: ValidationInfo) -> str | None:
        kind = info.data.get("type")
        if value is not None and kind == "path":
            return _checked_path(value)
        if value is not None and kind == "root" and value != info.data.get("name"):
            return _checked_key(value)
        return value

    @model_validator(mode="after")
    def _has_a_path(self) -> Self:
        if self.type == "path" and self.expr is None:
            raise wrong(f"field {shown(self.name)} has no expr", "give a path such as $.user.id")
        if self.type == "tree" and not self.nodes:
            raise wrong(f"field {shown(self.name)} has no nodes", 'give keys: ["user", "id"]')
        if self.type != "tree" and self.nodes:
            raise wrong(f"field {shown(self.name)} takes no nodes", "use type tree for them")
        if self.type == "tree" and self.expr is not None:
            raise wrong(f"field {shown(self.name)} takes no expr", "use type path for it")
        return self

    @property
    def path(self) -> str | None:
        """Where it lies; None: it is the top-level key of its name.

        Source: Druid's JSONPathFieldSpec and JSONFlattenerMaker; there tree is of JSON alone.
        """
        if self.type == "path":
            return self.expr
        keys = self.nodes or (self.expr or self.name,)
        return None if keys == (self.name,) else "$" + "".join(f"['{key}']" for key in keys)


class FlattenSpec(Wire):
    """Which parts of a JSON record are fields."""

    use_field_discovery: Flag = True
    """Every top-level key is a field as well."""
    fields: tuple[FlattenField, ...] = Field(default=(), max_length=FIELDS_MAX)

    @field_validator("fields")
    @classmethod
    def _names_each_once(cls, value: tuple[FlattenField, ...]) -> tuple[FlattenField, ...]:
        _without_repetition(tuple(field.name for field in value))
        return value


class _Named(Wire):
    """A format whose values have names of their own."""

    flatten_spec: FlattenSpec | None = None

    @field_validator("flatten_spec")
    @classmethod
    def _drops_empty_flatten(cls, value: FlattenSpec | None) -> FlattenSpec | None:
        return None if value == FlattenSpec() else value

    @property
    def names(self) -> tuple[str, ...]:
        """Fields that the spec itself names, in order."""
        return tuple(f.name for f in self.flatten_spec.fields) if self.flatten_spec else ()

    def _fields(self) -> JsonFormat:
        spec = self.flatten_spec
        if spec is None:
            return JsonFormat()
        paths = ((f.name, f.path) for f in spec.fields)
        roots = tuple(f.name for f in spec.fields if f.path is None)
        return JsonFormat(
            paths=tuple(JsonPath(name=name, path=path) for name, path in paths if path),
            roots=None if spec.use_field_discovery else roots,
        )


class JsonInputFormat(_Named):
    """One JSON object per record."""

    type: Literal["json"] = "json"

    def contract(self) -> JsonFormat:
        """Return it as tasks are told it."""
        return self._fields()


class AvroInputFormat(_Named):
    """One Avro record per record."""

    type: Literal["avro_stream"] = "avro_stream"
    avro_bytes_decoder: Decoder
    binary_as_string: Flag = False
    """Bytes are UTF-8 text; else they are written as base64."""
    extract_unions_by_type: Flag = False
    """A value of a union of several types is an object, its one key the name of its type."""

    def contract(self) -> AvroFormat:
        """Return it as tasks are told it."""
        return AvroFormat(
            schemas=self.avro_bytes_decoder.contract(),
            fields=self._fields(),
            binary_as_string=self.binary_as_string,
            unions_by_type=self.extract_unions_by_type,
        )


class ProtobufInputFormat(_Named):
    """One Protobuf message per record."""

    type: Literal["protobuf"] = "protobuf"
    proto_bytes_decoder: MessageDecoder

    def contract(self) -> ProtobufFormat:
        """Return it as tasks are told it."""
        return ProtobufFormat(schemas=self.proto_bytes_decoder.contract(), fields=self._fields())


class _ByPlace(Wire):
    """A format whose values have no names but those that the spec gives them, in order."""

    columns: Columns
    list_delimiter: ListDelimiter | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Fields that the spec itself names, in order."""
        return self.columns


class _Delimited(_ByPlace):
    type: Literal["csv", "tsv"]
    delimiter: Delimiter

    def contract(self) -> TextFormat:
        """Return it as tasks are told it."""
        return TextFormat(
            type=self.type,
            columns=self.columns,
            delimiter=self.delimiter,
            list_delimiter=self.list_delimiter or _CTRL_A,
        )


class CsvInputFormat(_Delimited):
    """Values between commas, as RFC 4180 has them; one line per record."""

    type: Literal["csv"] = "csv"
    delimiter: Delimiter = ","


class TsvInputFormat(_Delimited):
    """Plain texts between tabs, or another delimiter; one line per record."""

    type: Literal["tsv"] = "tsv"
    delimiter: Delimiter = "\t"


class RegexInputFormat(_ByPlace):
    """A pattern that a whole record matches; its groups are the values."""

    type: Literal["regex"] = "regex"
    pattern: Annotated[Text, Field(min_length=1)]

    @model_validator(mode="after")
    def _has_a_group_for_each_column(self) -> Self:
        groups = _groups(self.pattern)
        if groups != len(self.columns):
            raise wrong(
                f"the pattern has {groups} groups and columns names {len(self.columns)}",
                "name one column per group; (?:…) groups without a value",
            )
        return self

    def contract(self) -> RegexFormat:
        """Return it as tasks are told it."""
        return RegexFormat(
            pattern=self.pattern,
            columns=self.columns,
            list_delimiter=self.list_delimiter or _CTRL_A,
        )


PlainFormat = Annotated[
    JsonInputFormat
    | CsvInputFormat
    | TsvInputFormat
    | RegexInputFormat
    | AvroInputFormat
    | ProtobufInputFormat,
    Field(discriminator="type"),
]


class HeaderFormat(Wire):
    """Headers are texts."""

    type: Literal["string"] = "string"
    encoding: HeaderEncoding = HeaderEncoding.UTF_8


class KafkaInputFormat(Wire):
    """What stands beside a record's value is fields as well."""

    type: Literal["kafka"] = "kafka"
    value_format: PlainFormat | None = None
    key_format: PlainFormat | None = None
    header_format: HeaderFormat | None = None
    header_column_prefix: FieldName = "kafka.header."
    key_column_name: FieldName = "kafka.key"
    timestamp_column_name: FieldName = "kafka.timestamp"
    topic_column_name: FieldName = "kafka.topic"

    def value_contract(self) -> ValueFormat | None:
        """Return how the value is written, as tasks are told it."""
        return None if self.value_format is None else self.value_format.contract()

    def columns_contract(self) -> KafkaColumns:
        """Return which other fields there are, as tasks are told it."""
        return KafkaColumns(
            timestamp=self.timestamp_column_name,
            topic=self.topic_column_name,
            header_prefix=None if self.header_format is None else self.header_column_prefix,
            header_encoding=(self.header_format or HeaderFormat()).encoding,
            key=None if self.key_format is None else self.key_column_name,
            key_format=None if self.key_format is None else self.key_format.contract(),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Fields that the spec itself names, in order."""
        own = (self.timestamp_column_name, self.topic_column_name)
        key = () if self.key_format is None else (self.key_column_name,)
        return (*(() if self.value_format is None else self.value_format.names), *own, *key)


InputFormat = Annotated[
    JsonInputFormat
    | CsvInputFormat
    | TsvInputFormat
    | RegexInputFormat
    | AvroInputFormat
    | ProtobufInputFormat
    | KafkaInputFormat,
    Field(discriminator="type"),
]


def written_format(spec: InputFormat) -> dict[str, object]:
    """Return a format as GET writes it: what is at its default is left out, but for the type."""
    found = spec.model_dump(mode="json", exclude_defaults=True)
    if isinstance(spec, KafkaInputFormat):
        inner = {"valueFormat": spec.value_format, "keyFormat": spec.key_format}
        found |= {name: written_format(one) for name, one in inner.items() if one is not None}
        if spec.header_format is not None:
            found["headerFormat"] = spec.header_format.model_dump(mode="json")
    return {"type": spec.type} | found
