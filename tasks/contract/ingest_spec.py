"""What a task is told of its supervisor's spec: how a record becomes a row of the table.

    record ─► input format ─► timestamp ─► transforms ─► filter, bounds ─► columns ─► row

Part of the seam between the planes, like `tasks.contract.messages`: data only, the names are
Druid's.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tasks.contract.filters import Filter
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.registry import Registry
from tasks.contract.wire import Instant, Seconds, Wire

ColumnType = Literal[
    "string", "long", "float", "double", "json", "array<long>", "array<double>", "array<string>"
]


class Granularity(StrEnum):
    """Length of a segment's time chunk, in UTC calendar units; the names are Druid's."""

    SECOND = "SECOND"
    MINUTE = "MINUTE"
    FIVE_MINUTE = "FIVE_MINUTE"
    TEN_MINUTE = "TEN_MINUTE"
    FIFTEEN_MINUTE = "FIFTEEN_MINUTE"
    THIRTY_MINUTE = "THIRTY_MINUTE"
    HOUR = "HOUR"
    SIX_HOUR = "SIX_HOUR"
    EIGHT_HOUR = "EIGHT_HOUR"
    DAY = "DAY"
    WEEK = "WEEK"
    MONTH = "MONTH"
    QUARTER = "QUARTER"
    YEAR = "YEAR"
    ALL = "ALL"


PERIODS = {
    Granularity.SECOND: "PT1S",
    Granularity.MINUTE: "PT1M",
    Granularity.FIVE_MINUTE: "PT5M",
    Granularity.TEN_MINUTE: "PT10M",
    Granularity.FIFTEEN_MINUTE: "PT15M",
    Granularity.THIRTY_MINUTE: "PT30M",
    Granularity.HOUR: "PT1H",
    Granularity.SIX_HOUR: "PT6H",
    Granularity.EIGHT_HOUR: "PT8H",
    Granularity.DAY: "P1D",
    Granularity.WEEK: "P1W",
    Granularity.MONTH: "P1M",
    Granularity.QUARTER: "P3M",
    Granularity.YEAR: "P1Y",
}
"""Periods of ISO 8601, in UTC; ALL is one chunk."""


class Column(Wire):
    """One column of the table; what becomes of a value that does not fit, `UnfitValues` says.

    `json` keeps a value as JSON text, whatever it is; an array is a list of elements of one type,
    each of which may be null.
    """

    name: str
    type: ColumnType = "string"


class Discovery(StrEnum):
    """What becomes of a record's fields that no column is declared for."""

    NOTHING = "nothing"
    TEXTS = "texts"
    """Each becomes a string column as it is met."""
    TYPES = "types"
    """Each becomes a column of the type that its values have (see `tasks.rows.discovery`)."""


class TimestampSpec(Wire):
    """Which field holds a record's time, and how it is written.

    iso: ISO 8601 text, UTC when it names no zone.  posix, millis, micro, nano: since the epoch.
    ruby: seconds, most of them with a fraction; they are read as texts, where posix has numbers.
    auto: digits are millis, everything else is iso.  Anything else is a pattern of Joda-Time.
    """

    column: str = "timestamp"
    format: str = "auto"
    missing_value: Instant | None = None


class Truncation(Wire):
    """Times are cut down to the beginning of their period (Druid's query granularity)."""

    period: str
    """ISO 8601, such as PT1H or P1M."""
    time_zone: str = "UTC"
    origin: Instant | None = None


class PeriodChunks(Truncation):
    # The tiles: tasks/rows/time/period.py.  The docstring is a text of the API.
    """Time chunks are the tiles of a period, of whole seconds."""


class Transform(Wire):
    """A field that is worked out from others, in Druid's language of expressions."""

    name: str
    expression: str


class Metric(Wire):
    """A column that is made of a field's values: of each row's own, or with rollup of many rows'.

    With rollup, rows of one `__time` and the same columns become one row.  Nulls do not count;
    first and last go by the record's own time, then its place in the topic; any is the first
    by that place.
    """

    name: str
    of: Literal["count", "sum", "min", "max", "first", "last", "any", "distinct", "theta"]
    """The last two are sketches of how many different values there are: HLL, and theta."""
    type: Literal["string", "long", "float", "double"] = "long"
    field: str | None = None
    expression: str | None = None
    """In Druid's language of expressions.  A count has neither: it counts rows."""
    filter: Filter | None = None
    """Rows that it does not match count for nothing."""
    precision: int = Field(default=12, ge=4, le=26)
    """Of a sketch: the binary logarithm of its size; an HLL sketch's is 21 at most."""

    @property
    def is_sketch(self) -> bool:
        """Whether it is a sketch, which no single row has."""
        return self.of in {"distinct", "theta"}


class JsonPath(Wire):
    """A field that lies deeper in a JSON record."""

    name: str
    path: str
    """`$.a.b[0]`"""


class JsonFormat(Wire):
    """One JSON object per record; its top-level keys are the fields."""

    type: Literal["json"] = "json"
    paths: tuple[JsonPath, ...] = ()
    roots: tuple[str, ...] | None = None
    """Only these top-level keys are fields; None: all are."""


class TextFormat(Wire):
    """One line of values between separators per record, its fields named by `columns`.

    csv: RFC 4180, values may stand in double quotes.  tsv: plain text between delimiters.
    """

    type: Literal["csv", "tsv"]
    columns: tuple[str, ...]
    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1)]
    list_delimiter: str | None = None
    """Within a value it divides several: they become a JSON list."""


class RegexFormat(Wire):
    """A pattern that a whole record matches; its groups are the fields, named by `columns`."""

    type: Literal["regex"] = "regex"
    pattern: str
    columns: tuple[str, ...]
    list_delimiter: str | None = None


class NumberedSchema(Wire):
    """A schema and the number that records name it by."""

    number: int
    text: str


class OneSchema(Wire):
    """Each record is the bytes of this schema and nothing else."""

    type: Literal["one"] = "one"
    text: str


class ManySchemas(Wire):
    """Each record begins with a byte 1 and the number of its schema, four bytes big-endian."""

    type: Literal["many"] = "many"
    schemas: tuple[NumberedSchema, ...]


class RegistrySchemas(Wire):
    """Each record begins with a byte 0 and its schema's number in a registry, as above."""

    type: Literal["registry"] = "registry"
    registry: Registry


class AvroFormat(Wire):
    """One Avro record per record; its fields are those of the JSON that it is turned into."""

    type: Literal["avro"] = "avro"
    schemas: Annotated[OneSchema | ManySchemas | RegistrySchemas, Field(discriminator="type")]
    fields: JsonFormat = JsonFormat()
    binary_as_string: bool = False
    unions_by_type: bool = False


class OneMessage(Wire):
    """Each record is one message of this name, and nothing else."""

    type: Literal["one"] = "one"
    text: str
    """A FileDescriptorSet in base64."""
    message: str


class ProtobufFormat(Wire):
    """One Protobuf message per record; its fields are those of the JSON that it is turned into."""

    type: Literal["protobuf"] = "protobuf"
    schemas: Annotated[OneMessage | RegistrySchemas, Field(discriminator="type")]
    """In a registry, the places of a message in its schema's file follow the number."""
    fields: JsonFormat = JsonFormat()


BinaryFormat = AvroFormat | ProtobufFormat
"""Formats of bytes that only a schema gives a meaning."""
ValueFormat = Annotated[
    JsonFormat | TextFormat | RegexFormat | BinaryFormat, Field(discriminator="type")
]


class HeaderEncoding(StrEnum):
    """How the bytes of a header are a text; Java's names, as Druid takes them."""

    UTF_8 = "UTF-8"
    US_ASCII = "US-ASCII"
    ISO_8859_1 = "ISO-8859-1"
    UTF_16 = "UTF-16"
    UTF_16BE = "UTF-16BE"
    UTF_16LE = "UTF-16LE"


class KafkaColumns(Wire):
    """Which parts of a record beside its value are fields; null: not this one."""

    timestamp: str | None = None
    """Milliseconds since the epoch."""
    topic: str | None = None
    header_prefix: str | None = None
    """`<prefix><header>` is a header's last value, as text."""
    header_encoding: HeaderEncoding = HeaderEncoding.UTF_8
    """What is none in it is replaced."""
    key: str | None = None
    key_format: ValueFormat | None = None
    """None: the key is UTF-8 text.  Else `key` holds the first field that the key has."""


class UnfitValues(StrEnum):
    """What becomes of a record with a value that its declared column cannot hold."""

    NULL = "null"
    """A row all the same, with a null there; it is counted."""
    QUARANTINE = "quarantine"
    """No row: it is a record that cannot be read."""


class RowSpec(Wire):
    """All that decides which row a record becomes, but for its columns."""

    value_format: ValueFormat | None = JsonFormat()
    """None: values are not looked at; only a `kafka` section gives fields."""
    kafka_columns: KafkaColumns | None = None
    timestamp: TimestampSpec = TimestampSpec()
    transforms: tuple[Transform, ...] = ()
    filter: Filter | None = None
    metrics: tuple[Metric, ...] = ()
    rollup: bool = False
    """Rows of one time and the same columns are merged into one when a range ends."""
    unfit_values: UnfitValues = UnfitValues.NULL
    truncation: Truncation | None = None
    not_before: Instant | None = None
    not_after: Instant | None = None
    """Rows before the one or after the other are thrown away."""

    @property
    def value_registry(self) -> Registry | None:
        """Where values name their schemas, if they do."""
        return _registry_of(self.value_format)

    @property
    def key_registry(self) -> Registry | None:
        """Where keys name their schemas, if they do."""
        return _registry_of(self.kafka_columns.key_format) if self.kafka_columns else None

    @property
    def registry_urls(self) -> tuple[str, ...]:
        """Every address of a registry that records make a worker ask."""
        named = (self.value_registry, self.key_registry)
        return tuple(url for registry in named if registry is not None for url in registry.urls)


def _registry_of(written: ValueFormat | None) -> Registry | None:
    if isinstance(written, BinaryFormat) and isinstance(written.schemas, RegistrySchemas):
        return written.schemas.registry
    return None


class FileFormat(Wire):
    """How the Parquet files of a table's rows are written."""

    compressed: bool = True
    """By zstd; else not at all."""
    zstd_level: int = Field(default=3, ge=1, le=19)
    dictionary: bool = True
    """Values that repeat are written once, as long as that is smaller."""
    plain: tuple[str, ...] = ()
    """Columns of which each value is written as it is."""


DEFAULT_FORMAT = FileFormat()


class BadRecords(StrEnum):
    """What becomes of a record that cannot be read, beside being counted and explained."""

    QUARANTINE = "quarantine"
    """It is kept, raw, in the table `<dataSource>__errors`."""
    DROP = "drop"
    WARN = "warn"
    """As drop; workers log it, and the supervisor's status tells of it."""
    FAIL = "fail"
    """The first one fails its range."""


class Tuning(Wire):
    """Bounds of the reading loop; rows are records, sizes are bytes."""

    batch_target: Seconds = timedelta(seconds=2)
    """How long a live batch should last; it bounds how long a pause may take."""
    batch_rows_min: int = Field(default=500, ge=1)
    """A live batch starts when this many records wait, or when they have lingered."""
    linger: Seconds = timedelta(seconds=1)
    batch_rows_max: int = Field(default=500_000, ge=1)
    segment_rows_max: int = Field(default=5_000_000, ge=1)
    """More rows in one published file than this are split."""
    segment_bytes: int = Field(default=256 * 1024 * 1024, ge=1)
    """A published file is about as large at most; a guess, from the sizes before the merge."""
    files: FileFormat = FileFormat()
    saved_parse_exceptions_max: int = Field(default=20, ge=0, le=1_000)
    parse_exceptions_max: int | None = Field(default=None, ge=0)
    """A range with more records that cannot be read, wholly or in part, fails; None: never."""
    log_parse_exceptions: bool = False
    bad_records: BadRecords = BadRecords.QUARANTINE


class IngestSpec(RowSpec):
    """What a task needs to know of its supervisor's spec to turn records into rows."""

    data_source: str
    kafka: KafkaClient
    columns: tuple[Column, ...] = ()
    typed: tuple[str, ...] = ()
    """Further columns, whose types are those of their values, as if they were discovered."""
    discovery: Discovery = Discovery.NOTHING
    excluded: tuple[str, ...] = ()
    segment_granularity: Granularity | PeriodChunks = Granularity.DAY
    topic_column: bool = False
    """Rows come from several topics: each names its own in `__topic`."""
    tuning: Tuning = Tuning()
