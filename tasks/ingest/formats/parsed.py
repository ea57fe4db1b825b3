"""What a record holds, before anything is asked of it: its fields, by name.

A field is asked for as text, or as a value with the type that the record gives it; the first is
cheaper.  Both are SQL over the frame they come with.
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
"""Column of a frame: `Parsed.asked` of keys."""


@dataclass(frozen=True)
class WantedFields:
    """Which fields are asked for, and how."""

    texts: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Names of fields that are no news; none: nothing is news."""
    numbers: Mapping[str, NumberType] = field(default_factory=dict)
    """Texts of which a number will be made, that one."""
    flat: frozenset[str] | None = None
    """Only texts, numbers, true, false and lists of them are news, and the texts of these fields.

    None: whatever is there is news, and a field's text is there whatever it holds.
    """
    straight: bool = True
    """A format may read all fields at once, numbers as such, and again what it cannot read so."""


@dataclass(frozen=True)
class Exact:
    """A field that was asked for as a number, and in most records is one."""

    number: str
    """SQL of the field in the type that was asked for, where the record's numbers are numbers."""
    otherwise: str
    """SQL of its text where they are not (`Parsed.again`); null where they are."""


@dataclass(frozen=True)
class Parsed:
    """Records whose form is judged."""

    frame: DataFrame
    """The records' columns, `s` (the value as text), and what the SQL below uses."""
    reason: str
    """SQL of a number: 0, or a `RejectReason`'s."""
    raw: str = "s"
    """The value as it was sent, null for a tombstone: `s`, unless that is made of it.

    Not to look at `v` beside `s` saves a copy of the value for each step of Spark's.
    """
    texts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    exact: Mapping[str, Exact] = field(default_factory=dict)
    """Some of `Wanted.numbers`; `texts` has them as well."""
    again: str = NEVER
    """SQL of a BOOLEAN, never null: the record had to be read a second time, all of it as texts."""
    unknown: str = NO_NAMES
    """SQL of the fields' names that are not known, as an array; null if there are none."""
    missing_schemas: str = NO_NUMBERS
    """SQL of the numbers of schemas that are not known, as an array; null if there are none."""

    def text(self, name: str) -> str:
        """Return the SQL of a field's text; null where it is missing."""
        return self.texts.get(name, NO_TEXT)

    def value(self, name: str) -> Value:
        """Return a field's value; always null if no record has it."""
        return self.values.get(name, Value())
