"""Numbers that are read as numbers: the rows are those that texts give, whatever is written.

Slow: each table of values is a plan of Spark of its own.
"""

import math
from itertools import product
from pathlib import Path

import pytest

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from supervisor.dev.sample import sample_spec
from tasks.contract.ingest_spec import (
    Column,
    IngestSpec,
    KafkaColumns,
    RowSpec,
    TimestampSpec,
    Transform,
    UnfitValues,
)
from tasks.contract.offsets import TopicPartition
from tasks.ingest.decode.decode import decode
from tasks.ingest.decode.numbers import NumberBook
from tasks.ingest.decode.observed import ObservedRecords
from tasks.ingest.formats.parse import reasons_of
from tasks.ingest.write.write import write_rows
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import Row, judged, rows_of
from tests.tasks.ingest.generated.test_any_record import ODD

pytestmark = [pytest.mark.spark, pytest.mark.long]

COLUMNS = tuple(Column(name=name, type=name) for name in ("long", "double", "float", "string"))
NUMBERS = [
    *("1", "-1", "-0", "007", "1.0", "-0.0", "1.5", "1e3", "1E+3", "1.0e-3", "0.1", "1e-400"),
    *("9007199254740993", "9007199254740993.0", "9223372036854775807", "9223372036854775808"),
    *("1e18", "1e19", "1.7976931348623157e308", "1.7976931348623159e308", "-1e309", "4.9e-324"),
    *("2.2250738585072014e-308", "0.30000000000000004", "123456789012345678901234567890"),
    *("1" * 999, "1" * 1001, "0." + "3" * 999, "0." + "3" * 1001, "NaN", "Infinity", "+1", ".5"),
    *("5.", "0x10", "1d", "1_000", "tru", "true", "null", "[1]", '{"a":1}', "'1'"),
    *('"1"', '" 1 "', '"1.0"', '"1.5"', '"1e3"', '"1d"', '"0x1p3"', '"NaN"', '""', '"x"'),
]
"""JSON of a value, and what is none."""

ALL = ("long", "string", "free", "json", "list")
MILLIS = ["1714564800000", '"1714564800000"', "1714564800000.5", '"2024"', "-1", "1e12", "1e300"]


def ways(
    spark: SparkRuntime,
    spec: RowSpec,
    values: list[bytes | None],
    columns: tuple[Column, ...] = COLUMNS,
) -> tuple[list[Row], list[Row]]:
    straight = judged(spark, values, columns=columns, spec=spec)
    texts = judged(spark, values, columns=columns, spec=spec, straight=False)
    return [_comparable(row) for row in straight], [_comparable(row) for row in texts]


def _comparable(row: Row) -> Row:
    """Return a row whose NaNs are one object: it equals itself in a list, and no other does."""
    return {
        key: math.nan if isinstance(value, float) and math.isnan(value) else value
        for key, value in row.items()
        if key != "again"
    }


def written(**fields: str) -> bytes:
    return ("{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}").encode()


@pytest.mark.parametrize("unfit", list(UnfitValues))
def test_both_ways_give_the_same_row(spark: SparkRuntime, unfit: UnfitValues) -> None:
    """Goal: what one record has in one field changes neither its others nor the next record."""
    values: list[bytes | None] = [
        written(t="0", **{c.name: value if c.name == odd else "7" for c in COLUMNS})
        for odd, value in product(("long", "double"), [*NUMBERS, *ODD])
    ]
    values += [None, b"", b"{", b'{"t":0}', b"[1]", b"7", b'{"t":0,"long":1} x']
    values += [b'{"t":0,"long":"1","long":2}', b'{"t":0,"long":1,"long":"2"}']
    values += [b'{"t":0,"long":"\xff","double":1}', b'{"t":0,"long":1,"more":{"long":"1"}}']
    spec = RowSpec(timestamp=TimestampSpec(column="t", format="millis"), unfit_values=unfit)

    straight, texts = ways(spark, spec, values)

    assert straight == texts
    longs = {row["c0"] for row in straight}
    assert {1, 1000, 2**63 - 1, None} <= longs
    assert 2**63 not in longs


@pytest.mark.parametrize("written_in", ["millis", "posix", "micro", "nano", "ruby", "auto"])
def test_both_ways_give_the_same_time(spark: SparkRuntime, written_in: str) -> None:
    values: list[bytes | None] = [written(t=value, long="1") for value in [*MILLIS, *NUMBERS]]
    spec = RowSpec(timestamp=TimestampSpec(column="t", format=written_in))

    straight, texts = ways(spark, spec, values)

    assert straight == texts
    assert len({row["micros"] for row in straight}) >= len(MILLIS)


def test_both_ways_give_the_same_values(spark: SparkRuntime) -> None:
    """Values are read in the same pass; `string` is a text and a value."""
    spec = RowSpec(
        timestamp=TimestampSpec(column="t", format="millis"),
        transforms=(
            Transform(name="told", expression='concat("string", \' \', "free")'),
            Transform(name="twice", expression='"free" * 2'),
        ),
    )
    columns = (
        *COLUMNS,
        *(Column(name="told"), Column(name="twice", type="double")),
        *(Column(name="json", type="json"), Column(name="list", type="array<double>")),
    )
    values: list[bytes | None] = [
        written(t="0", **{name: value if name == odd else '"1"' for name in ALL})
        for odd, value in product(ALL, [*NUMBERS, *ODD])
    ]
    values += [written(t="0", long="1", free=value) for value in [*NUMBERS, *ODD]]

    straight, texts = ways(spark, spec, values, columns)

    assert straight == texts
    assert {"1 1", "x 1", "1 x"} <= {row["c4"] for row in straight}
    assert {2.0, 3.0} <= {row["c5"] for row in straight}


def test_a_field_that_is_time_and_number_is_both(spark: SparkRuntime) -> None:
    spec = RowSpec(timestamp=TimestampSpec(column="t", format="posix"))
    columns = (Column(name="t", type="double"), Column(name="long", type="long"))

    straight, texts = ways(spark, spec, [written(t="1.5", long="1"), written(t="2")], columns)

    assert straight == texts
    assert [row["c0"] for row in straight] == [1.5, 2.0]
    assert [row["micros"] for row in straight] == [1_500_000, 2_000_000]


def test_a_number_beside_the_value_is_not_taken_from_it(spark: SparkRuntime) -> None:
    """A header of the name of a field is used where the value has none."""
    spec = RowSpec(
        timestamp=TimestampSpec(column="t", format="millis"),
        kafka_columns=KafkaColumns(timestamp="long", header_prefix="h.", topic="topic", key="key"),
    )
    frame = spark.session.sql(
        'SELECT 0 p, id o, CAST(IF(id = 0, \'{"t":1,"long":5}\', \'{"t":2}\') AS BINARY) v, '
        "CAST(NULL AS BINARY) _key, 9L _millis, 'topic' _topic, "
        "CAST(NULL AS ARRAY<STRUCT<key STRING, value BINARY>>) _headers FROM range(2)"
    )
    for straight in (True, False):
        found = decode(frame, spec, COLUMNS[:1], known=(), straight=straight)

        assert rows_of(spark, found.select("o", "c0")) == [{"o": 0, "c0": 5}, {"o": 1, "c0": 9}]


def test_a_pass_tells_how_many_records_it_read_twice(spark: SparkRuntime, tmp_path: Path) -> None:
    values = [written(t="1", long="1"), written(t="1", long='"1"'), b"{", b'{"t":1}', None]
    at, spec = TopicPartition("clicks", 0), RowSpec(timestamp=TimestampSpec(column="t"))
    rows = [(0, offset, value and bytearray(value)) for offset, value in enumerate(values)]
    records = spark.session.createDataFrame(rows, "p int, o long, v binary")
    seen = [
        write_rows(
            decode(records, spec, COLUMNS[:1], known=(), straight=straight),
            COLUMNS[:1],
            tmp_path / str(straight),
            start={at: 0},
            files_max=1,
            reasons=reasons_of(spec),
        )
        for straight in (True, False)
    ]

    assert [found.again for found in seen] == [2, 0]
    assert seen[0].kept == seen[1].kept
    assert seen[0].rejects == seen[1].rejects
    assert [sample.offset for sample in seen[0].samples] == [2]


def test_a_spec_whose_numbers_are_texts_is_read_as_texts_from_then_on() -> None:
    book, spec, other = NumberBook(), any_spec("a"), any_spec("b")

    book.learn(spec, seen(records=1000, again=200))
    assert book.straight(spec)

    book.learn(spec, seen(records=1000, again=201))
    book.learn(spec, seen(records=1000, again=0))
    assert [book.straight(each) for each in (spec, other)] == [False, True]

    for number in range(100):
        book.learn(any_spec(f"more{number}"), seen(records=1, again=1))
    assert book.straight(spec), "what was seen long ago is forgotten"


def any_spec(topic: str) -> IngestSpec:
    return ingest_spec(read_spec(sample_spec("localhost:1", topic)).spec)


def seen(*, records: int, again: int) -> ObservedRecords:
    return ObservedRecords(records, 0, 0, {}, (), (), (), again=again)
