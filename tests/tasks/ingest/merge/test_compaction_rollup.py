"""Rolled-up files rewritten as one: put together, not rolled up again; sketches are kept.

Slow: each case is rolled up, compacted and read again with Spark.
"""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Granularity, IngestSpec
from tasks.contract.messages import CompactionInput, FailureCode
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge.compaction import CompactionJob
from tasks.ports import TaskError
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.batches import batch
from tests.tasks.ingest.merge.compactions import ID, bag, order_of, rows_in
from tests.tasks.ingest.merge.test_rollup import METRICS, estimates, merge_of, rolled, send

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.long]

NewTopic = Callable[[int], str]


def whole_day(bootstrap: str) -> IngestSpec:
    return rolled(bootstrap).model_copy(update={"segment_granularity": Granularity.DAY})


def ranges(engine: SparkEngine, topic: str, *specs: IngestSpec) -> list[CompactionInput]:
    """What one range after the other publishes, each by a spec of its own."""
    inputs = []
    for number, spec in enumerate(specs):
        cut = (number * 50, number * 50 + 50)
        entry = engine.read_batch(batch(spec, topic, {0: cut, 1: cut}, number=number))
        result = engine.merge(merge_of(spec, topic, [entry], incarnation=number))
        [segment] = result.segments
        inputs.append(CompactionInput(file=segment, columns=result.columns))
    return inputs


def test_rolled_up_rows_are_put_together_with_their_sketches(
    broker: Broker, spark: SparkRuntime, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: what published rows say is what they say later, to the last byte of a sketch."""
    topic = new_topic(2)
    send(broker.bootstrap, topic, 200)
    spec = whole_day(broker.bootstrap)
    inputs = ranges(engine, topic, spec, spec)
    old = [some.file for some in inputs]
    assert not any(column.name == "users" for column in inputs[0].columns)

    file = engine.compact(order_of(*inputs))

    assert bag(rows_in(tmp_path, file)) == bag(rows_in(tmp_path, *old))
    assert estimates(spark, tmp_path, [file]) == estimates(spark, tmp_path, old)
    before, after = (pq.read_schema(tmp_path / f.path) for f in (old[0], file))
    assert {f.name: f.type for f in before} == {f.name: f.type for f in after}
    keys = [
        (row["__time"], str(row["page"] or ""), row["level"]) for row in rows_in(tmp_path, file)
    ]
    assert keys == sorted(keys)
    assert file.rows == sum(f.rows for f in old)
    assert [(s.partition, s.first, s.last, s.rows) for s in file.spans] == [
        (0, 1, 99, 90),
        (1, 1, 99, 90),
    ]


def test_a_sketch_that_a_file_does_not_have_is_null(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(2)
    send(broker.bootstrap, topic, 200)
    spec = whole_day(broker.bootstrap)
    fewer = spec.model_copy(update={"metrics": METRICS[:3]})

    inputs = ranges(engine, topic, fewer, spec)
    file = engine.compact(order_of(*inputs))

    rows = rows_in(tmp_path, file)
    assert bag(rows) == bag(rows_in(tmp_path, *(some.file for some in inputs)))
    assert sum(row["users"] is None for row in rows) == inputs[0].file.rows


def test_rolled_up_files_of_two_topics_become_one(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a rolled-up row names no place, so none is made up for it."""
    inputs = []
    for topic in (new_topic(2), new_topic(2)):
        send(broker.bootstrap, topic, 100)
        inputs += ranges(engine, topic, whole_day(broker.bootstrap))

    file = engine.compact(order_of(*inputs))

    rows = rows_in(tmp_path, file)
    assert bag(rows) == bag(rows_in(tmp_path, *(some.file for some in inputs)))
    assert sum(span.rows for span in file.spans) == sum(int(str(r["__count"])) for r in rows)
    assert len({span.topic for span in file.spans}) == 2


def test_rolled_up_rows_and_others_are_not_put_together(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(2)
    send(broker.bootstrap, topic, 200)
    spec = whole_day(broker.bootstrap)
    flat = spec.model_copy(update={"rollup": False, "metrics": METRICS[:3]})
    inputs = ranges(engine, topic, spec, flat)

    with pytest.raises(TaskError, match="rolled up") as failed:
        engine.compact(order_of(*inputs))

    assert failed.value.code is FailureCode.REFUSED
    assert not (tmp_path / "clicks" / "data" / ID).exists()


class _Lossy(SparkEngine):
    """Plants a fault: one row stands for no record any more."""

    def _combined(self, work: CompactionJob, folder: Path) -> Path:
        path = super()._combined(work, folder)
        rows = pq.read_table(path, partitioning=None)
        counts = [0, *rows["__count"].to_pylist()[1:]]
        place = rows.schema.get_field_index("__count")
        pq.write_table(rows.set_column(place, "__count", [counts]), path)
        return path


def test_rows_that_stand_for_other_records_are_no_result(
    broker: Broker, spark: SparkRuntime, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    topic = new_topic(2)
    send(broker.bootstrap, topic, 200)
    inputs = ranges(engine, topic, *[whole_day(broker.bootstrap)] * 2)

    with pytest.raises(TaskError, match="stand for") as failed:
        _Lossy(spark, str(tmp_path), lambda _: "").compact(order_of(*inputs))

    assert failed.value.code is FailureCode.WRITE_FAILED
    assert not (tmp_path / "clicks" / "data" / ID).exists()
