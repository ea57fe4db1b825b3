"""What a part of an expression is, in Spark.

A JSON field's type is known only per row, so a value is several SQL texts, one per type; in each
row at most one of them is not null.  Every text stands as an operand wherever it is put.
Brackets are those of calls: `coalesce(a OR b)` for `(a OR b)`.  To find the end of a plain one
Spark's parser reads ahead at each level: ten levels take seconds, twenty do not end.
Source: Druid's `ExprEval` for what a value of one type is as another.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.let import let
from tasks.rows.expression.tree import ElementType
from tasks.rows.sql.text import text

SPARK_TYPES = {
    ElementType.LONG: "BIGINT",
    ElementType.DOUBLE: "DOUBLE",
    ElementType.STRING: "STRING",
}
"""Spark's type of an element."""

_WHOLE = text(r"\A[+-]?[0-9]+\z")
# What Guava's Doubles.tryParse takes, less the hexadecimal forms.
_NUMBER = text(r"\A[+-]?(NaN|Infinity|([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)\z")


@dataclass(frozen=True)
class ArrayValue:
    """An array; `sql` is an ARRAY of BIGINT, DOUBLE or STRING."""

    kind: ElementType
    sql: str
    variant: str | None = field(default=None, compare=False)
    """VARIANT: the list of JSON that it was, which says more than `sql` does; None: it was none."""
    known_shape: str | None = field(default=None, compare=False)
    """STRING: what `schema_of_variant` says of it, if that is worked out already."""

    @property
    def there(self) -> str:
        """BOOLEAN: whether it is not null."""
        return f"({self.variant or self.sql}) IS NOT NULL"

    @property
    def shape(self) -> str:
        """STRING: what `schema_of_variant` says of the list of JSON that it was."""
        return self.known_shape or f"schema_of_variant({self.variant})"


@dataclass(frozen=True)
class Value:
    """SQL texts of which at most one is not null in a row; `Value()` is null always."""

    long: str | None = None
    """BIGINT; None: never a long."""
    double: str | None = None
    """DOUBLE"""
    string: str | None = None
    """STRING"""
    array: ArrayValue | None = None
    json: str | None = None
    """Nested data (`COMPLEX<json>`) as JSON text: STRING"""
    number: str | None = field(default=None, compare=False)
    """DOUBLE: what all of it is as a number, if a caller has worked that out already."""
    truth: str | None = field(default=None, compare=False)
    """STRING: `true` or `false` where the long is a boolean's; expressions never see it."""
    digits: str | None = field(default=None, compare=False)
    """STRING: the number as it was written where the double, beyond 2^53, stands for several."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All of its SQL texts."""
        held = (self.long, self.double, self.string, self.array and self.array.sql, self.json)
        return tuple(sql for sql in held if sql)

    @property
    def is_array(self) -> bool:
        """Whether it is an array or null, and never anything else."""
        return self.array is not None and len(self.texts) == 1


def of_long(sql: str) -> Value:
    """Make a value of a BIGINT."""
    return Value(long=sql)


def of_double(sql: str) -> Value:
    """Make a value of a DOUBLE."""
    return Value(double=sql)


def of_text(sql: str) -> Value:
    """Make a value of a STRING."""
    return Value(string=sql)


def of_array(kind: ElementType, sql: str) -> Value:
    """Make a value of an array."""
    return Value(array=ArrayValue(kind, sql))


def of_truth(sql: str) -> Value:
    """Make a value of a BOOLEAN: as in Druid the long 1 or 0."""
    return Value(long=f"CAST({sql} AS BIGINT)")


def of_kind(kind: ElementType, sql: str) -> Value:
    """Make a value of an element of an array."""
    match kind:
        case ElementType.LONG:
            return of_long(sql)
        case ElementType.DOUBLE:
            return of_double(sql)
        case ElementType.STRING:
            return of_text(sql)


def as_kind(value: Value, kind: ElementType) -> str:
    """Return the SQL of a value as an element of an array."""
    match kind:
        case ElementType.LONG:
            return as_long(value)
        case ElementType.DOUBLE:
            return as_double(value)
        case ElementType.STRING:
            return as_string(value)


def as_string(value: Value) -> str:
    """Return STRING: numbers as Java writes them, an array of one as its element."""
    alternatives = [sql for sql in (value.truth, value.digits) if sql]
    alternatives += [f"CAST({sql} AS STRING)" for sql in (value.long, value.double) if sql]
    alternatives += [sql for sql in (value.string, value.json) if sql]
    if value.array:
        alternatives.append(_text_of_array(value.array))
    return first(alternatives, "STRING")


def as_long(value: Value) -> str:
    """Return BIGINT: doubles cut; what no long is, and texts that are no number, null."""
    alternatives = [value.long] if value.long else []
    if value.digits:
        alternatives.append(_cut(value.digits))
    if value.double:
        alternatives.append(whole_of_double(value.double))
    if value.string:
        alternatives.append(long_of_text(value.string))
    if value.array:
        alternatives.append(as_long(_only(value.array)))
    return first(alternatives, "BIGINT")


def as_double(value: Value) -> str:
    """Return DOUBLE: texts that are no number null."""
    if value.number:
        return value.number
    alternatives = [f"CAST({value.long} AS DOUBLE)"] if value.long else []
    if value.double:
        alternatives.append(value.double)
    if value.string:
        alternatives.append(double_of_text(value.string))
    if value.array:
        alternatives.append(as_double(_only(value.array)))
    return first(alternatives, "DOUBLE")


def as_truth(value: Value) -> str:
    """Return BOOLEAN: a number over 0, or the text `true`; null is null, other things false."""
    alternatives = [f"`>`({value.long}, 0L)"] if value.long else []
    if value.double:  # to Spark NaN is more than any number
        alternatives.append(let(value.double, lambda x: f"coalesce({x} > 0D AND NOT isnan({x}))"))
    if value.string:
        alternatives.append(f"`=`(lower({value.string}), 'true')")
    if value.array:
        known = let(
            value.array.sql,
            lambda a: (
                f"CASE WHEN {a} IS NOT NULL THEN "
                f"coalesce({as_truth(_only(ArrayValue(value.array.kind, a)))}, false) END"
                if value.array
                else ""
            ),
        )
        alternatives.append(known)
    if value.json:
        alternatives.append(f"CASE WHEN {value.json} IS NOT NULL THEN false END")
    return first(alternatives, "BOOLEAN")


def as_json(value: Value) -> str:
    """Return STRING: the value as JSON text; null is null."""
    alternatives = [f"CAST({value.long} AS STRING)"] if value.long else []
    if value.digits:
        alternatives.append(value.digits)
    if value.double:
        # JSON has no NaN and no infinities; Jackson writes them as texts.
        alternatives.append(
            let(
                value.double,
                lambda x: (
                    f"CASE WHEN isnan({x}) OR abs({x}) = CAST('Infinity' AS DOUBLE) "
                    f"THEN concat('\"', CAST({x} AS STRING), '\"') ELSE CAST({x} AS STRING) END"
                ),
            )
        )
    if value.string:
        alternatives.append(quoted(value.string))
    if value.array:
        alternatives.append(f"to_json({value.array.variant or value.array.sql})")
    if value.json:
        alternatives.append(value.json)
    return first(alternatives, "STRING")


def quoted(sql: str) -> str:
    """Return the SQL of a text as JSON writes it."""
    return let(
        f"to_json(array({sql}))",
        lambda j: f"CASE WHEN {sql} IS NOT NULL THEN substr({j}, 2, length({j}) - 2) END",
    )


def as_array(value: Value, kind: ElementType | None = None) -> ArrayValue:
    """Return a value as an array; one of another type is the only element.

    `kind`: what its elements become; None: what they are, texts if that differs by row.
    """
    wanted = kind or element_kind(value)
    alternatives = [cast_array(value.array, wanted).sql] if value.array else []
    alone = Value(value.long, value.double, value.string, digits=value.digits)
    if alone.texts:
        alternatives.append(
            let(
                as_kind(alone, wanted),
                lambda one: f"CASE WHEN {is_there(alone)} THEN array({one}) END",
            )
        )
    return ArrayValue(wanted, first(alternatives, f"ARRAY<{SPARK_TYPES[wanted]}>"))


def element_kind(value: Value) -> ElementType:
    """Return the type of an array that is made of a value."""
    if value.array:
        return value.array.kind
    if value.string or value.json or not value.texts:
        return ElementType.STRING
    return ElementType.DOUBLE if value.double else ElementType.LONG


def cast_array(array: ArrayValue, kind: ElementType) -> ArrayValue:
    """Return an array with each element of another type; what cannot be is null."""
    if array.kind is kind:
        return array
    if array.kind is ElementType.STRING:
        reader = long_of_text if kind is ElementType.LONG else double_of_text
        return ArrayValue(kind, f"transform({array.sql}, tg_c -> {reader('tg_c')})")
    if kind is ElementType.LONG:
        return ArrayValue(kind, f"transform({array.sql}, tg_c -> {whole_of_double('tg_c')})")
    return ArrayValue(kind, f"CAST({array.sql} AS ARRAY<{SPARK_TYPES[kind]}>)")


def is_null(value: Value) -> str:
    """Return BOOLEAN, never null: whether it is null."""
    return f"coalesce({' AND '.join(f'isnull({sql})' for sql in value.texts) or 'true'})"


def is_there(value: Value) -> str:
    """Return BOOLEAN, never null: whether it is not null."""
    return f"coalesce({' OR '.join(f'isnotnull({sql})' for sql in value.texts) or 'false'})"


def first(texts: Sequence[str], kind: str) -> str:
    """Return the one of several texts that is not null; without any, a null of a Spark type."""
    if not texts:
        return f"CAST(NULL AS {kind})"
    return texts[0] if len(texts) == 1 else f"coalesce({', '.join(texts)})"


def choose(branches: Sequence[tuple[str, Value]], otherwise: Value, at: int) -> Value:
    """Return the value of the first branch whose BOOLEAN is true."""

    def pick(texts: Iterable[str | None], default: str | None) -> str | None:
        held = list(texts)
        if not default and not any(held):
            return None
        whens = (
            f"WHEN {test} THEN {sql or 'NULL'}"
            for (test, _), sql in zip(branches, held, strict=True)
        )
        return f"CASE {' '.join(whens)} ELSE {default or 'NULL'} END"

    values = [value for _, value in branches]
    arrays = [value.array for value in (*values, otherwise)]
    kind = common_kind([array.kind for array in arrays if array], at)
    same = [cast_array(array, kind).sql if array and kind else None for array in arrays]
    array = pick(same[:-1], same[-1])
    return Value(
        long=pick((v.long for v in values), otherwise.long),
        double=pick((v.double for v in values), otherwise.double),
        string=pick((v.string for v in values), otherwise.string),
        array=ArrayValue(kind, array) if kind and array else None,
        json=pick((v.json for v in values), otherwise.json),
        digits=pick((v.digits for v in values), otherwise.digits),
    )


def without_array(value: Value) -> Value:
    """Return a value that is null where it is an array."""
    return replace(value, array=None, number=None)


def common_kind(kinds: Sequence[ElementType], at: int) -> ElementType | None:
    """Return a type for elements of several arrays; None if there are no arrays.

    Raises:
        ExpressionError: texts here and numbers there.
    """
    distinct = set(kinds)
    if ElementType.STRING in distinct and len(distinct) > 1:
        fix = "cast one of them: cast(x, 'ARRAY<STRING>')"
        raise ExpressionError("arrays of texts and of numbers do not mix", at, fix)
    if len(distinct) > 1:
        return ElementType.DOUBLE
    return distinct.pop() if distinct else None


def whole_of_double(sql: str) -> str:
    """Return BIGINT: a double, cut; null if no long is that: NaN, and what is not below 2^63.

    Below 0 the bound itself is none either: whole numbers that lie just beyond it are as doubles
    the bound.  `sql` stands in the result once.
    """
    # Even a cast that may fail takes 2^63 for the largest long.  The steps go beyond both ends.
    return f"try_add(try_subtract(try_add(TRY_CAST({sql} AS BIGINT), 1L), 2L), 1L)"


def long_of_text(sql: str) -> str:
    """Return BIGINT: the number that a text writes, cut; null if it writes none, or no long."""
    return let(
        sql,
        lambda t: (
            f"CASE WHEN {t} RLIKE {_WHOLE} AND CAST({t} AS BIGINT) IS NOT NULL "
            f"THEN CAST({t} AS BIGINT) WHEN {t} RLIKE {_NUMBER} AND {_decimal(t)} IS NOT NULL "
            f"THEN {_cut(t)} ELSE {whole_of_double(double_of_text(t))} END"
        ),
    )


def double_of_text(sql: str) -> str:
    """Return DOUBLE: the number that a text writes; null if it writes none."""
    # To Druid `true` and `false` are numbers too.  Spark's cast alone takes blanks and `inf`.
    return let(
        sql,
        lambda t: (
            f"CASE WHEN {t} RLIKE {_NUMBER} THEN CAST({t} AS DOUBLE) "
            f"WHEN lower({t}) = 'true' THEN 1D WHEN lower({t}) = 'false' THEN 0D END"
        ),
    )


def _decimal(text_sql: str) -> str:
    # Twenty digits before the point hold each long; a double would hold 15 to 17 in all.
    return f"CAST({text_sql} AS DECIMAL(38, 18))"


def _cut(text_sql: str) -> str:
    return f"TRY_CAST({_decimal(text_sql)} AS BIGINT)"


def _only(array: ArrayValue) -> Value:
    """Return the element of an array of one; null for others."""
    one = let(array.sql, lambda a: f"CASE WHEN array_size({a}) = 1 THEN get({a}, 0) END")
    return of_kind(array.kind, one)


def _text_of_array(array: ArrayValue) -> str:
    texts = cast_array(array, ElementType.STRING).sql
    return let(
        texts,
        lambda a: (
            f"CASE WHEN array_size({a}) = 1 THEN get({a}, 0) "
            f"ELSE concat('[', array_join({a}, ', ', 'null'), ']') END"
        ),
    )
