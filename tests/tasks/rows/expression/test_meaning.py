"""What expressions answer in Spark: the table of Druid's answers, and the ends that callers use.

Slow: Spark and the model in Python calculate the same expressions.
"""

import math

import pytest

from tasks.spark.session import SparkRuntime
from tests.tasks.rows.expression.cases.added import ADDED
from tests.tasks.rows.expression.cases.more import MORE
from tests.tasks.rows.expression.cases.nested import NESTED_AND_TIMES
from tests.tasks.rows.expression.cases.scalars import SCALARS
from tests.tasks.rows.expression.cases.text import TEXTS
from tests.tasks.rows.expression.evaluate import as_the_end, same, work_out

pytestmark = pytest.mark.spark

DEEP: list[tuple[str, object]] = [
    (" + ".join(["x"] * 119), 357),
    (" + ".join(["any_long"] * 12), 84),
    (" * ".join(["any_long"] * 24), 7**24 - 2**64 * round(7**24 / 2**64)),  # as Java's wrap
    ("1.5 / (any_double * " * 40 + "1.5" + ")" * 40, 1.5),
    ("cast(cast(" * 8 + "x" + ", 'STRING'), 'LONG')" * 8, 3),
]
CASES = [*SCALARS, *TEXTS, *MORE, *NESTED_AND_TIMES, *ADDED, *DEEP]


def test_expressions_answer_as_druids(spark: SparkRuntime) -> None:
    answers = work_out(spark, [text for text, _ in CASES])

    wrong = [
        (text, answer, wanted)
        for (text, wanted), answer in zip(CASES, answers, strict=True)
        if not same(answer, wanted)
    ]
    assert wrong == []


# expression, as a text, a long, a double, and true or false
ENDS: list[tuple[str, str | None, int | None, float | None, bool | None]] = [
    ("x", "3", 3, 3.0, True),
    ("-x", "-3", -3, -3.0, False),
    ("y", "2.5", 2, 2.5, True),
    ("0.5", "0.5", 0, 0.5, True),
    ("1e20", "1.0E20", None, 1e20, True),
    ("inf", "Infinity", None, math.inf, True),
    ("s", "foo", None, None, False),
    ("'TrUe'", "TrUe", 1, 1.0, True),
    ("'12.5'", "12.5", 12, 12.5, False),
    ("n", None, None, None, None),
    ("ln", None, None, None, None),
    ("arr", "[a, b, c]", None, None, False),
    ("['7']", "7", 7, 7.0, False),
    ("[7]", "7", 7, 7.0, True),
    ("<LONG>[null]", None, None, None, False),
    ("an", None, None, None, None),
    ("json_object('a', 1)", '{"a":1}', None, None, False),
    ("any_long", "7", 7, 7.0, True),
    ("any_double", "1.25", 1, 1.25, True),
    ("any_text", "12", 12, 12.0, False),
    ("any_array", "[p, q]", None, None, False),
    ("any_null", None, None, None, None),
]


@pytest.mark.parametrize(
    ("form", "place"), [("string", 1), ("long", 2), ("double", 3), ("truth", 4)]
)
def test_a_value_as_one_type(spark: SparkRuntime, form: str, place: int) -> None:
    answers = as_the_end(spark, [row[0] for row in ENDS], form)

    assert answers == [row[place] for row in ENDS]
