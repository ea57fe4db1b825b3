"""Theta sketches: they hold what the library makes, in another language, of the same values.

Source: Druid's `SketchAggregator.updateUnion`; Apache DataSketches for Python is the other reader.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from datasketches import (
    compact_theta_sketch,
    theta_a_not_b,
    theta_intersection,
    theta_union,
    update_theta_sketch,
)

from supervisor.dev.broker import Broker
from tasks.contract.filters import Selector
from tasks.contract.ingest_spec import IngestSpec, Metric
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge.theta_function import theta_function
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch
from tests.tasks.ingest.merge.test_rollup import merge_of, rolled, table
from tests.tasks.ingest.merge.test_sketches import USERS

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]

LOG = 14
MANY_LOG = 10
USERS_SEEN = Metric(name="users", of="theta", type="string", field="user", precision=LOG)
FRENCH = Metric(
    name="french",
    of="theta",
    type="string",
    field="user",
    precision=LOG,
    filter=Selector(dimension="country", value="FR"),
)


def test_a_sketch_of_few_values_is_the_librarys_own(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: over batches, partitions, lists, nulls and a filter; whoever reads sets reads these."""
    topic = new_topic(2)
    for number, user in enumerate(USERS):
        value = {"t": 0, "page": "home", "level": number % 2, "user": user}
        value |= {"country": "FR" if number % 3 else "DE"}
        produce(broker.bootstrap, topic, [json.dumps(value)], partition=number // 2 % 2)
    spec = with_metrics(broker.bootstrap, USERS_SEEN, FRENCH)
    entries = [
        engine.read_batch(batch(spec, topic, {0: (0, 2), 1: (0, 1)}, number=1)),
        engine.read_batch(batch(spec, topic, {0: (2, 5), 1: (1, 4)}, number=2)),
    ]

    segments = engine.merge(merge_of(spec, topic, entries)).segments

    rows = {int(str(row["level"])): row for row in table(tmp_path, segments)}
    for level in (0, 1):
        seen = [(n, user) for n, user in enumerate(USERS) if n % 2 == level]
        assert held(rows[level]["users"]) == sketch_of(
            entry for _, user in seen for entry in texts(user)
        )
        french = (entry for n, user in seen if n % 3 for entry in texts(user))
        assert held(rows[level]["french"]) == sketch_of(french)
    # even: ann; bob, cid; 5, true; dan        odd: ann, bob; 5; true
    assert [read(rows[level]["users"]).get_estimate() for level in (0, 1)] == [6, 4]


def test_many_values_are_an_estimate_and_sets_of_them_can_be_intersected(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: what theta sketches are for; far more values than they hold, merged over tasks."""
    topic = new_topic(2)
    pages = {"home": range(60_000), "shop": range(40_000, 80_000)}
    for partition, (page, users) in enumerate(pages.items()):
        values = ({"t": 0, "page": page, "level": 0, "user": f"user-{n}"} for n in users)
        produce(broker.bootstrap, topic, [json.dumps(v) for v in values], partition=partition)
    small = USERS_SEEN.model_copy(update={"precision": MANY_LOG})
    spec = with_metrics(broker.bootstrap, small)
    entry = engine.read_batch(batch(spec, topic, {0: (0, 60_000), 1: (0, 40_000)}))

    segments = engine.merge(merge_of(spec, topic, [entry])).segments

    seen = {row["page"]: read(row["users"]) for row in table(tmp_path, segments)}
    home, shop = seen["home"], seen["shop"]
    assert home.num_retained <= 2**MANY_LOG < len(pages["shop"])
    both, either, only = theta_intersection(), theta_union(MANY_LOG), theta_a_not_b()
    for one in (home, shop):
        both.update(one)
        either.update(one)
    for sketch, known in [
        (home, 60_000),
        (shop, 40_000),
        (both.get_result(), 20_000),
        (either.get_result(), 80_000),
        (only.compute(home, shop), 40_000),
    ]:
        assert sketch.get_lower_bound(3) <= known <= sketch.get_upper_bound(3)
        assert sketch.is_estimation_mode()


@pytest.mark.parametrize("log", [4, LOG, 26])
def test_what_several_tasks_have_met_of_a_group_becomes_one_sketch(
    spark: SparkRuntime, tmp_path: Path, log: int
) -> None:
    """Goal: of the smallest and the largest size as well, and of a group without values."""
    function = theta_function(spark.session, log)
    # Ten texts in each of two groups; a null or an empty text is no value, and the third has these.
    text = "CASE WHEN id < 20 THEN concat('user-', id) WHEN id < 25 THEN '' END AS user"
    rows = spark.session.range(0, 30, numPartitions=6).selectExpr("least(id div 10, 2) AS k", text)
    counted = rows.repartition(5).groupBy("k").agg({"user": function}).toDF("k", "users")

    counted.coalesce(1).write.parquet((tmp_path / "out").as_uri())

    found = {row["k"]: held(row["users"]) for row in pq.read_table(tmp_path / "out").to_pylist()}
    known = {k: sketch_of(f"user-{n}" for n in range(10 * k, 10 * k + 10)) for k in (0, 1)}
    assert found == {**known, 2: sketch_of([])}


def test_a_function_is_made_once_for_each_size(spark: SparkRuntime) -> None:
    """Goal: a worker that lives for weeks keeps one for each size, not one for each merge."""
    for log in (LOG, MANY_LOG, LOG):
        theta_function(spark.session, log)

    known = spark.session.catalog.listFunctions(pattern="tidegate_theta_*")
    assert {f"tidegate_theta_{log}" for log in (LOG, MANY_LOG)} <= {each.name for each in known}
    scratch = spark.work_dir / "local"
    assert len(list(scratch.rglob("classes-*/tidegate-ThetaSketch.jar"))) == 1


def with_metrics(bootstrap: str, *metrics: Metric) -> IngestSpec:
    return rolled(bootstrap).model_copy(update={"metrics": metrics})


def texts(value: object) -> list[str]:
    """What a field counts as: a list its entries, a null nothing, other values their JSON."""
    entries: Sequence[object] = value if isinstance(value, list) else [value]
    known = [entry for entry in entries if entry is not None]
    return [entry if isinstance(entry, str) else json.dumps(entry) for entry in known]


def sketch_of(values: Iterable[str]) -> tuple[float, list[int]]:
    """What the library makes of these."""
    sketch = update_theta_sketch(LOG)
    for value in values:
        sketch.update(value)
    return sketch.theta, sorted(sketch)


def held(sketch: object) -> tuple[float, list[int]]:
    """What a published sketch holds: how far it is full, and the hashes, in order."""
    found = read(sketch)
    assert found.is_ordered()
    return found.theta, list(found)


def read(sketch: object) -> compact_theta_sketch:
    assert isinstance(sketch, bytes)
    return compact_theta_sketch.deserialize(sketch)
