"""The `dataSchema` of a spec: table, time, columns, metrics.  Names on the wire are Druid's."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.rule_bounds import refuse_too_many_rules
from supervisor.core.spec.section import (
    HOT,
    OURS,
    Older,
    Section,
    Unsupported,
)
from supervisor.core.spec.sections.dimensions import DimensionsSpec, refuse_repeated
from supervisor.core.spec.sections.granularity import GranularitySpec
from supervisor.core.spec.sections.metrics import METRICS_MAX, Aggregator, check_metrics, fields_of
from supervisor.core.spec.sections.transforms import TransformSpec
from supervisor.core.values.export_formats import Exports
from supervisor.core.values.field_types import (
    FieldName,
    Moment,
    Text,
    nearest,
    shown,
    wrong,
)
from supervisor.core.values.table_names import ERRORS_SUFFIX, SafeName, is_errors_table
from tasks.contract.ingest_spec import Column, TimestampSpec
from tasks.rows.row_plan import is_own_of_rollup
from tasks.rows.time.joda import PatternError, read_pattern

_FORMATS = ("auto", "iso", "posix", "millis", "micro", "nano", "ruby")


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


class TimestampField(Section):
    """The field with a record's time, its format, and the time of a record without the field."""

    part = "timestampSpec"

    column: FieldName = "timestamp"
    format: Annotated[Text, AfterValidator(_checked_format)] = "auto"
    """auto, iso, posix, millis, micro, nano, ruby, or a pattern of Joda-Time."""
    missing_value: Moment | None = None


def _taken(metrics: Sequence[Aggregator]) -> set[str]:
    """Return the inputs of metrics, which are no dimensions unless listed, as in Druid."""
    return {metric.name for metric in metrics} | fields_of(metrics)


def _check_metrics(notes: SpecProblems, section: Mapping[str, object], pointer: str) -> None:
    """Require an explicit `rollup` with metrics: the default is true in Druid, false here."""
    metrics = section.get("metricsSpec")
    if not isinstance(metrics, list) or not metrics:
        return
    granularity = section.get("granularitySpec")
    if not isinstance(granularity, Mapping) or granularity.get("rollup") is None:
        notes.refuse(
            f"{pointer}/granularitySpec/rollup",
            "metricsSpec is given, so say rollup true or false",
            "Druid's default is true, here it is false",
        )
    columns = section.get("dimensionsSpec")
    listed = columns.get("dimensions") if isinstance(columns, Mapping) else None
    names = [_name_of(entry) for entry in listed] if isinstance(listed, list) else []
    for index, metric in enumerate(metrics):
        name = _name_of(metric)
        if name is not None and name in names:
            notes.refuse(
                f"{pointer}/metricsSpec/{index}",
                f"Cannot specify a column more than once: [{shown(name)}] seen in dimensions "
                "list, metricsSpec list",
                "give the metric another name",
            )


def _name_of(entry: object) -> object:
    if isinstance(entry, Mapping):
        own = entry.get("name")
        return _name_of(entry["aggregator"]) if "aggregator" in entry and not own else own
    return entry


class DataSchema(Section):
    """The table, its time and its columns."""

    part = "dataSchema"
    others = MappingProxyType(
        {
            "projections": Unsupported("leave it out", ([],)),
            "parser": Older("timestampSpec, dimensionsSpec and the ioConfig's inputFormat"),
        }
    )

    data_source: SafeName
    timestamp_spec: TimestampField
    metrics_spec: tuple[Aggregator, ...] = Field(default=(), max_length=METRICS_MAX)
    dimensions_spec: DimensionsSpec = DimensionsSpec()
    granularity_spec: GranularitySpec = GranularitySpec()
    transform_spec: TransformSpec = TransformSpec()
    exports: Annotated[Exports, OURS, HOT] = ()
    """Formats in which other systems read the table, over the same files; ours."""

    @classmethod
    def check(
        cls,
        notes: SpecProblems,
        written: Mapping[str, object],
        kept: dict[str, object],
        pointer: str,
    ) -> None:
        """Refuse names of errors tables, metrics without `rollup`, repeated names, many rules."""
        name = kept.get("dataSource")
        # The comparison ignores case, as readers of the tables and some file systems do.  It is not
        # in a validator, because an old stored spec may have such a name.
        if isinstance(name, str) and is_errors_table(name.lower()):
            taken = f"names that end in {ERRORS_SUFFIX} are those of quarantined records"
            hint = "choose another name"
            notes.refuse(f"{pointer}/dataSource", f"{shown(name)}: {taken}", hint)
        _check_metrics(notes, written, pointer)
        refuse_too_many_rules(notes, kept, pointer)

    @field_validator("dimensions_spec")
    @classmethod
    def _keeps_effective_exclusions(
        cls, value: DimensionsSpec, info: ValidationInfo
    ) -> DimensionsSpec:
        """Drop exclusions without effect, so that GET -> POST changes nothing."""
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
        # A set, because the reader reports a metric with the exact name of a dimension.
        names = sorted({*self.dimensions_spec.names, *(m.name for m in self.metrics_spec)})
        refuse_repeated(names)
        reserved = [name for name in names if is_own_of_rollup(name.lower())]
        if rollup and reserved:
            raise wrong(f"column {shown(reserved[0])} is one that rollup makes itself", "rename it")
        return self

    @property
    def excluded(self) -> tuple[str, ...]:
        """Fields that never become a dimension, sorted: `__time`, the timestamp's, metrics'.

        A field that the spec lists as a dimension stays one.
        """
        spec = self.dimensions_spec
        own = {"__time", self.timestamp_spec.column} | _taken(self.metrics_spec)
        return tuple(sorted(own - set(spec.names) | set(spec.dimension_exclusions)))

    def contract_timestamp(self) -> TimestampSpec:
        """Return the timestampSpec in the form of the contract."""
        spec = self.timestamp_spec
        return TimestampSpec(
            column=spec.column, format=spec.format, missing_value=spec.missing_value
        )

    def contract_columns(self) -> tuple[Column, ...]:
        """Return the declared columns in the form of the contract."""
        columns = (d.column for d in self.dimensions_spec.dimensions)
        return tuple(column for column in columns if column is not None)

    def contract_typed(self) -> tuple[str, ...]:
        """Return the names of columns whose type is that of their values, sorted."""
        listed = self.dimensions_spec.dimensions
        return tuple(sorted(d.name for d in listed if d.column is None))

    def normalised(self) -> dict[str, object]:
        """Return the dataSchema as GET writes it: all exclusions, and exports only if any."""
        columns = self.dimensions_spec.normalised() | {"dimensionExclusions": list(self.excluded)}
        schema = super().normalised() | {"dimensionsSpec": columns}
        if not self.exports:  # without exports the answer is the same as Druid's
            del schema["exports"]
        return schema
