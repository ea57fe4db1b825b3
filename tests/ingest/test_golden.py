"""Specs as Druid's own pages and console give them: taken as they are, and the rows they make.

The rows are read by pyarrow.  Each file of `golden/` has a spec, records, and the rows that they
are; a field that a row does not have is null in it.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from supervisor.core.spec import ingest_spec
from supervisor.core.spec_reader import read_spec
from supervisor.dev.broker import Broker
from tasks.ingest.engine import SparkEngine
from tasks.kafka_client import KafkaClient
from tasks.ports import MergeJob
from tests.brokers import produce
from tests.ingest.batches import batch, table_of

pytestmark = pytest.mark.spark

NewTopic = Callable[[int], str]

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
PLACE = {"__partition", "__offset"}


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_spec_of_druids_makes_the_rows_that_are_expected(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path, file: Path
) -> None:
    golden = json.loads(file.read_text())
    topic = new_topic(1)
    values = [json.dumps(record) for record in golden["records"]]
    produce(broker.bootstrap, topic, values)
    read = read_spec(golden["spec"])
    client = KafkaClient(bootstrap_servers=broker.bootstrap)
    spec = ingest_spec(read.spec).model_copy(update={"kafka": client})

    entry = engine.read_batch(batch(spec, topic, {0: (0, len(values))}))
    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, (entry,)))

    assert read.warnings == ()
    rows = [
        {name: value for name, value in row.items() if value is not None and name not in PLACE}
        for row in table_of(tmp_path, merged.segments).to_pylist()
    ]
    for row in rows:
        row["__time"] = row["__time"].isoformat()
        assert ("kafka.timestamp" in row) == (spec.kafka_columns is not None)
        row.pop("kafka.timestamp", None)  # when it was sent
        row |= {name: json.loads(row[name]) for name in golden["json"] if name in row}
    wanted = json.loads(json.dumps(golden["rows"]).replace("<topic>", topic))
    assert sorted(rows, key=_time_of) == sorted(wanted, key=_time_of)


def _time_of(row: dict[str, object]) -> str:
    return str(row["__time"])
