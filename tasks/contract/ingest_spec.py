"""The ingestion spec of a task: the part of its supervisor's spec that turns records into rows.

    record ─► input format ─► timestamp ─► transforms ─► filter, bounds ─► columns ─► row

Like `tasks.contract.messages`, this module is part of the seam between the planes.  It holds data
only.  The names are Druid's.
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
    """One column of the table.  `UnfitValues` decides on a value that does not fit the type.

    A `json` column keeps any value as JSON text.  An array is a list of elements of one type, each
    of which may be null.
    """

    name: str
    type: ColumnType = "string"


class Discovery(StrEnum):
    """Schema discovery: the treatment of a record's fields without a declared column."""

    NOTHING = "nothing"
    TEXTS = "texts"
    """Each such field becomes a string column when it first occurs."""
    TYPES = "types"
    """Each such field becomes a column with the type of its values (see `tasks.rows.discovery`)."""


class TimestampSpec(Wire):
    """The field with a record's time, and the format of this time.

    iso: ISO 8601 text, UTC if the text names no zone.
    posix, millis, micro, nano: a number since the epoch, in this unit.
    ruby: seconds, most of them with a fraction.  They are read as texts, while posix has numbers.
    auto: digits are millis, everything else is iso.
    Any other format is a pattern of Joda-Time.
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
    """A field that is computed from other fields by an expression in Druid's language."""

    name: str
    expression: str


class Metric(Wire):
    """A column that aggregates a field: the value of each row or, with rollup, of several rows.

    With rollup, rows with the same `__time` and the same columns become one row.  Nulls are
    skipped.  first and last order records by their own time, then by their place in the topic.
    any takes the first record by its place in the topic.
    """

    name: str
    of: Literal["count", "sum", "min", "max", "first", "last", "any", "distinct", "theta"]
    """distinct (HLL) and theta are sketches that estimate the number of different values."""
    type: Literal["string", "long", "float", "double"] = "long"
    field: str | None = None
    expression: str | None = None
    """Expression in Druid's language, instead of `field`.  A count has neither: it counts rows."""
    filter: Filter | None = None
    """Rows that the filter does not match are left out of the metric."""
    precision: int = Field(default=12, ge=4, le=26)
    """Binary logarithm of the size of a sketch; at most 21 for an HLL sketch."""

    @property
    def is_sketch(self) -> bool:
        """Whether the metric is a sketch.  A single row has no sketch."""
        return self.of in {"distinct", "theta"}


class JsonPath(Wire):
    """A field that lies below the top level of a JSON record."""

    name: str
    path: str
    """`$.a.b[0]`"""


class JsonFormat(Wire):
    """One JSON object per record; its top-level keys are the fields."""

    type: Literal["json"] = "json"
    paths: tuple[JsonPath, ...] = ()
    roots: tuple[str, ...] | None = None
    """The top-level keys that are fields; None: all keys are."""


class TextFormat(Wire):
    """One line of delimited values per record; `columns` names the fields.

    csv: RFC 4180, with values optionally in double quotes.  tsv: plain text between delimiters.
    """

    type: Literal["csv", "tsv"]
    columns: tuple[str, ...]
    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1)]
    list_delimiter: str | None = None
    """Delimiter of several values within one value; these values become a JSON list."""


class RegexFormat(Wire):
    """A pattern for the whole record; its groups are the fields, which `columns` names."""

    type: Literal["regex"] = "regex"
    pattern: str
    columns: tuple[str, ...]
    list_delimiter: str | None = None


class NumberedSchema(Wire):
    """A schema, and the number by which records refer to it."""

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
    """Each record begins with a byte 0 and its schema's number in a registry, as `ManySchemas`."""

    type: Literal["registry"] = "registry"
    registry: Registry


class AvroFormat(Wire):
    """One Avro record per record, converted to JSON; the JSON's keys are the fields."""

    type: Literal["avro"] = "avro"
    schemas: Annotated[OneSchema | ManySchemas | RegistrySchemas, Field(discriminator="type")]
    fields: JsonFormat = JsonFormat()
    binary_as_string: bool = False
    unions_by_type: bool = False


class OneMessage(Wire):
    """Each record is the bytes of one message of this name and nothing else."""

    type: Literal["one"] = "one"
    text: str
    """A FileDescriptorSet in base64."""
    message: str


class ProtobufFormat(Wire):
    """One Protobuf message per record, converted to JSON; the JSON's keys are the fields."""

    type: Literal["protobuf"] = "protobuf"
    schemas: Annotated[OneMessage | RegistrySchemas, Field(discriminator="type")]
    """With a registry, the message's path of indexes in its schema's file follows the number."""
    fields: JsonFormat = JsonFormat()


BinaryFormat = AvroFormat | ProtobufFormat
"""Binary formats, which can only be decoded with a schema."""
ValueFormat = Annotated[
    JsonFormat | TextFormat | RegexFormat | BinaryFormat, Field(discriminator="type")
]


class HeaderEncoding(StrEnum):
    """Character encoding of headers, with Java's names, as Druid takes them."""

    UTF_8 = "UTF-8"
    US_ASCII = "US-ASCII"
    ISO_8859_1 = "ISO-8859-1"
    UTF_16 = "UTF-16"
    UTF_16BE = "UTF-16BE"
    UTF_16LE = "UTF-16LE"


class KafkaColumns(Wire):
    """The parts of a record that are fields, beside its value; null: the part is no field."""

    timestamp: str | None = None
    """Milliseconds since the epoch."""
    topic: str | None = None
    header_prefix: str | None = None
    """The field `<prefix><header>` is the last value of this header, as text."""
    header_encoding: HeaderEncoding = HeaderEncoding.UTF_8
    """Bytes that are invalid in this encoding are replaced."""
    key: str | None = None
    key_format: ValueFormat | None = None
    """None: the key is UTF-8 text.  Otherwise the field `key` is the first field of the key."""


class UnfitValues(StrEnum):
    """The treatment of a record with a value that its declared column cannot hold."""

    NULL = "null"
    """The record becomes a row with a null in this column, and is counted."""
    QUARANTINE = "quarantine"
    """The record becomes no row: it is a bad record."""


class RowSpec(Wire):
    """Everything that decides which row a record becomes, except the columns."""

    value_format: ValueFormat | None = JsonFormat()
    """None: values are ignored, and only `kafka_columns` gives fields."""
    kafka_columns: KafkaColumns | None = None
    timestamp: TimestampSpec = TimestampSpec()
    transforms: tuple[Transform, ...] = ()
    filter: Filter | None = None
    metrics: tuple[Metric, ...] = ()
    rollup: bool = False
    """Rows with the same time and the same columns are merged into one row when a range ends."""
    unfit_values: UnfitValues = UnfitValues.NULL
    truncation: Truncation | None = None
    not_before: Instant | None = None
    not_after: Instant | None = None
    """Rows before `not_before` or after `not_after` are thrown away."""

    @property
    def value_registry(self) -> Registry | None:
        """The registry of the schemas that values name; None: values name none."""
        return _registry_of(self.value_format)

    @property
    def key_registry(self) -> Registry | None:
        """The registry of the schemas that keys name; None: keys name none."""
        return _registry_of(self.kafka_columns.key_format) if self.kafka_columns else None

    @property
    def registry_urls(self) -> tuple[str, ...]:
        """The addresses of all registries that a worker needs to decode records."""
        named = (self.value_registry, self.key_registry)
        return tuple(url for registry in named if registry is not None for url in registry.urls)


def _registry_of(written: ValueFormat | None) -> Registry | None:
    if isinstance(written, BinaryFormat) and isinstance(written.schemas, RegistrySchemas):
        return written.schemas.registry
    return None


class FileFormat(Wire):
    """Options of the Parquet files of a table's rows."""

    compressed: bool = True
    """True: compressed by zstd.  False: not compressed."""
    zstd_level: int = Field(default=3, ge=1, le=19)
    dictionary: bool = True
    """True: repeated values are written once, as long as that is smaller (dictionary encoding)."""
    plain: tuple[str, ...] = ()
    """Columns without dictionary encoding, in which each value is written as it is."""


DEFAULT_FORMAT = FileFormat()


class BadRecords(StrEnum):
    """The treatment of a bad record, beside being counted and explained."""

    QUARANTINE = "quarantine"
    """The record is kept, raw, in the table `<dataSource>__errors`."""
    DROP = "drop"
    WARN = "warn"
    """As `DROP`; also, workers log the record, and the supervisor's status reports it."""
    FAIL = "fail"
    """The first bad record fails its range."""


class Tuning(Wire):
    """Bounds of the reading loop; rows are counted in records, sizes in bytes."""

    batch_target: Seconds = timedelta(seconds=2)
    """Target duration of a live batch; this duration bounds how long a pause may take."""
    batch_rows_min: int = Field(default=500, ge=1)
    """A live batch starts when this many records wait, or when records have waited for `linger`."""
    linger: Seconds = timedelta(seconds=1)
    batch_rows_max: int = Field(default=500_000, ge=1)
    segment_rows_max: int = Field(default=5_000_000, ge=1)
    """Rows beyond this number go to another published file."""
    segment_bytes: int = Field(default=256 * 1024 * 1024, ge=1)
    """Approximate maximum size of a published file, estimated from the sizes before the merge."""
    files: FileFormat = FileFormat()
    saved_parse_exceptions_max: int = Field(default=20, ge=0, le=1_000)
    parse_exceptions_max: int | None = Field(default=None, ge=0)
    """A range with more records that are wholly or partly unreadable fails; None: no limit."""
    log_parse_exceptions: bool = False
    bad_records: BadRecords = BadRecords.QUARANTINE


class IngestSpec(RowSpec):
    """The part of a supervisor's spec that a task needs to turn records into rows."""

    data_source: str
    kafka: KafkaClient
    columns: tuple[Column, ...] = ()
    typed: tuple[str, ...] = ()
    """Further columns, which get the type of their values, as discovered columns do."""
    discovery: Discovery = Discovery.NOTHING
    excluded: tuple[str, ...] = ()
    segment_granularity: Granularity | PeriodChunks = Granularity.DAY
    topic_column: bool = False
    """True: rows come from several topics, and each row has its topic in `__topic`."""
    tuning: Tuning = Tuning()
