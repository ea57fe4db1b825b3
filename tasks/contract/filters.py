"""Row filters in Druid's notation, as data.

Filters follow three-valued logic: if a null value makes a filter neither true nor false for a
row, the row matches neither the filter nor its `not`.  `tasks.rows.filter_sql` translates each
filter to Spark's SQL.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, StringConstraints

from tasks.contract.wire import Wire

FIELDS_MAX = 1_000
"""Most filters within one `and` or `or`, and most values of one `in`."""

FieldName = Annotated[str, Field(strict=True, min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(strict=True, max_length=10_000)]
Ordering = Literal["lexicographic", "numeric", "strlen"]
MatchType = Literal["STRING", "LONG", "DOUBLE", "FLOAT"]
Scalar = StrictBool | StrictInt | StrictFloat | StrictStr


class And(Wire):
    """Every one of `fields` matches."""

    type: Literal["and"] = "and"
    fields: tuple[Filter, ...] = Field(min_length=1, max_length=FIELDS_MAX)


class Or(Wire):
    """One of `fields` matches."""

    type: Literal["or"] = "or"
    fields: tuple[Filter, ...] = Field(min_length=1, max_length=FIELDS_MAX)


class Not(Wire):
    """`field` is false."""

    type: Literal["not"] = "not"
    field: Filter


class IsTrue(Wire):
    """`field` is true; a null leaves this false, not undecided."""

    type: Literal["istrue"] = "istrue"
    field: Filter


class IsFalse(Wire):
    """`field` is false; a null leaves this false, not undecided."""

    type: Literal["isfalse"] = "isfalse"
    field: Filter


class Always(Wire):
    """Matches every row."""

    type: Literal["true"] = "true"


class Never(Wire):
    """Matches none."""

    type: Literal["false"] = "false"


class Selector(Wire):
    """A field is `value`, as a number if it is one, else as text; null matches a missing one."""

    type: Literal["selector"] = "selector"
    dimension: FieldName
    value: Scalar | None = None


class Equals(Wire):
    """A field is `match_value`, both read as `match_value_type`."""

    type: Literal["equals"] = "equals"
    column: FieldName
    match_value_type: MatchType
    match_value: Scalar


class IsNull(Wire):
    """A field is missing or null."""

    type: Literal["null"] = "null"
    column: FieldName


class In(Wire):
    """A field is one of `values`, each as `Selector` has it."""

    type: Literal["in"] = "in"
    dimension: FieldName
    values: tuple[Scalar | None, ...] = Field(max_length=FIELDS_MAX)


class Bound(Wire):
    """A field lies between two texts, both included unless strict."""

    type: Literal["bound"] = "bound"
    dimension: FieldName
    lower: Scalar | None = None
    upper: Scalar | None = None
    lower_strict: bool = False
    upper_strict: bool = False
    ordering: Ordering = "lexicographic"


class Range(Wire):
    """A field lies between two values of a type, both included unless open."""

    type: Literal["range"] = "range"
    column: FieldName
    match_value_type: MatchType
    lower: Scalar | None = None
    upper: Scalar | None = None
    lower_open: bool = False
    upper_open: bool = False


class Like(Wire):
    """The text of a field is like `pattern`: % matches any text, _ one character."""

    type: Literal["like"] = "like"
    dimension: FieldName
    pattern: Text
    escape: Annotated[str, Field(strict=True, min_length=1, max_length=1)] | None = None


class Regex(Wire):
    """`pattern`, a regular expression of Java, is found in the text of a field."""

    type: Literal["regex"] = "regex"
    dimension: FieldName
    pattern: Text


class Contains(Wire):
    """The text that a `Search` looks for."""

    type: Literal["contains"] = "contains"
    value: Text
    case_sensitive: bool = False


class InsensitiveContains(Wire):
    """The text that a `Search` looks for, in any case."""

    type: Literal["insensitive_contains"] = "insensitive_contains"
    value: Text


class Fragment(Wire):
    """The texts that a `Search` looks for: all of them."""

    type: Literal["fragment"] = "fragment"
    values: tuple[Text, ...] = Field(min_length=1, max_length=FIELDS_MAX)
    case_sensitive: bool = False


class Search(Wire):
    """The text of a field holds what `query` names."""

    type: Literal["search"] = "search"
    dimension: FieldName
    query: Annotated[Contains | InsensitiveContains | Fragment, Field(discriminator="type")]


class Intervals(Wire):
    """A field, milliseconds since the epoch, lies in one of `intervals`: `from/to` in ISO 8601."""

    type: Literal["interval"] = "interval"
    dimension: FieldName
    intervals: tuple[Text, ...] = Field(min_length=1, max_length=FIELDS_MAX)


class ColumnComparison(Wire):
    """The texts of all `dimensions` are the same."""

    type: Literal["columnComparison"] = "columnComparison"
    dimensions: tuple[FieldName, ...] = Field(min_length=2, max_length=FIELDS_MAX)


class ByExpression(Wire):
    """An expression is true."""

    type: Literal["expression"] = "expression"
    expression: Text


Filter = Annotated[
    And
    | Or
    | Not
    | IsTrue
    | IsFalse
    | Always
    | Never
    | Selector
    | Equals
    | IsNull
    | In
    | Bound
    | Range
    | Like
    | Regex
    | Search
    | Intervals
    | ColumnComparison
    | ByExpression,
    Field(discriminator="type"),
]
