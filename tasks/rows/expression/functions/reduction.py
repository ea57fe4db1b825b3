"""Functions that pick one of several values: nulls are skipped; one text makes all values texts."""

from collections.abc import Callable, Sequence

from tasks.rows.expression.functions.given import Function, Given, table
from tasks.rows.expression.operators import NAN
from tasks.rows.expression.value import Value, as_double, as_string


def _reduce(name: str) -> Callable[[Given], Value]:
    def make(given: Given) -> Value:
        for place, value in enumerate(given.values):
            if value.is_array or (value.json and len(value.texts) == 1):
                fix = "take an element: array_offset(x, 0)"
                raise given.wrong(place, f"{name} takes no arrays and no nested data", fix)
        values = [Value(v.long, v.double, v.string) for v in given.values if v.texts]
        texts = [v.string for v in values if v.string]
        doubles = [v.double for v in values if v.double]
        longs = [v.long for v in values if v.long]
        no_text = [f"{sql} IS NULL" for sql in texts]
        no_double = [f"{sql} IS NULL" for sql in doubles]
        strings = [as_string(v) for v in values]
        numbers = [as_double(Value(v.long, v.double)) for v in values if v.long or v.double]
        return Value(
            long=_if(no_text + no_double, _pick(name, longs)) if longs else None,
            double=_if([*no_text, _any_of(doubles)], _real(name, numbers)) if doubles else None,
            string=_if([_any_of(texts)], _pick(name, strings)) if texts else None,
        )

    return make


def _any_of(texts: Sequence[str]) -> str:
    return "(" + " OR ".join(f"{sql} IS NOT NULL" for sql in texts) + ")"


def _if(tests: Sequence[str], sql: str) -> str:
    return f"CASE WHEN {' AND '.join(tests)} THEN {sql} END" if tests else sql


def _pick(name: str, texts: Sequence[str]) -> str:
    """Both of Spark's functions skip nulls."""
    return texts[0] if len(texts) == 1 else f"{name}({', '.join(texts)})"


def _real(name: str, texts: Sequence[str]) -> str:
    # To Spark NaN is the largest number; in Java it is also the smallest.
    picked = _pick(name, texts)
    if name == "greatest":
        return picked
    largest = _pick("greatest", texts)
    return f"CASE WHEN isnan({largest}) THEN {NAN} ELSE {picked} END"


FUNCTIONS = table(
    Function("greatest(value, ...)", 0, None, _reduce("greatest")),
    Function("least(value, ...)", 0, None, _reduce("least")),
)
