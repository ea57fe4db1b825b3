"""With rollup rows of one millisecond are one: times go down to the precision that Druid's have."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Metric, TimestampSpec
from tasks.ingest.engine import SparkEngine
from tasks.ports import MergeJob
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import read_in, spec_for, table_of

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]

IN_2024, BEFORE_1970 = 1_714_557_600_000_000, -5_000


def moment(micros: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


@pytest.mark.parametrize("base", [IN_2024, BEFORE_1970])
def test_rows_of_one_millisecond_become_one_with_rollup_alone(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path, base: int
) -> None:
    """Goal: down, also before 1970, as Joda does; what is not rolled up keeps microseconds.

    Source: Druid's `TimestampParser`: a time is a number of milliseconds, whatever it was read of.
    """
    topic = new_topic(1)
    sent = [base + n for n in (0, 999, 1_000, 1)]
    produce(broker.bootstrap, topic, [f'{{"t":{t},"id":7,"user":"x"}}' for t in sent])
    plain = spec_for(broker.bootstrap)
    plain = plain.model_copy(update={"timestamp": TimestampSpec(column="t", format="micro")})
    count = Metric(name="n", of="count")
    rolled = plain.model_copy(update={"rollup": True, "metrics": (count,)})

    entries = read_in(engine, rolled, topic, [0, 2, 4])
    merged = engine.merge(MergeJob(f"task-{topic}", 1, rolled, entries))
    [alone] = read_in(engine, plain, topic, [0, 4])

    table = table_of(tmp_path, merged.segments).sort_by("__time")
    found = zip(table["__time"].to_pylist(), table["n"].to_pylist(), strict=True)
    assert [*found] == [(moment(base), 3), (moment(base + 1_000), 1)]
    times = table_of(tmp_path, alone.files)["__time"].to_pylist()
    assert sorted(times) == [moment(t) for t in sorted(sent)]
