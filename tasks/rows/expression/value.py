"""Values: the SQL of a part of an expression, one text per possible type.

The type of a JSON field is known only per row.  So a value has several SQL texts, one per type, and
in each row at most one of them is not null.  Each text can be used as an operand anywhere.
Brackets are those of calls: `coalesce(a OR b)` for `(a OR b)`.  To find the end of a plain bracket,
Spark's parser reads ahead at each level: ten levels take seconds, twenty do not end.
Source: Druid's `ExprEval` for conversions between types.
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
"""Element type -> Spark's type."""

_WHOLE = text(r"\A[+-]?[0-9]+\z")
# The numbers that Guava's Doubles.tryParse accepts, without the hexadecimal forms.
_NUMBER = text(r"\A[+-]?(NaN|Infinity|([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)\z")


@dataclass(frozen=True)
class ArrayValue:
    """An array; `sql` is an ARRAY of BIGINT, DOUBLE or STRING."""

    kind: ElementType
    sql: str
    variant: str | None = field(default=None, compare=False)
    """VARIANT: the original JSON list, which has more types than `sql`; None: it was not JSON."""
    known_shape: str | None = field(default=None, compare=False)
    """STRING: the result of `schema_of_variant` for the list, if it is known already."""

    @property
    def there(self) -> str:
        """BOOLEAN: whether the array is not null."""
        return f"({self.variant or self.sql}) IS NOT NULL"

    @property
    def shape(self) -> str:
        """STRING: the result of `schema_of_variant` for the original JSON list."""
        return self.known_shape or f"schema_of_variant({self.variant})"


@dataclass(frozen=True)
class Value:
    """SQL texts, of which at most one is not null in a row; `Value()` is always null."""

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
    """DOUBLE: the whole value as a number, if a caller has computed it already."""
    truth: str | None = field(default=None, compare=False)
    """STRING: `true` or `false` if the long stands for a boolean; expressions never see it."""
    digits: str | None = field(default=None, compare=False)
    """STRING: the original digits of a number beyond 2^53, where a double is not exact."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All SQL texts of the value."""
        held = (self.long, self.double, self.string, self.array and self.array.sql, self.json)
        return tuple(sql for sql in held if sql)

    @property
    def is_array(self) -> bool:
        """Whether the value is always an array or null."""
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
    """Make a value of a BOOLEAN: the long 1 or 0, as in Druid."""
    return Value(long=f"CAST({sql} AS BIGINT)")


def of_kind(kind: ElementType, sql: str) -> Value:
    """Make a value of an array's element."""
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
    """Return STRING: numbers in Java's notation, an array of one as its element."""
    alternatives = [sql for sql in (value.truth, value.digits) if sql]
    alternatives += [f"CAST({sql} AS STRING)" for sql in (value.long, value.double) if sql]
    alternatives += [sql for sql in (value.string, value.json) if sql]
    if value.array:
        alternatives.append(_text_of_array(value.array))
    return first(alternatives, "STRING")


def as_long(value: Value) -> str:
    """Return BIGINT: doubles truncated; null for other numbers, and for texts without one."""
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
    """Return DOUBLE; null for a text that is no number."""
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
    """Return BOOLEAN: true for a number over 0 or the text `true`, null for null, else false."""
    alternatives = [f"`>`({value.long}, 0L)"] if value.long else []
    if value.double:  # to Spark NaN is greater than any number
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
    """Return STRING: the value as JSON text; null for null."""
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
    """Return the SQL of a text in JSON's notation."""
    return let(
        f"to_json(array({sql}))",
        lambda j: f"CASE WHEN {sql} IS NOT NULL THEN substr({j}, 2, length({j}) - 2) END",
    )


def as_array(value: Value, kind: ElementType | None = None) -> ArrayValue:
    """Return a value as an array; a value of another type becomes the only element.

    `kind`: the type of the elements; None: their own type, or texts if that differs by row.
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
    """Return the element type of an array that is made of a value."""
    if value.array:
        return value.array.kind
    if value.string or value.json or not value.texts:
        return ElementType.STRING
    return ElementType.DOUBLE if value.double else ElementType.LONG


def cast_array(array: ArrayValue, kind: ElementType) -> ArrayValue:
    """Return an array with another element type; an element that cannot be converted is null."""
    if array.kind is kind:
        return array
    if array.kind is ElementType.STRING:
        reader = long_of_text if kind is ElementType.LONG else double_of_text
        return ArrayValue(kind, f"transform({array.sql}, tg_c -> {reader('tg_c')})")
    if kind is ElementType.LONG:
        return ArrayValue(kind, f"transform({array.sql}, tg_c -> {whole_of_double('tg_c')})")
    return ArrayValue(kind, f"CAST({array.sql} AS ARRAY<{SPARK_TYPES[kind]}>)")


def is_null(value: Value) -> str:
    """Return BOOLEAN, never null: whether the value is null."""
    return f"coalesce({' AND '.join(f'isnull({sql})' for sql in value.texts) or 'true'})"


def is_there(value: Value) -> str:
    """Return BOOLEAN, never null: whether the value is not null."""
    return f"coalesce({' OR '.join(f'isnotnull({sql})' for sql in value.texts) or 'false'})"


def first(texts: Sequence[str], kind: str) -> str:
    """Return the one of several texts that is not null; without texts, a null of a Spark type."""
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
    """Return a value that is null if it is an array."""
    return replace(value, array=None, number=None)


def common_kind(kinds: Sequence[ElementType], at: int) -> ElementType | None:
    """Return a common element type of several arrays; None if there are no arrays.

    Raises:
        ExpressionError: some have texts and others numbers.
    """
    distinct = set(kinds)
    if ElementType.STRING in distinct and len(distinct) > 1:
        fix = "cast one of them: cast(x, 'ARRAY<STRING>')"
        raise ExpressionError("arrays of texts and of numbers do not mix", at, fix)
    if len(distinct) > 1:
        return ElementType.DOUBLE
    return distinct.pop() if distinct else None


def whole_of_double(sql: str) -> str:
    """Return BIGINT: a double, truncated; null for NaN, and from 2^63 on, which no long holds.

    -2^63 is null as well, because whole numbers just below it are the same double.  The result
    contains `sql` once.
    """
    # Even a cast that may fail turns 2^63 into the largest long.  The steps overflow at both ends.
    return f"try_add(try_subtract(try_add(TRY_CAST({sql} AS BIGINT), 1L), 2L), 1L)"


def long_of_text(sql: str) -> str:
    """Return BIGINT: the number in a text, truncated; null if there is none, or it is no long."""
    return let(
        sql,
        lambda t: (
            f"CASE WHEN {t} RLIKE {_WHOLE} AND CAST({t} AS BIGINT) IS NOT NULL "
            f"THEN CAST({t} AS BIGINT) WHEN {t} RLIKE {_NUMBER} AND {_decimal(t)} IS NOT NULL "
            f"THEN {_cut(t)} ELSE {whole_of_double(double_of_text(t))} END"
        ),
    )


def double_of_text(sql: str) -> str:
    """Return DOUBLE: the number in a text; null if there is none."""
    # To Druid `true` and `false` are numbers too.  Spark's cast also accepts blanks and `inf`.
    return let(
        sql,
        lambda t: (
            f"CASE WHEN {t} RLIKE {_NUMBER} THEN CAST({t} AS DOUBLE) "
            f"WHEN lower({t}) = 'true' THEN 1D WHEN lower({t}) = 'false' THEN 0D END"
        ),
    )


def _decimal(text_sql: str) -> str:
    # Twenty digits before the point hold every long; a double would hold 15 to 17 in all.
    return f"CAST({text_sql} AS DECIMAL(38, 18))"


def _cut(text_sql: str) -> str:
    return f"TRY_CAST({_decimal(text_sql)} AS BIGINT)"


def _only(array: ArrayValue) -> Value:
    """Return the element of an array of one; null for other arrays."""
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
