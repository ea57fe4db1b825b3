"""No record fails a batch, whatever its fields hold and whatever a spec works out of them.

A job that one record fails would fail again for ever: the range would never be published.

Slow: each example is a batch of Spark with a plan of its own.
"""

import json
import re

import pytest

from tasks.contract.ingest_spec import Column, RowSpec, TimestampSpec, Transform
from tasks.rows.expression.compile import compile_expression, names_in
from tasks.rows.expression.errors import ExpressionError
from tasks.rows.expression.functions.known import FUNCTIONS
from tasks.rows.expression.parse import parse
from tasks.rows.expression.tree import ElementType
from tasks.rows.expression.value import ArrayValue, Value
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import decoded
from tests.tasks.rows.expression.test_meaning import CASES

pytestmark = [pytest.mark.spark, pytest.mark.long]

AT_ONCE = 15
"""Expressions of one job."""

ODD: list[str] = [
    *("null", "true", "0", "-0.0", "-1", "9223372036854775807", "-9223372036854775808"),
    *("12345678901234567890123", "1e308", "-1e400", "1.7976931348623157e308", "5e-324"),
    *('""', '" "', '"NaN"', '"-Infinity"', '"1e999"', '"0x1p3"', '"9999-12-31T23:59:59.999Z"'),
    *('"-290308-12-21BCE 19:59:06"', '"%s%d${env:HOME}"', '"\\u0000\\uffff"', '"\\ud83d\\ude00"'),
    json.dumps("(" * 300),
    json.dumps("9" * 5_000),
    *("[]", "[null]", '[1,"a",2.5,null,{"b":[]}]', "[[[]]]", json.dumps(list(range(2_000)))),
    *("{}", '{"a":{"a":1,"a":2}}', '{"":null}', "[" * 500 + "]" * 500),
]
"""JSON of a value that somebody may send."""

ANYTHING = Value("l", "d", "s", ArrayValue(ElementType.STRING, "a"), "j", number="n")


def of_each_function() -> list[str]:
    """Expressions of fields for each function and operator, that take any value."""
    examples: dict[str, list[str]] = {}
    for text, _ in CASES:
        named = {name.lower() for name in re.findall(r"(\w+)\(", text)} & FUNCTIONS.keys()
        signs = set(re.findall(r"[-+*/%^!<>=&|]+", text)) if not named else set()
        for word in named | signs if _takes_anything(text) else ():
            examples.setdefault(word, []).append(text)
    for name, function in FUNCTIONS.items():
        for number in (function.least, function.most or function.least + 2):
            call = f"{name}({', '.join(['x', 'y', 's', 'arr', 'js'][:number])})"
            if _takes_anything(call):
                examples.setdefault(name, []).insert(0, call)
    missing = FUNCTIONS.keys() - examples.keys()
    assert missing == {"pi"}, missing
    return sorted({text for texts in examples.values() for text in texts[:2]})


def _takes_anything(text: str) -> bool:
    tree = parse(text)
    try:
        compile_expression(tree, lambda _: ANYTHING)
    except ExpressionError:
        return False
    return bool(names_in(tree))


def test_no_value_fails_a_batch(spark: SparkRuntime) -> None:
    expressions = of_each_function()
    names = {name for text in expressions for name in names_in(parse(text))}
    records = [
        b'{"t":0,' + ",".join(f'"{name}":{value}' for name in sorted(names)).encode() + b"}"
        for value in ODD
    ]
    for begin in range(0, len(expressions), AT_ONCE):
        some = expressions[begin : begin + AT_ONCE]
        spec = RowSpec(
            timestamp=TimestampSpec(column="t", format="millis"),
            transforms=tuple(
                Transform(name=f"m{n}", expression=text) for n, text in enumerate(some)
            ),
        )
        columns = [Column(name=f"m{n}") for n in range(len(some))]
        found = decoded(spark, spec, records, columns)
        assert [row.reason for row in found] == [None] * len(records)
