"""What becomes of a record: the `dataSchema` of a spec.  Names on the wire are Druid's."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from supervisor.core.spec.sections.granularity import GranularitySpec
from supervisor.core.spec.sections.metrics import METRICS_MAX, Aggregator, check_metrics, fields_of
from supervisor.core.spec.sections.transforms import TransformSpec
from supervisor.core.values.export_formats import Exports
from supervisor.core.values.field_types import (
    ColumnName,
    FieldName,
    Flag,
    Moment,
    Text,
    nearest,
    shown,
    wrong,
)
from supervisor.core.values.table_names import SafeName
from tasks.contract.ingest_spec import Column, ColumnType, Discovery, TimestampSpec
from tasks.contract.wire import Wire
from tasks.rows.row_plan import is_own_of_rollup
from tasks.rows.time.joda import PatternError, read_pattern

_FORMATS = ("auto", "iso", "posix", "millis", "micro", "nano", "ruby")
COLUMNS_MAX = 2_000
"""Columns of one table."""
_UNBUILT_TYPES = ("spatial", "timestamp")
_CASTS: dict[str, ColumnType] = {
    "STRING": "string",
    "LONG": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "ARRAY<STRING>": "array<string>",
    "ARRAY<LONG>": "array<long>",
    "ARRAY<FLOAT>": "array<double>",
    "ARRAY<DOUBLE>": "array<double>",
    "COMPLEX<json>": "json",
}
"""What a column of type auto may be told to be -> what it is here."""


def _checked_format(value: str) -> str:
    if value.lower() in _FORMATS:  # Source: Druid's TimestampParser, which ignores their case
        return value.lower()
    try:
        read_pattern(value).parse_sql("x")
    except PatternError as error:
        close = nearest(value, _FORMATS)
        hint = f"did you mean {close}?" if close else error.fix
        raise wrong(f"timestamp format {shown(value)}: {error.message}", hint) from None
    return value


def _read_type(value: object) -> object:
    known = (*get_args(ColumnType), "auto")
    if isinstance(value, str) and value not in known:
        built = "not built yet" if value in _UNBUILT_TYPES else "not a type"
        raise wrong(f"{shown(value)} is {built}", f"use one of {', '.join(known)}")
    return value


def _read_cast(value: object) -> object:
    if isinstance(value, str) and value not in _CASTS:
        raise wrong(f"{shown(value)} is not a type", f"use one of {', '.join(_CASTS)}")
    return value


class TimestampField(Wire):
    """Which field holds a record's time, how it is written, and what a record without it gets."""

    column: FieldName = "timestamp"
    format: Annotated[Text, AfterValidator(_checked_format)] = "auto"
    """auto, iso, posix, millis, micro, nano, ruby, or a pattern of Joda-Time."""
    missing_value: Moment | None = None


class Dimension(Wire):
    """One column; on the wire a bare name is a column of type string."""

    type: Annotated[ColumnType | Literal["auto"], BeforeValidator(_read_type)] = "string"
    """auto: that of the values, or `cast_to_type`."""
    name: ColumnName
    cast_to_type: Annotated[Text, BeforeValidator(_read_cast)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_bare_name(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value

    @property
    def column(self) -> Column | None:
        """The column; None: its type is that of the values."""
        if self.type != "auto":
            return Column(name=self.name, type=self.type)
        if self.cast_to_type is None:
            return None
        return Column(name=self.name, type=_CASTS[self.cast_to_type])

    def normalised(self) -> dict[str, object]:
        """Return it as GET writes it."""
        if self.type == "auto":
            cast = self.cast_to_type
            told: dict[str, object] = {"type": self.type, "name": self.name}
            return told if cast is None else told | {"castToType": cast}
        return {
            "type": self.type,
            "name": self.name,
            "multiValueHandling": "SORTED_ARRAY",
            "createBitmapIndex": self.type == "string",
        }


class DimensionsSpec(Wire):
    """The columns, and what becomes of other fields.

    They become columns as they are met, of type string or of their values' types; nothing comes
    of them if columns are given and neither `use_schema_discovery` nor `include_all_dimensions`.
    """

    dimensions: tuple[Dimension, ...] = Field(default=(), max_length=COLUMNS_MAX)
    dimension_exclusions: tuple[FieldName, ...] = Field(default=(), max_length=COLUMNS_MAX)
    """A set, kept sorted; `__time` and the timestamp column are left out of every table anyway."""
    include_all_dimensions: Flag = False
    use_schema_discovery: Flag = False
    """Columns that are met get the types of their values."""

    @field_validator("dimensions")
    @classmethod
    def _names_no_column_twice(cls, value: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        refuse_repeated([dimension.name for dimension in value])
        return value

    @field_validator("dimension_exclusions")
    @classmethod
    def _is_a_set(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(set(value)))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def discovery(self) -> Discovery:
        """What becomes of fields that are not listed."""
        if self.use_schema_discovery:
            return Discovery.TYPES
        if self.include_all_dimensions or not self.dimensions:
            return Discovery.TEXTS
        return Discovery.NOTHING


def _taken(metrics: Sequence[Aggregator]) -> set[str]:
    """Return the fields that are no dimensions, unless they are listed: as Druid has it."""
    return {metric.name for metric in metrics} | fields_of(metrics)


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse a name that stands twice, or twice but for upper and lower case.

    Druid tells case apart; Spark and DuckDB, which read the table, do not.

    Raises:
        PydanticCustomError: a name is repeated.
    """
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(name.lower(), name)
        if first != name:
            raise wrong(
                f"columns [{shown(first)}] and [{shown(name)}] differ in case only",
                "readers of the table do not tell them apart: keep one",
            )
    repeated = [name for name in seen.values() if list(names).count(name) > 1]
    if repeated:
        told = ", ".join(shown(name) for name in repeated)
        raise wrong(f"Cannot specify a column more than once: [{told}]", "name it once")


class DataSchema(Wire):
    """The table, its time and its columns."""

    data_source: SafeName
    timestamp_spec: TimestampField
    metrics_spec: tuple[Aggregator, ...] = Field(default=(), max_length=METRICS_MAX)
    dimensions_spec: DimensionsSpec = DimensionsSpec()
    granularity_spec: GranularitySpec = GranularitySpec()
    transform_spec: TransformSpec = TransformSpec()
    exports: Exports = ()
    """Formats in which other systems read the table, over the same files; ours."""

    @field_validator("dimensions_spec")
    @classmethod
    def _keeps_effective_exclusions(
        cls, value: DimensionsSpec, info: ValidationInfo
    ) -> DimensionsSpec:
        """Keep only exclusions that say something, so that GET -> POST changes nothing."""
        both = [name for name in value.names if name in value.dimension_exclusions]
        if both:
            raise wrong(f"column [{shown(both[0])}] is both a dimension and excluded", "keep one")
        timestamp = info.data.get("timestamp_spec")
        column = timestamp.column if isinstance(timestamp, TimestampField) else "__time"
        own = {"__time", column} | _taken(info.data.get("metrics_spec", ()))
        kept = tuple(n for n in value.dimension_exclusions if n not in own)
        return value.model_copy(update={"dimension_exclusions": kept})

    @model_validator(mode="after")
    def _measures_what_can_be_measured(self) -> Self:
        rollup = self.granularity_spec.rollup
        check_metrics(self.metrics_spec, rollup=rollup)
        # A set: that a metric repeats a dimension's very name, the reader tells at the metric.
        names = sorted({*self.dimensions_spec.names, *(m.name for m in self.metrics_spec)})
        refuse_repeated(names)
        reserved = [name for name in names if is_own_of_rollup(name.lower())]
        if rollup and reserved:
            raise wrong(f"column {shown(reserved[0])} is one that rollup makes itself", "rename it")
        return self

    @property
    def excluded(self) -> tuple[str, ...]:
        """Fields that never become a dimension, sorted: `__time`, the timestamp's, metrics'.

        One of these that the spec lists as a dimension is kept as one.
        """
        spec = self.dimensions_spec
        own = {"__time", self.timestamp_spec.column} | _taken(self.metrics_spec)
        return tuple(sorted(own - set(spec.names) | set(spec.dimension_exclusions)))

    def contract_timestamp(self) -> TimestampSpec:
        """Return the timestamp as tasks are told it."""
        spec = self.timestamp_spec
        return TimestampSpec(
            column=spec.column, format=spec.format, missing_value=spec.missing_value
        )

    def contract_columns(self) -> tuple[Column, ...]:
        """Return the columns as tasks are told them."""
        columns = (d.column for d in self.dimensions_spec.dimensions)
        return tuple(column for column in columns if column is not None)

    def contract_typed(self) -> tuple[str, ...]:
        """Return the columns that have the types of their values."""
        listed = self.dimensions_spec.dimensions
        return tuple(sorted(d.name for d in listed if d.column is None))

    def normalised(self) -> dict[str, object]:
        """Return it as GET writes it."""
        return {
            "dataSource": self.data_source,
            "timestampSpec": self.timestamp_spec.model_dump(mode="json"),
            "dimensionsSpec": {
                "dimensions": [d.normalised() for d in self.dimensions_spec.dimensions],
                "dimensionExclusions": list(self.excluded),
                "includeAllDimensions": self.dimensions_spec.include_all_dimensions,
                "useSchemaDiscovery": self.dimensions_spec.use_schema_discovery,
            },
            "metricsSpec": [metric.model_dump(mode="json") for metric in self.metrics_spec],
            "granularitySpec": self.granularity_spec.normalised(),
            "transformSpec": self.transform_spec.normalised(),
            # Left out where there are none: what is not asked for reads as Druid writes it.
            **({"exports": list(self.exports)} if self.exports else {}),
        }
