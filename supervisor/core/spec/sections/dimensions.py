"""The `dimensionsSpec` of a spec: the columns of a table, and how columns are discovered."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, field_validator

from supervisor.core.spec.section import Declaration, Ignored, Section, Unsupported, answers_of
from supervisor.core.values.field_types import ColumnName, FieldName, Flag, Text, shown, wrong
from tasks.contract.ingest_spec import Column, ColumnType, Discovery

_SORTED = Ignored(("SORTED_ARRAY",), answers=("SORTED_ARRAY",))
COLUMNS_MAX = 2_000
"""The maximum of columns in one spec."""
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
"""Value of castToType, for a column of type auto -> type of the column."""


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


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse names that are equal, or differ only in case.

    Druid distinguishes case; Spark and DuckDB, which read the table, do not.

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
        names_shown = ", ".join(shown(name) for name in repeated)
        raise wrong(f"Cannot specify a column more than once: [{names_shown}]", "name it once")


class Dimension(Section):
    """One column; on the wire a bare text is the name of a column of type string."""

    part = "dimension"
    bare = True

    type: Annotated[ColumnType | Literal["auto"], BeforeValidator(_read_type)] = "string"
    """auto: the type of the values, or `cast_to_type`."""
    name: ColumnName
    cast_to_type: Annotated[Text, BeforeValidator(_read_cast)] | None = None

    @property
    def column(self) -> Column | None:
        """The column; None: its type is that of its values."""
        if self.type != "auto":
            return Column(name=self.name, type=self.type)
        if self.cast_to_type is None:
            return None
        return Column(name=self.name, type=_CASTS[self.cast_to_type])

    @classmethod
    def by_type(cls) -> Mapping[str, Declaration]:
        """Return type -> declaration of the fields that a dimension of this type may have."""
        return DIMENSIONS

    @classmethod
    def declared_for(cls, written: Mapping[str, object]) -> Declaration:
        """Return the declaration for a dimension's type, which is string by default."""
        return DIMENSIONS.get(str(written.get("type", "string")), NumberDimension)

    def normalised(self) -> dict[str, object]:
        """Return the dimension as GET writes it."""
        whole: dict[str, object] = {"type": self.type, "name": self.name}
        if self.cast_to_type is not None:
            whole["castToType"] = self.cast_to_type
        return whole | answers_of(DIMENSIONS[self.type], whole)


class TextDimension(Dimension):
    """The fields of a column of texts."""

    part, title = "textDimension", "a dimension of texts"
    stored_only = frozenset({"castToType"})
    others = MappingProxyType(
        {
            "maxStringLength": Unsupported(
                "cut the text with a transform: substring(name, 0, 100)"
            ),
            "multiValueHandling": _SORTED,
            "createBitmapIndex": Ignored((True,), answers=(True,)),
            "columnFormatSpec": Ignored(
                ({},), "the indexSpec says how columns are stored, and no text is cut"
            ),
        }
    )


class NumberDimension(Dimension):
    """The fields of a column of numbers or arrays."""

    part, title = "numberDimension", "a dimension of numbers or arrays"
    stored_only = frozenset({"castToType"})
    others = MappingProxyType(
        {
            "multiValueHandling": _SORTED,
            "createBitmapIndex": Ignored((False,), answers=(False,)),
        }
    )


class JsonDimension(Dimension):
    """The fields of a column of JSON."""

    part, title = "jsonDimension", "a dimension of type json"
    stored_only = frozenset({"castToType"})
    others = MappingProxyType(
        {
            "multiValueHandling": _SORTED,
            # Druid writes true and 5; our own GET writes false.
            "createBitmapIndex": Ignored((True, False), answers=(False,)),
            "columnFormatSpec": Ignored(({},)),
            "formatVersion": Ignored((5,)),
        }
    )


class AutoDimension(Dimension):
    """The fields of a column of type auto, whose type is that of its values or a cast."""

    part, title = "autoDimension", "a dimension of type auto"
    others = MappingProxyType(
        {
            "multiValueHandling": Ignored(("SORTED_ARRAY",)),
            "createBitmapIndex": Ignored((True,)),
            "columnFormatSpec": Ignored(({},)),
        }
    )


DIMENSIONS: Mapping[str, Declaration] = MappingProxyType(
    dict.fromkeys(get_args(ColumnType), NumberDimension)
    | {"string": TextDimension, "json": JsonDimension, "auto": AutoDimension}
)
"""Type of a dimension -> declaration of its fields."""


class DimensionsSpec(Section):
    """The declared columns, and the discovery of other fields.

    A field that is not declared becomes a column, of type string or of its values' type.  It is
    ignored if columns are declared and neither `use_schema_discovery` nor `include_all_dimensions`
    is set.
    """

    part = "dimensionsSpec"
    others = MappingProxyType(
        {
            "spatialDimensions": Unsupported("leave it out", ([],)),
            "forceSegmentSortByTime": Ignored((True,)),
        }
    )

    dimensions: tuple[Dimension, ...] = Field(default=(), max_length=COLUMNS_MAX)
    dimension_exclusions: tuple[FieldName, ...] = Field(default=(), max_length=COLUMNS_MAX)
    """A sorted set; `__time` and the timestamp column never become dimensions anyway."""
    include_all_dimensions: Flag = False
    use_schema_discovery: Flag = False
    """Whether discovered columns get the types of their values."""

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
        """The treatment of fields that are not declared."""
        if self.use_schema_discovery:
            return Discovery.TYPES
        if self.include_all_dimensions or not self.dimensions:
            return Discovery.TEXTS
        return Discovery.NOTHING
