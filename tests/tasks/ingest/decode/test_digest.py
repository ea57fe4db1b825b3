"""What replicas compare: the same however a range is divided, another one if a record differs.

`test_any_division` asks the first half of random specs and records as well.

Slow: the same records are read in many batches of Spark, cut in many ways.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tasks.contract.digests import NO_RECORDS, digest_of, together
from tasks.contract.ingest_spec import (
    Column,
    Discovery,
    IngestSpec,
    JsonFormat,
    Metric,
    TextFormat,
    TimestampSpec,
    Transform,
)
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.offsets import TopicPartition
from tasks.ingest.decode.columns import digested, judged
from tasks.ingest.engine import SparkEngine
from tasks.ingest.formats.parse import reasons_of
from tasks.ingest.write.write import write_rows
from tasks.ports import BatchJob
from tasks.rows.row_plan import measured
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import Record, produce
from tests.tasks.ingest.batches import batch, record, spec_for

pytestmark = [pytest.mark.spark, pytest.mark.long]

NewTopic = Callable[[int], str]

NESTED = IngestSpec(
    data_source="clicks",
    kafka=KafkaClient(bootstrap_servers="unused:1"),
    timestamp=TimestampSpec(column="t", format="millis"),
    columns=(
        Column(name="id", type="long"),
        Column(name="cost", type="double"),
        Column(name="tags", type="array<string>"),
        Column(name="whole", type="json"),
        Column(name="host"),
    ),
    value_format=JsonFormat(),
    transforms=(Transform(name="host", expression="upper(host)"),),
)
TYPED = NESTED.model_copy(update={"discovery": Discovery.TYPES})
ROLLED = NESTED.model_copy(
    update={
        "rollup": True,
        "columns": NESTED.columns[4:],
        "metrics": (
            Metric(name="n", of="count", type="long"),
            Metric(name="total", of="sum", type="double", field="cost"),
            Metric(name="users", of="distinct", type="long", field="id"),
        ),
    }
)
LINES = NESTED.model_copy(
    update={
        "value_format": TextFormat(type="csv", columns=("t", "id", "cost", "host"), delimiter=","),
        "columns": (*NESTED.columns[:2], NESTED.columns[4]),
    }
)
ROWS: tuple[dict[str, JsonValue], ...] = (
    {"t": 1, "id": 1, "cost": 0.1, "tags": ["a", "b"], "whole": {"a": [1, {"b": None}]}, "k": 1},
    {"t": 2, "id": None, "cost": -0.0, "host": "x", "k": 2.5, "late": True},
    {"t": 3, "id": 3, "cost": "2.5", "tags": [], "whole": "text", "host": "y", "k": "other"},
    {"id": 4, "host": "without a time"},
    {"t": 5, "id": "no number", "cost": 1e300, "tags": "one", "whole": 7, "k": {"a": 1}},
)
VALUES = (*(json.dumps(row).encode() for row in ROWS), b"no json", None)
CSV = (b"1,1,0.1,x", b"2,,-0.0,y", b"no time,2,3,z", b"4,5", None, b"5,no number,NaN,", b"6,7,8,9")


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("spec", "values"),
    [(NESTED, VALUES), (TYPED, VALUES), (ROLLED, VALUES), (LINES, CSV)],
    ids=["json", "discovered", "rolled-up", "csv"],
)
def test_a_range_has_one_digest_however_it_is_cut(
    broker: Broker,
    spark: SparkRuntime,
    new_topic: NewTopic,
    tmp_path: Path,
    spec: IngestSpec,
    values: Sequence[bytes | None],
) -> None:
    """Goal: replicas that agree never alarm anybody, whatever their batches have met before."""
    topic = new_topic(1)
    produce(broker.bootstrap, topic, [Record(value) for value in values])
    spec = spec.model_copy(update={"kafka": KafkaClient(bootstrap_servers=broker.bootstrap)})

    range_digests = set()
    for cuts in ([7], [1, 2, 3, 4, 5, 6, 7], [3, 7]):
        engine = SparkEngine(spark, str(tmp_path / f"{len(cuts)}"), lambda _: "")
        digests, last = [], None
        for number, (start, end) in enumerate(zip((0, *cuts), cuts, strict=False)):
            job = batch(spec, topic, {0: (start, end)}, number=number)
            if last is not None:
                job = replace(job, columns=last.columns, kinds=last.kinds)
            last = engine.read_batch(job)
            digests.append(last.digest)
        assert NO_RECORDS not in digests
        range_digests.add(together(digests))

    assert len(range_digests) == 1
    assert range_digests != {None}


@pytest.mark.kafka
def test_a_batch_of_one_topic_counts_like_one_of_several(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    """Goal: which partitions a batch has news of changes nothing."""
    one, two = (TopicPartition(new_topic(1), 0) for _ in range(2))
    for topic in (one.topic, two.topic):
        produce(broker.bootstrap, topic, [record(1), "no json"])
    spec = spec_for(broker.bootstrap).model_copy(update={"topic_column": True})
    at = ({one: 0, two: 0}, {one: 2, two: 0}, {one: 2, two: 2})

    def read(number: int, first: int, last: int) -> str | None:
        job = BatchJob("task", 1, number, spec, at[first], at[last], ())
        return engine.read_batch(job).digest

    in_one, parts = read(1, 0, 2), [read(2, 0, 1), read(3, 1, 2)]
    assert in_one == together(parts)
    assert in_one != NO_RECORDS, "the same records in two topics are two records"
    assert read(4, 0, 0) == NO_RECORDS


def digest(
    spark: SparkRuntime,
    folder: Path,
    values: Sequence[bytes | None],
    *,
    spec: IngestSpec = NESTED,
    offsets: Sequence[int] | None = None,
) -> str:
    """Return the digest of records of partition 3, as a batch of `spec` would have it."""
    held = [None if value is None else bytearray(value) for value in values]
    rows = [(3, offset, value) for offset, value in zip(offsets or range(99), held, strict=False)]
    records = spark.session.createDataFrame(rows, "p int, o long, v binary")
    seen = write_rows(
        judged(records, spec, {}),
        (*spec.columns, *measured(spec)),
        folder,
        start={TopicPartition("clicks", 3): 0},
        files_max=1,
        reasons=reasons_of(spec),
        digested=digested(spec, {}),
    )
    return digest_of(seen.digest)


def test_every_difference_of_a_record_is_another_digest(
    spark: SparkRuntime, tmp_path: Path
) -> None:
    good = b'{"t":1,"id":7,"cost":0.5,"tags":["a"],"whole":{"a":1},"host":"x"}'
    same = digest(spark, tmp_path / "same", [good, b"no json"])
    others = {
        "a number": good.replace(b"7", b"8"),
        "a double": good.replace(b"0.5", b"0.25"),
        "an element": good.replace(b'["a"]', b'["a","a"]'),
        "nested": good.replace(b'{"a":1}', b'{"a":2}'),
        "what a transform makes": good.replace(b'"x"', b'"y"'),
        "the time": good.replace(b'"t":1', b'"t":2'),
        "a value that is missing": good.replace(b'"id":7,', b""),
        "a record that is rejected": b'{"t":"no time"}',
        "another reason": b"",
    }
    digests = {
        what: digest(spark, tmp_path / what, [value, b"no json"]) for what, value in others.items()
    }
    digests["a record that is missing"] = digest(spark, tmp_path / "missing", [good])
    digests["a reject that is missing"] = digest(
        spark, tmp_path / "no reject", [b"no json"], offsets=[1]
    )
    digests["another offset"] = digest(spark, tmp_path / "o", [good, b"no json"], offsets=[0, 2])

    assert same not in digests.values()
    assert len(set(digests.values())) == len(digests)
    assert digest(spark, tmp_path / "again", [b"no json", good], offsets=[1, 0]) == same


def test_nulls_keep_their_places(spark: SparkRuntime, tmp_path: Path) -> None:
    """Goal: a value in the wrong column is seen, though a null leaves Spark's hash as it is."""
    texts = NESTED.model_copy(update={"columns": (Column(name="a"), Column(name="b"))})
    one, other = (
        digest(spark, tmp_path / name, [f'{{"t":1,"{name}":"x"}}'.encode()], spec=texts)
        for name in ("a", "b")
    )

    assert one != other


def test_zeros_are_alike(spark: SparkRuntime, tmp_path: Path) -> None:
    """Goal: -0.0 is 0.0, which of the two ways to read a number may decide."""
    one, other = (
        digest(spark, tmp_path / text, [f'{{"t":1,"cost":{text}}}'.encode()])
        for text in ("0.0", "-0.0")
    )

    assert one == other


def test_version_3_is_what_it_was(spark: SparkRuntime, tmp_path: Path) -> None:
    """Goal: workers of different builds agree.

    If this fails, what is hashed has changed: `tasks.contract.digests.VERSION` has to grow with it.
    """
    joined = " ".join(
        digest(spark, tmp_path / str(n), values, spec=spec)
        for n, (spec, values) in enumerate([(NESTED, VALUES), (ROLLED, VALUES), (LINES, CSV)])
    )

    assert joined == "3:d562d6c651047736 3:d4dde91bd6f07845 3:0750e1430955a491"
