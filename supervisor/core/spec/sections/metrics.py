"""The `metricsSpec` of a spec: aggregators.  Names on the wire are Druid's."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from supervisor.core.spec.filters import FILTER
from supervisor.core.spec.section import Ignored, Kinds, Section, Unsupported
from supervisor.core.spec.sections.transforms import check_rows_of, checked_filter
from supervisor.core.spec.unsupported import OTHER_METRICS
from supervisor.core.values.field_types import ColumnName, FieldName, Text, Whole, shown, wrong
from tasks.contract.filters import Filter
from tasks.contract.ingest_spec import Metric, RowSpec
from tasks.rows.expression.compile import names_in
from tasks.rows.expression.parse import parse

METRICS_MAX = 500
_TIME_COLUMN = Unsupported("leave it out: rows go by their own time", ("__time",))
_Long = Literal["longSum", "longMin", "longMax", "longFirst", "longLast", "longAny"]
_Double = Literal["doubleSum", "doubleMin", "doubleMax", "doubleFirst", "doubleLast", "doubleAny"]
_Float = Literal["floatSum", "floatMin", "floatMax", "floatFirst", "floatLast", "floatAny"]


class CountAggregator(Section):
    """The number of records."""

    part, title = "countMetric", "a count"

    type: Literal["count"] = "count"
    name: ColumnName

    def contract(self) -> Metric:
        """Return the aggregator in the form of the contract."""
        return Metric(name=self.name, of="count")


class NumberAggregator(Section):
    """Sum, min, max, first, last or any of a field; sum, min and max also of an expression."""

    part, title = "numberMetric", "a sum, an extreme, one of the numbers"
    others = MappingProxyType({"timeColumn": _TIME_COLUMN})

    type: _Long | _Double | _Float
    name: ColumnName
    field_name: FieldName | None = None
    expression: Text | None = None

    @model_validator(mode="after")
    def _is_of_one_thing(self) -> Self:
        if (self.field_name is None) == (self.expression is None):
            raise wrong(
                f"{shown(self.name)} needs a fieldName or an expression, and not both", "keep one"
            )
        if self.expression is not None:
            if self.contract().of in {"first", "last", "any"}:
                raise wrong(
                    f"{shown(self.name)}: {self.type} takes a fieldName only",
                    "make the field with a transform",
                )
            check_rows_of(RowSpec(metrics=(self.contract(),)), f"{shown(self.name)}: ")
        return self

    def contract(self) -> Metric:
        """Return the aggregator in the form of the contract."""
        kind = next(k for k in ("long", "double", "float") if self.type.startswith(k))
        return Metric.model_validate(
            {
                "name": self.name,
                "of": self.type.removeprefix(kind).lower(),
                "type": kind,
                "field": self.field_name,
                "expression": self.expression,
            }
        )


class TextAggregator(Section):
    """The first, last or any of a field's texts."""

    part, title = "textMetric", "one of the texts"
    others = MappingProxyType(
        {
            "timeColumn": _TIME_COLUMN,
            "maxStringBytes": Ignored((1024,)),
            "aggregateMultipleValues": Ignored((True,)),
        }
    )

    type: Literal["stringFirst", "stringLast", "stringAny"]
    name: ColumnName
    field_name: FieldName

    def contract(self) -> Metric:
        """Return the aggregator in the form of the contract."""
        of = self.type.removeprefix("string").lower()
        return Metric.model_validate(
            {"name": self.name, "of": of, "type": "string", "field": self.field_name}
        )


class SketchAggregator(Section):
    """An HLL sketch of Apache DataSketches, which estimates a field's distinct values."""

    part, title = "sketchMetric", "an HLL sketch"
    others = MappingProxyType(
        {
            "tgtHllType": Ignored(("HLL_4", "HLL_8")),
            "stringEncoding": Ignored(("utf16le", "utf8")),
            "round": Ignored((False, True)),
            "shouldFinalize": Ignored((False, True)),
        }
    )

    type: Literal["HLLSketchBuild"]
    name: ColumnName
    field_name: FieldName
    lg_k: Annotated[Whole, Field(ge=4, le=21)] = 12
    """Binary logarithm of the sketch's size; the relative error is about 1.04 / sqrt(2^lgK)."""

    def contract(self) -> Metric:
        """Return the aggregator in the form of the contract."""
        return Metric(
            name=self.name,
            of="distinct",
            type="string",
            field=self.field_name,
            precision=self.lg_k,
        )


class ThetaAggregator(Section):
    """A theta sketch of Apache DataSketches: distinct values, as sets that can be intersected."""

    part, title = "thetaMetric", "a theta sketch"
    others = MappingProxyType(
        {
            "isInputThetaSketch": Unsupported(
                "send the values themselves, and leave it out", (False,)
            ),
            "shouldFinalize": Ignored((True, False)),
            "errorBoundsStdDev": Ignored(()),
        }
    )

    type: Literal["thetaSketch"]
    name: ColumnName
    field_name: FieldName
    size: Annotated[Whole, Field(ge=16, le=1 << 26)] = 16_384
    """Number of distinct values that are counted exactly, a power of two.  Beyond it the relative
    error is about 1 / sqrt(size)."""

    @field_validator("size")
    @classmethod
    def _is_a_power_of_two(cls, value: int) -> int:
        if value & (value - 1):
            below = 1 << (value.bit_length() - 1)
            raise wrong(f"{value} is no power of two", f"use {below} or {min(below << 1, 1 << 26)}")
        return value

    def contract(self) -> Metric:
        """Return the aggregator in the form of the contract."""
        return Metric(
            name=self.name,
            of="theta",
            type="string",
            field=self.field_name,
            precision=self.size.bit_length() - 1,
        )


_Plain = CountAggregator | NumberAggregator | TextAggregator | SketchAggregator | ThetaAggregator
_KINDS = Kinds(
    "metric",
    "is no aggregator",
    {kind: (f"{kind} is not built", instead) for kind, instead in OTHER_METRICS.items()},
    many=True,
)
PlainAggregator = Annotated[_Plain, Field(discriminator="type"), _KINDS]


class FilteredAggregator(Section):
    """An aggregator of the rows that a filter matches.

    Source: Druid's `FilteredAggregatorFactory.getName`, for the column's name.
    """

    part, title = "filteredMetric", "a filtered metric"

    type: Literal["filtered"]
    aggregator: PlainAggregator
    filter: Annotated[Filter, FILTER]
    own_name: ColumnName | None = Field(default=None, alias="name")
    """The column's name; None: the name of the inner aggregator."""

    @field_validator("own_name", mode="before")
    @classmethod
    def _may_be_empty(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("filter")
    @classmethod
    def _can_be_decided(cls, value: Filter) -> Filter:
        return checked_filter(value)

    @property
    def name(self) -> str:
        """The column's name."""
        return self.own_name or self.aggregator.name

    def contract(self) -> Metric:
        """Return the aggregator in the form of the contract."""
        overrides = {"name": self.name, "filter": self.filter}
        return self.aggregator.contract().model_copy(update=overrides)


Aggregator = Annotated[_Plain | FilteredAggregator, Field(discriminator="type"), _KINDS]


def fields_of(metrics: Sequence[Aggregator]) -> frozenset[str]:
    """Return the input fields of metrics, without those of their filters."""
    fields: set[str] = set()
    for metric in (one.contract() for one in metrics):
        if metric.field is not None:
            fields.add(metric.field)
        elif metric.expression is not None:
            fields |= names_in(parse(metric.expression))
    return frozenset(fields)


def check_metrics(metrics: Sequence[Aggregator], *, rollup: bool) -> None:
    """Refuse repeated names, and sketches without rollup.

    Raises:
        PydanticCustomError: names the first wrong metric.
    """
    names = [metric.name for metric in metrics]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise wrong(f"metric {shown(twice[0])} is given twice", "keep one")
    sketches = [metric.name for metric in metrics if metric.contract().is_sketch]
    if sketches and not rollup:
        raise wrong(
            f"metric {shown(sketches[0])} is a sketch of many rows, and rollup is false",
            "set rollup to true, or make the field a dimension: count(distinct) of it is exact",
        )
