"""The `inputFormat` of a spec: the format of a record.  Names on the wire are Druid's."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.rule_bounds import refuse_empty_ways
from supervisor.core.spec.section import Ignored, Kinds, Section, Unsupported
from supervisor.core.spec.sections.decoders import Decoder
from supervisor.core.spec.sections.flatten import FIELDS_MAX, FlattenSpec, without_repetition
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
from tasks.rows.sql.java_regex import RegexError, groups_of

_CTRL_A = "\x01"
"""Default delimiter between the values of a list, as in Druid."""
_LIST_DELIMITER_MAX = 100
"""Characters of a delimiter; long, as Druid's console sends a UUID that no value contains."""
_KEEPS_NULLS = Ignored((False, True))
"""Druid has `keepNullColumns` for json alone, but its console writes it into any format."""
_ONE_OBJECT = "a record is one JSON object, and one with several is rejected as not-json"
_NO_HEADER = Unsupported("a record has no header: name the columns", (False,))
_UNKNOWN = "is not an input format"
_OTHERS = {
    kind: (f"{kind} is not built yet", "")
    for kind in ("avro_ocf", "javascript", "orc", "parquet", "thrift")
}
"""Druid's other input formats."""


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


def _groups(pattern: str) -> int:
    try:
        return groups_of(pattern).count
    except RegexError as error:
        raise wrong(
            f"the pattern cannot be read: {error}", "use Java's regular expressions"
        ) from None


Delimiter = Annotated[Text, AfterValidator(_checked_delimiter)]
ListDelimiter = Annotated[Text, AfterValidator(_checked_list_delimiter)]
Columns = Annotated[
    tuple[FieldName, ...],
    Field(min_length=1, max_length=FIELDS_MAX),
    AfterValidator(without_repetition),
]


class _Format(Section):
    """A format of a record, a value or a key."""

    others = MappingProxyType({"keepNullColumns": _KEEPS_NULLS})

    def normalised(self) -> dict[str, object]:
        """Return the format as GET writes it: the type, and fields that differ from the default."""
        whole = self.model_dump(mode="json", exclude_defaults=True)
        return {"type": self.model_dump()["type"]} | whole


class _Named(_Format):
    """A format whose values have names, such as JSON."""

    flatten_spec: FlattenSpec | None = None

    @field_validator("flatten_spec")
    @classmethod
    def _drops_empty_flatten(cls, value: FlattenSpec | None) -> FlattenSpec | None:
        return None if value == FlattenSpec() else value

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that the spec names, in order."""
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

    part, title = "jsonFormat", "inputFormat of type json"
    others = MappingProxyType(
        {
            "featureSpec": Unsupported("leave it out", ({},)),
            "keepNullColumns": _KEEPS_NULLS,
            "assumeNewlineDelimited": Ignored((False,), _ONE_OBJECT),
            "useJsonNodeReader": Ignored((False,), _ONE_OBJECT),
        }
    )

    type: Literal["json"] = "json"

    def contract(self) -> JsonFormat:
        """Return the format in the form of the contract."""
        return self._fields()


class AvroInputFormat(_Named):
    """One Avro record per record."""

    part, title = "avroFormat", "inputFormat of type avro_stream"

    type: Literal["avro_stream"] = "avro_stream"
    avro_bytes_decoder: Decoder
    binary_as_string: Flag = False
    """Whether bytes are read as UTF-8 text; otherwise they become base64."""
    extract_unions_by_type: Flag = False
    """Whether a value of a union is an object whose one key is the name of the value's type."""

    def contract(self) -> AvroFormat:
        """Return the format in the form of the contract."""
        return AvroFormat(
            schemas=self.avro_bytes_decoder.contract(),
            fields=self._fields(),
            binary_as_string=self.binary_as_string,
            unions_by_type=self.extract_unions_by_type,
        )


class ProtobufInputFormat(_Named):
    """One Protobuf message per record."""

    part, title = "protobufFormat", "inputFormat of type protobuf"

    type: Literal["protobuf"] = "protobuf"
    proto_bytes_decoder: MessageDecoder

    def contract(self) -> ProtobufFormat:
        """Return the format in the form of the contract."""
        return ProtobufFormat(schemas=self.proto_bytes_decoder.contract(), fields=self._fields())


class _ByPlace(_Format):
    """A format of values without names; the spec's `columns` name them in order."""

    columns: Columns
    list_delimiter: ListDelimiter | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that the spec names, in order."""
        return self.columns


class _Delimited(_ByPlace):
    others = MappingProxyType(
        {
            "findColumnsFromHeader": _NO_HEADER,
            "hasHeaderRow": _NO_HEADER,
            "skipHeaderRows": Unsupported("a record is one line: leave it out", (0,)),
            "tryParseNumbers": Unsupported("give the dimensions types instead", (False,)),
            "keepNullColumns": _KEEPS_NULLS,
        }
    )

    type: Literal["csv", "tsv"]
    delimiter: Delimiter

    def contract(self) -> TextFormat:
        """Return the format in the form of the contract."""
        return TextFormat(
            type=self.type,
            columns=self.columns,
            delimiter=self.delimiter,
            list_delimiter=self.list_delimiter or _CTRL_A,
        )


class CsvInputFormat(_Delimited):
    """Values between commas, as RFC 4180 has them; one line per record."""

    part, title = "csvFormat", "inputFormat of type csv"
    stored_only = frozenset({"delimiter"})

    type: Literal["csv"] = "csv"
    delimiter: Delimiter = ","


class TsvInputFormat(_Delimited):
    """Plain texts between tabs, or another delimiter; one line per record."""

    part, title = "tsvFormat", "inputFormat of type tsv"

    type: Literal["tsv"] = "tsv"
    delimiter: Delimiter = "\t"


class RegexInputFormat(_ByPlace):
    """A pattern that a whole record matches; its groups are the values."""

    part, title = "regexFormat", "inputFormat of type regex"

    type: Literal["regex"] = "regex"
    pattern: Annotated[Text, Field(min_length=1)]

    @classmethod
    def check(
        cls,
        notes: SpecProblems,
        written: Mapping[str, object],
        kept: dict[str, object],
        pointer: str,
    ) -> None:
        """Refuse a pattern with too many ways to match nothing; an old stored spec may have one."""
        super().check(notes, written, kept, pointer)
        if isinstance(pattern := kept.get("pattern"), str):
            refuse_empty_ways(notes, pattern, f"{pointer}/pattern")

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
        """Return the format in the form of the contract."""
        return RegexFormat(
            pattern=self.pattern,
            columns=self.columns,
            list_delimiter=self.list_delimiter or _CTRL_A,
        )


_Plain = (
    JsonInputFormat
    | CsvInputFormat
    | TsvInputFormat
    | RegexInputFormat
    | AvroInputFormat
    | ProtobufInputFormat
)
PlainFormat = Annotated[
    _Plain,
    Field(discriminator="type"),
    Kinds("valueFormat", _UNKNOWN, _OTHERS | {"kafka": ("kafka is no format of a value", "")}),
]


class HeaderFormat(Wire):
    """The encoding of header values, which are read as texts."""

    type: Literal["string"] = "string"
    encoding: HeaderEncoding = HeaderEncoding.UTF_8


class KafkaInputFormat(_Format):
    """A format in which key, headers, timestamp and topic of a record are fields as well."""

    part, title = "kafkaFormat", "inputFormat of type kafka"

    type: Literal["kafka"] = "kafka"
    value_format: PlainFormat | None = None
    key_format: PlainFormat | None = None
    header_format: HeaderFormat | None = None
    header_column_prefix: FieldName = "kafka.header."
    key_column_name: FieldName = "kafka.key"
    timestamp_column_name: FieldName = "kafka.timestamp"
    topic_column_name: FieldName = "kafka.topic"

    def value_contract(self) -> ValueFormat | None:
        """Return the format of the value, in the form of the contract; None: none is given."""
        return None if self.value_format is None else self.value_format.contract()

    def columns_contract(self) -> KafkaColumns:
        """Return the fields beside the value, in the form of the contract."""
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
        """The fields that the spec names, in order."""
        own = (self.timestamp_column_name, self.topic_column_name)
        key = () if self.key_format is None else (self.key_column_name,)
        return (*(() if self.value_format is None else self.value_format.names), *own, *key)

    def normalised(self) -> dict[str, object]:
        """Return the format as GET writes it, inner formats included."""
        section = super().normalised()
        inner = {"valueFormat": self.value_format, "keyFormat": self.key_format}
        section |= {name: one.normalised() for name, one in inner.items() if one is not None}
        if self.header_format is not None:
            section["headerFormat"] = self.header_format.model_dump(mode="json")
        return section


InputFormat = Annotated[
    _Plain | KafkaInputFormat,
    Field(discriminator="type"),
    Kinds("inputFormat", _UNKNOWN, _OTHERS),
]
