"""True and false: texts to filters and to metrics of texts, 1 and 0 to expressions.

Source: Druid's `PredicateValueMatcherFactory.makeComplexProcessor`, and
`DimensionHandlerUtils.convertObjectToString` of its aggregators of texts.
"""

import json
from collections.abc import Sequence

import pytest

from tasks.contract.filters import And, ByExpression, In, Not, Selector
from tasks.contract.ingest_spec import (
    Column,
    JsonFormat,
    JsonPath,
    Metric,
    RowSpec,
    TimestampSpec,
    Transform,
)
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import decoded, judged

pytestmark = pytest.mark.spark

TIME = TimestampSpec(column="t", format="millis")
FLAG = Column(name="flag")


def records(*flags: object) -> list[bytes]:
    return [json.dumps({"t": 0, "flag": flag, "o": {"flag": flag}}).encode() for flag in flags]


def kept(spark: SparkRuntime, spec: RowSpec, values: Sequence[bytes]) -> list[object]:
    rows = decoded(spark, spec, values, [FLAG])
    return [row.columns[0] for row in rows if row.reason is None]


@pytest.mark.parametrize("field", ["flag", "deep"])
def test_rows_are_kept_by_a_flag(spark: SparkRuntime, field: str) -> None:
    """Goal: `isRobot` is `false` keeps those that are none, wherever the flag lies."""
    spec = RowSpec(
        timestamp=TIME,
        value_format=JsonFormat(paths=(JsonPath(name="deep", path="$.o.flag"),)),
        filter=Selector(dimension=field, value="false"),
    )
    values = records(True, False, 0, 1, "false", "true", None)
    assert kept(spark, spec, values) == ["false", "false"]


def test_a_filter_by_text_and_one_by_number_look_at_one_flag(spark: SparkRuntime) -> None:
    wanted = And(
        fields=(
            ByExpression(expression="flag == 1"),
            Not(field=In(dimension="flag", values=("1", "1.0"))),
        )
    )
    spec = RowSpec(timestamp=TIME, filter=wanted)
    assert kept(spark, spec, records(True, False, 1, 1.0, "1", 2, None)) == ["true"]


def test_what_a_transform_makes_of_a_flag_is_a_number(spark: SparkRuntime) -> None:
    """Goal: a filter sees what the transform has made, and not what it was made of."""
    copied = (Transform(name="copy", expression="flag"),)
    for value, wanted in (("1", ["true", "1"]), ("true", ["true"])):
        spec = RowSpec(
            timestamp=TIME, transforms=copied, filter=Selector(dimension="copy", value=value)
        )
        values = [*records(True, False, 1), b'{"t":0,"flag":"true"}']
        assert kept(spark, spec, values) == wanted


def test_metrics_of_texts_have_a_flags_word_and_those_of_numbers_a_number(
    spark: SparkRuntime,
) -> None:
    wordy = [
        Metric.model_validate({"name": of, "of": of, "type": "string", "field": "flag"})
        for of in ("first", "last", "any")
    ]
    metrics = (
        *wordy,
        Metric(name="sum", of="sum", field="flag"),
        Metric(name="twice", of="sum", expression="flag * 2"),
        Metric(name="robots", of="count", filter=Selector(dimension="flag", value="true")),
    )
    spec = RowSpec(timestamp=TIME, metrics=metrics)

    rows = judged(spark, records(True, False, 7, None), columns=[FLAG], spec=spec)

    found = [tuple(row[f"c{n}"] for n in range(1 + len(metrics))) for row in rows]
    assert found == [
        *(("true", "true", "true", "true", 1, 2, 1), ("false", "false", "false", "false", 0, 0, 0)),
        *(("7", "7", "7", "7", 7, 14, 0), (None, None, None, None, None, None, 0)),
    ]
