"""Parsed records: their fields, by name, before any rule is applied.

A field is available as text, or as a value with the type that the record gives it; text is cheaper.
Both are SQL over the frame of the records.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from tasks.rows.expression.value import Value
from tasks.rows.row_plan import NumberType

NEVER = "false"
NO_TEXT = "CAST(NULL AS STRING)"
NO_NAMES = "CAST(NULL AS ARRAY<STRING>)"
NONE_OF_NAMES = "CAST(array() AS ARRAY<STRING>)"
NO_NUMBERS = "CAST(NULL AS ARRAY<BIGINT>)"
MISSING = "_missing"
"""Column of a frame with the missing schemas of keys, as `Parsed.missing_schemas` of values."""


@dataclass(frozen=True)
class WantedFields:
    """The fields that a spec needs, and in which form."""

    texts: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Names of fields that are not new; empty: no field counts as new."""
    numbers: Mapping[str, NumberType] = field(default_factory=dict)
    """Name of a text -> the type of the number that will be made of it."""
    flat: frozenset[str] | None = None
    """Fields whose texts have to be flat; None: every field has a text, whatever it holds.

    With a set, only texts, numbers, true, false and lists of them count as new fields.
    """
    straight: bool = True
    """Whether a format may read all fields at once, numbers as such, and failed records again."""


@dataclass(frozen=True)
class Exact:
    """A field that was requested as a number, and is a number in most records."""

    number: str
    """SQL of the field in the requested type, if the record's numbers are numbers."""
    otherwise: str
    """SQL of the field's text if they are not (`Parsed.again`), else null."""


@dataclass(frozen=True)
class Parsed:
    """Records with a judgement on their form."""

    frame: DataFrame
    """The records' columns, `s` (the value as text), and the columns that the SQL below uses."""
    reason: str
    """SQL of a number: 0, or the number of a `RejectReason`."""
    raw: str = "s"
    """The value as it was sent, null for a tombstone: `s`, unless `s` is derived from it.

    A frame that does not use `v` beside `s` saves one copy of the value per step of Spark.
    """
    texts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    exact: Mapping[str, Exact] = field(default_factory=dict)
    """Fields among `Wanted.numbers`; `texts` has them as well."""
    again: str = NEVER
    """SQL of a BOOLEAN, never null: the record had to be read again, all of it as texts."""
    unknown: str = NO_NAMES
    """SQL of an array with the names of unknown fields; null if there are none."""
    missing_schemas: str = NO_NUMBERS
    """SQL of an array with the numbers of unknown schemas; null if there are none."""

    def text(self, name: str) -> str:
        """Return the SQL of a field's text; null if the field is missing."""
        return self.texts.get(name, NO_TEXT)

    def value(self, name: str) -> Value:
        """Return a field's value, which is always null if no record has the field."""
        return self.values.get(name, Value())
