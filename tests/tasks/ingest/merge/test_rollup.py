"""Rollup over a real broker: rows of one time and equal columns become one, and none is lost.

Slow: each case is read, rolled up and merged by Spark.
"""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as fn

from supervisor.dev.broker import Broker
from tasks.contract.filters import Selector
from tasks.contract.ingest_spec import (
    Column,
    Discovery,
    Granularity,
    IngestSpec,
    Metric,
    TimestampSpec,
    Truncation,
)
from tasks.contract.messages import SegmentFile
from tasks.contract.offsets import TopicPartition
from tasks.ingest.engine import SparkEngine
from tasks.ports import JournalEntry, MergeJob
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch, spec_for

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]
Row = dict[str, object]

_folders = count(1)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
DIMENSIONS = (Column(name="page"), Column(name="level", type="long"))
METRICS = (
    Metric(name="n", of="count"),
    Metric(name="germans", of="count", filter=Selector(dimension="country", value="DE")),
    Metric(name="bytes", of="sum", field="bytes"),
    Metric(name="cost", of="sum", type="double", field="cost"),
    Metric(name="twice", of="sum", expression="bytes * 2"),
    Metric(name="least", of="min", field="bytes"),
    Metric(name="most", of="max", type="double", field="cost"),
    Metric(name="early", of="first", type="string", field="country"),
    Metric(name="late", of="last", type="string", field="country"),
    Metric(name="some", of="any", field="bytes"),
    Metric(name="users", of="distinct", type="string", field="user"),
)


@dataclass(frozen=True)
class Sent:
    """A record that is a row, and where it stands."""

    partition: int
    offset: int
    value: dict[str, object]

    @property
    def time(self) -> datetime:
        millis = self.value["t"]
        assert isinstance(millis, int)
        return datetime.fromtimestamp(millis / 1000, UTC)

    def key(self) -> tuple[object, ...]:
        hour = self.time.replace(minute=0, second=0, microsecond=0)
        return hour, self.value.get("page"), self.value.get("level")


def test_rolled_up_rows_are_the_aggregates_of_the_records(
    broker: Broker, spark: SparkRuntime, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(2)
    sent = send(broker.bootstrap, topic, 300)
    spec = rolled(broker.bootstrap)

    entries = [
        engine.read_batch(batch(spec, topic, {0: (0, 90), 1: (0, 10)})),
        engine.read_batch(batch(spec, topic, {0: (90, 150), 1: (10, 150)}, number=1)),
    ]
    result = engine.merge(merge_of(spec, topic, entries))

    kept = [one for one in sent if one.offset % 10]
    assert result.rejects is not None
    assert result.rejects.records == len(sent) - len(kept)
    assert rows_of(tmp_path, result.segments) == expected(kept)
    assert [segment.interval_start.hour for segment in result.segments] == [12, 13, 14]
    assert spans_of(result.segments) == counted(kept)
    assert estimates(spark, tmp_path, result.segments) == different(kept)
    assert schema_of(tmp_path, result.segments[0]) == {
        "__time": pa.timestamp("us", "UTC"),
        "page": pa.string(),
        "level": pa.int64(),
        "n": pa.int64(),
        "germans": pa.int64(),
        "bytes": pa.int64(),
        "cost": pa.float64(),
        "twice": pa.int64(),
        "least": pa.int64(),
        "most": pa.float64(),
        "early": pa.string(),
        "late": pa.string(),
        "some": pa.int64(),
        "users": pa.binary(),
        "__count": pa.int64(),
    }


def test_a_range_in_one_go_and_in_many_batches_gives_the_same_rows(
    broker: Broker, spark: SparkRuntime, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: where batches end is nobody's business; sums of doubles are of halves, so exact."""
    topic = new_topic(2)
    sent = send(broker.bootstrap, topic, 200)
    spec = rolled(broker.bootstrap, segment_rows_max=40)
    whole = [engine.read_batch(batch(spec, topic, {0: (0, 100), 1: (0, 100)}))]
    parts = [
        engine.read_batch(batch(spec, topic, {0: cut, 1: cut}, number=number))
        for number, cut in enumerate([(0, 1), (1, 55), (55, 100)], start=1)
    ]

    once = engine.merge(merge_of(spec, topic, whole)).segments
    rows = rows_of(tmp_path, once)
    often = engine.merge(merge_of(spec, topic, parts, incarnation=2)).segments

    assert rows == rows_of(tmp_path, often) == expected([one for one in sent if one.offset % 10])
    assert len(once) > len({segment.interval_start for segment in once})  # chunks are divided
    assert spans_of(once) == spans_of(often)
    assert estimates(spark, tmp_path, once) == estimates(spark, tmp_path, often)


def test_without_rollup_metrics_are_columns_of_each_row(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    produce(
        broker.bootstrap,
        topic,
        ['{"t":0,"bytes":"12","country":"DE"}', '{"t":0,"bytes":1.9}', '{"t":0,"bytes":"many"}'],
    )
    metrics = tuple(m for m in METRICS if m.name in {"n", "germans", "bytes", "early"})
    spec = rolled(broker.bootstrap).model_copy(update={"rollup": False, "metrics": metrics})

    entry = engine.read_batch(batch(spec, topic, {0: (0, 3)}))
    result = engine.merge(merge_of(spec, topic, [entry]))

    rows = sorted(table(tmp_path, result.segments), key=lambda row: str(row["__offset"]))
    assert [(r["n"], r["germans"], r["bytes"], r["early"]) for r in rows] == [
        (1, 1, 12, "DE"),
        (1, 0, 1, None),
        (1, 0, None, None),
    ]
    assert (entry.counters.processed, entry.counters.processed_with_error) == (2, 1)


def test_discovered_columns_are_what_metrics_are_not_made_of(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(1)
    records = [
        '{"t":0,"a":"x","bytes":1}',
        '{"t":0,"a":"x","bytes":2,"__count":9,"n":7}',
        '{"t":1}',
    ]
    produce(broker.bootstrap, topic, records)
    spec = rolled(broker.bootstrap).model_copy(
        update={"columns": (), "excluded": ("__time", "t", "bytes"), "metrics": METRICS[:3]}
        | {"discovery": Discovery.TEXTS}
    )

    first = engine.read_batch(batch(spec, topic, {0: (0, 1)}))
    rest = engine.read_batch(batch(spec, topic, {0: (1, 3)}, number=1, columns=first.columns))
    result = engine.merge(merge_of(spec, topic, [first, rest]))

    assert rest.columns == ("a",)
    rows = sorted(table(tmp_path, result.segments), key=lambda row: str(row["a"]))
    assert [(r["a"], r["n"], r["bytes"], r["__count"]) for r in rows] == [
        (None, 1, None, 1),
        ("x", 2, 3, 2),
    ]


def test_rows_of_several_topics_and_columns_of_any_name_are_rolled_up(
    broker: Broker, spark: SparkRuntime, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topics = [new_topic(1), new_topic(1)]
    odd, metric = "ke`y'=$1", "n of ${env:HOME} `"
    for topic, user in zip(topics, (None, "u"), strict=True):
        value = {"t": -86_400_000, odd: "a/b", "key": 1, "user": user, "country": topic}
        produce(broker.bootstrap, topic, [json.dumps(value)] * 2)
    metrics = (
        Metric(name=metric, of="count"),
        Metric(name="late", of="last", type="string", field="country"),
        Metric(name="users", of="distinct", type="string", field="user"),
    )
    spec = rolled(broker.bootstrap).model_copy(
        update={
            "columns": (Column(name=odd), Column(name="key", type="long")),
            "metrics": metrics,
            "topic_column": True,
        }
    )
    job = batch(spec, topics[0], {0: (0, 2)})
    other = TopicPartition(topics[1], 0)
    job = replace(job, start={**job.start, other: 1}, end={**job.end, other: 2})

    [segment] = engine.merge(merge_of(spec, topics[0], [engine.read_batch(job)])).segments

    [row] = table(tmp_path, [segment])
    assert (row[odd], row["key"], row[metric], row["__count"]) == ("a/b", 1, 3, 3)
    assert row["late"] == max(topics)
    assert [(s.topic, s.first, s.last, s.rows) for s in segment.spans] == sorted(
        [(topics[0], 0, 1, 2), (topics[1], 1, 1, 1)]
    )
    read = spark.session.read.parquet(str(tmp_path / segment.path))
    folder = tmp_path / "estimate"
    read.selectExpr("hll_sketch_estimate(users) AS n").write.parquet(folder.as_uri())
    assert pq.read_table(folder).to_pylist() == [{"n": 1}]


def test_a_range_of_rejects_only_rolls_nothing_up(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    topic = new_topic(1)
    produce(broker.bootstrap, topic, ["no", "json"])
    spec = rolled(broker.bootstrap)
    entry = engine.read_batch(batch(spec, topic, {0: (0, 2)}))

    result = engine.merge(merge_of(spec, topic, [entry]))

    assert result.segments == ()
    assert result.rejects is not None


def rolled(bootstrap: str, *, segment_rows_max: int = 5_000_000) -> IngestSpec:
    spec = spec_for(
        bootstrap,
        columns=DIMENSIONS,
        granularity=Granularity.HOUR,
        segment_rows_max=segment_rows_max,
    )
    return spec.model_copy(
        update={
            "rollup": True,
            "metrics": METRICS,
            "truncation": Truncation(period="PT1H"),
            "timestamp": TimestampSpec(column="t", format="millis"),
        }
    )


def merge_of(
    spec: IngestSpec, topic: str, entries: Sequence[JournalEntry], *, incarnation: int = 1
) -> MergeJob:
    return MergeJob(
        task_id=f"task-{topic}", incarnation=incarnation, spec=spec, entries=tuple(entries)
    )


def send(bootstrap: str, topic: str, number: int) -> list[Sent]:
    """Records of three hours in two partitions, the half in each; every tenth is broken."""
    draw = random.Random(7)
    sent = []
    for partition in (0, 1):
        texts = []
        for offset in range(number // 2):
            at = NOON + timedelta(seconds=draw.randrange(3 * 3600))
            value: dict[str, object] = {"t": int(at.timestamp() * 1000)}
            value["page"] = draw.choice(["home", "about", None])
            value["level"] = draw.choice([1, 2])
            value["user"] = f"user-{draw.randrange(5)}"
            value["bytes"] = draw.choice([None, draw.randrange(100)])
            value["cost"] = draw.randrange(100) / 2
            value["country"] = draw.choice(["DE", "FR", None])
            sent.append(Sent(partition, offset, value))
            texts.append(json.dumps(value) if offset % 10 else "{")
        produce(bootstrap, topic, texts, partition=partition)
    return sent


def expected(sent: Iterable[Sent]) -> list[Row]:
    """What an independent hand works out."""
    groups: dict[tuple[object, ...], list[Sent]] = {}
    for one in sent:
        groups.setdefault(one.key(), []).append(one)
    rows = []
    for (hour, page, level), group in groups.items():
        placed = sorted(group, key=lambda one: (one.partition, one.offset))
        timed = sorted(placed, key=lambda one: one.time)
        weights = known(placed, "bytes")
        countries = known(timed, "country")
        rows.append(
            {
                "__time": hour,
                "page": page,
                "level": level,
                "n": len(group),
                "germans": sum(one.value["country"] == "DE" for one in group),
                "bytes": sum(weights) if weights else None,
                "cost": sum(known(placed, "cost")),
                "twice": sum(weights) * 2 if weights else None,
                "least": min(weights, default=None),
                "most": max(known(placed, "cost")),
                "early": countries[0] if countries else None,
                "late": countries[-1] if countries else None,
                "some": weights[0] if weights else None,
                "__count": len(group),
            }
        )
    return sorted(rows, key=str)


def known(sent: Iterable[Sent], name: str) -> list[float]:
    return [one.value[name] for one in sent if one.value[name] is not None]  # type: ignore[misc]


def different(sent: Iterable[Sent]) -> list[tuple[str, int]]:
    """How many users each row's records have; a sketch of so few is exact."""
    users: dict[str, set[object]] = {}
    for one in sent:
        users.setdefault(str(one.key()[1:]), set()).add(one.value["user"])
    return sorted((key, len(found)) for key, found in users.items())


def estimates(
    spark: SparkRuntime, warehouse: Path, segments: Iterable[SegmentFile], sketch: str = "users"
) -> list[tuple[str, int]]:
    """What Spark reads out of the sketches, those of a page and level taken together."""
    paths = [str(warehouse / segment.path) for segment in segments]
    rows = spark.session.read.parquet(*paths).groupBy("page", "level")
    read = rows.agg(fn.expr(f"hll_sketch_estimate(hll_union_agg({sketch})) AS n"))
    folder = warehouse / f"estimates-{next(_folders)}"
    read.coalesce(1).write.parquet(folder.as_uri())
    found = pq.read_table(folder).to_pylist()
    return sorted((str((row["page"], row["level"])), row["n"]) for row in found)


def table(warehouse: Path, segments: Iterable[SegmentFile]) -> list[Row]:
    tables = [pq.read_table(warehouse / s.path, partitioning=None) for s in segments]
    rows: list[Row] = pa.concat_tables(tables).to_pylist()
    return rows


def rows_of(warehouse: Path, segments: Iterable[SegmentFile]) -> list[Row]:
    rows = table(warehouse, segments)
    plain = [{k: v for k, v in row.items() if k != "users"} for row in rows]
    return sorted(plain, key=str)


def spans_of(segments: Iterable[SegmentFile]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for span in (span for segment in segments for span in segment.spans):
        counts[span.partition] = counts.get(span.partition, 0) + span.rows
    return counts


def counted(sent: Iterable[Sent]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for one in sent:
        counts[one.partition] = counts.get(one.partition, 0) + 1
    return counts


def schema_of(warehouse: Path, segment: SegmentFile) -> dict[str, pa.DataType]:
    schema = pq.read_schema(warehouse / segment.path)
    return {field.name: field.type for field in schema}
