"""Sketches of lists: each entry counts, and nothing else of its record counts twice.

Source: Druid's `HllSketchBuildUtil.updateSketch`, which updates a sketch once per entry.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.filters import Selector
from tasks.contract.ingest_spec import IngestSpec, Metric
from tasks.contract.messages import SegmentFile
from tasks.ingest.engine import SparkEngine
from tasks.ingest.sample import SparkSampler
from tasks.kafka.schema_registry import RegistryClient
from tasks.ports import JournalEntry
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch
from tests.tasks.ingest.merge.test_rollup import METRICS, estimates, merge_of, rolled, table
from tests.tasks.ingest.test_sample import order

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]

SKETCHES = (
    Metric(name="users", of="distinct", type="string", field="user"),
    Metric(name="tags", of="distinct", type="string", field="tags"),
    Metric(
        name="german",
        of="distinct",
        type="string",
        field="user",
        filter=Selector(dimension="country", value="DE"),
    ),
)
USERS: list[object] = [
    *("ann", ["ann", "bob"], ["bob", None, "cid"], [], None, 5, [5, True], True, ["dan"] * 3),
]
TAGS: list[object] = [["a", "b", "c"], None, "a", ["d"], [], "[1]", None, ["e"], "a"]


def send(bootstrap: str, topic: str) -> None:
    for number, (user, tags) in enumerate(zip(USERS, TAGS, strict=True)):
        value = {"t": number, "page": "home", "level": number % 2, "user": user, "tags": tags}
        value |= {"bytes": 2**number, "cost": number / 2, "country": "DE" if number < 6 else "FR"}
        produce(bootstrap, topic, [json.dumps(value)])


def test_each_entry_of_a_list_counts_and_other_metrics_stay_as_they_are(
    broker: Broker, spark: SparkRuntime, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: the rows are those of a spec without sketches, byte by byte of every other metric."""
    topic = new_topic(1)
    send(broker.bootstrap, topic)
    others = tuple(metric for metric in METRICS if metric.of != "distinct")
    plain = with_metrics(rolled(broker.bootstrap), *others)
    spec = with_metrics(plain, SKETCHES[0], *others, *SKETCHES[1:])
    half = len(USERS) // 2

    entries = [
        engine.read_batch(batch(spec, topic, {0: (0, half)}, number=1)),
        engine.read_batch(batch(spec, topic, {0: (half, len(USERS))}, number=2)),
    ]
    segments = engine.merge(merge_of(spec, topic, entries)).segments
    without = [engine.read_batch(batch(plain, topic, {0: (0, len(USERS))}, number=3))]
    wanted = engine.merge(merge_of(plain, topic, without, incarnation=2)).segments

    assert values_beside(tmp_path, segments) == values_beside(tmp_path, wanted)
    assert [row["__count"] for row in values_beside(tmp_path, segments)] == [5, 4]
    assert sum(entry.counters.processed for entry in entries) == len(USERS)
    # even: ann; bob, cid; null; 5, true; dan        odd: ann, bob; []; 5; true
    pages = [str(("home", 0)), str(("home", 1))]
    for sketch, known in (("users", [6, 4]), ("tags", [3, 3]), ("german", [3, 3])):
        found = estimates(spark, tmp_path, segments, sketch)
        assert (sketch, found) == (sketch, list(zip(pages, known, strict=True)))


def test_batches_from_before_entries_were_kept_are_merged_with_those_that_keep_them(
    broker: Broker, spark: SparkRuntime, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a worker is upgraded within a range; what it wrote before counts as it did."""
    topic = new_topic(1)
    values = [{"t": 0, "page": "home", "level": 1, "user": user} for user in ('["a","b"]', ["a"])]
    produce(broker.bootstrap, topic, [json.dumps(value) for value in values])
    spec = with_metrics(rolled(broker.bootstrap), SKETCHES[0])
    entries = [engine.read_batch(batch(spec, topic, {0: (n, n + 1)}, number=n)) for n in range(2)]
    forget_entries(tmp_path, entries[0])

    segments = engine.merge(merge_of(spec, topic, entries)).segments

    assert estimates(spark, tmp_path, segments) == [(str(("home", 1)), 2)]


def test_a_sample_shows_what_a_sketch_counts(
    broker: Broker, spark: SparkRuntime, engine: SparkEngine, new_topic: NewTopic
) -> None:
    topic = new_topic(1)
    send(broker.bootstrap, topic)
    sampler = SparkSampler(spark, engine.jobs, lambda _: "", RegistryClient(lambda _: ""))
    spec = with_metrics(rolled(broker.bootstrap), SKETCHES[1], METRICS[0], SKETCHES[2])

    answer = sampler.sample(order(spec, topic, {0: 4}))

    rows = [record.values or {} for record in answer.records]
    assert [(row["tags"], row["n"], row["german"]) for row in rows] == [
        ('["a","b","c"]', 1, "ann"),
        (None, 1, '["ann","bob"]'),
        ("a", 1, '["bob",null,"cid"]'),
        ('["d"]', 1, "[]"),
    ]


def with_metrics(spec: IngestSpec, *metrics: Metric) -> IngestSpec:
    return spec.model_copy(update={"metrics": metrics})


def values_beside(warehouse: Path, segments: Sequence[SegmentFile]) -> list[dict[str, object]]:
    """Return what rows say beside their sketches, in the order of levels."""
    names = {metric.name for metric in SKETCHES}
    rows = [{k: v for k, v in row.items() if k not in names} for row in table(warehouse, segments)]
    return sorted(rows, key=lambda row: str(row["level"]))


def forget_entries(warehouse: Path, entry: JournalEntry) -> None:
    [file] = entry.files
    path = warehouse / file.path
    held = pq.read_table(path, partitioning=None)
    path.unlink()
    pq.write_table(held.drop_columns(["__each_users"]), path)
