"""A task that reads several topics: every row and every reject says which one it comes from."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from supervisor.verify.files import read_publication
from supervisor.verify.ledger import CheckedPublication
from supervisor.views.lenient import lenient
from tasks.contract.ingest_spec import IngestSpec
from tasks.contract.offsets import TopicPartition
from tasks.ingest.engine import SparkEngine
from tasks.ingest.write.rejects import read_rejects
from tasks.ports import BatchJob, JournalEntry, MergeJob, MergeResult
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import COLUMNS, record, spec_for

DAY_MS = 24 * 3_600_000
NOON_MS = 1_700_000_000_000
TASK = "task-several"
PLACES = ["__topic", "__partition", "__offset", "id"]

NewTopic = Callable[[int], str]


@pytest.fixture
def topics(broker: Broker, new_topic: NewTopic) -> tuple[str, str]:
    """Two topics whose partitions have the same numbers and the same offsets."""
    one, two = sorted((new_topic(2), new_topic(2)))
    produce(broker.bootstrap, one, [record(1), "no json", record(2)], partition=0)
    produce(broker.bootstrap, one, [record(3)], partition=1)
    produce(broker.bootstrap, two, [record(4), record(5, NOON_MS + 2 * DAY_MS)], partition=0)
    produce(broker.bootstrap, two, [" ", record(6)], partition=1)
    return one, two


def journaled(engine: SparkEngine, spec: IngestSpec, one: str, two: str) -> list[JournalEntry]:
    """Read a batch of both topics, then one that has news of a single topic only."""
    ends = [
        {(one, 0): 2, (one, 1): 1, (two, 0): 2, (two, 1): 1},
        {(one, 0): 3, (one, 1): 1, (two, 0): 2, (two, 1): 1},
        {(one, 0): 3, (one, 1): 1, (two, 0): 2, (two, 1): 2},
    ]
    start = dict.fromkeys((TopicPartition(*p) for p in ends[0]), 0)
    entries: list[JournalEntry] = []
    for number, until in enumerate(ends):
        end = {TopicPartition(*p): at for p, at in until.items()}
        columns = entries[-1].columns if entries else ()
        entries.append(engine.read_batch(BatchJob(TASK, 1, number, spec, start, end, columns)))
        start = end
    return entries


def places(warehouse: Path, paths: list[str]) -> list[tuple[object, ...]]:
    """What rows say of where they come from, sorted."""
    rows = []
    for path in paths:
        table = pq.read_table(warehouse / path, partitioning=None)
        rows += [tuple(row[name] for name in PLACES) for row in table.to_pylist()]
    return sorted(rows)


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.parametrize("columns", ["declared", "discovered"])
def test_rows_and_rejects_name_their_topic_through_batch_and_merge(
    broker: Broker, topics: tuple[str, str], engine: SparkEngine, tmp_path: Path, columns: str
) -> None:
    """Goal: the same partition and offset of two topics are two records (P21, P25)."""
    one, two = topics
    declared = COLUMNS if columns == "declared" else ()
    spec = spec_for(broker.bootstrap, columns=declared).model_copy(update={"topic_column": True})
    wanted = [(one, 0, 0, 1), (one, 0, 2, 2), (one, 1, 0, 3)]
    wanted += [(two, 0, 0, 4), (two, 0, 1, 5), (two, 1, 1, 6)]
    if columns == "discovered":
        wanted = [(*place, str(number)) for *place, number in wanted]  # type: ignore[misc]

    entries = journaled(engine, spec, one, two)
    merged = engine.merge(MergeJob(TASK, 1, spec, tuple(entries)))

    assert places(tmp_path, [f.path for e in entries for f in e.files]) == wanted
    assert places(tmp_path, [file.path for file in merged.segments]) == wanted
    spans = {
        (s.topic, s.partition, s.first, s.last, s.rows) for f in merged.segments for s in f.spans
    }
    assert {(topic, partition) for topic, partition, *_ in spans} == {
        (topic, number) for topic in topics for number in (0, 1)
    }
    assert merged.rejects is not None
    assert read_rejects(tmp_path / merged.rejects.path) == [
        (one, 0, 1, 1, "not-json"),
        (two, 1, 0, 0, "empty"),
    ]
    samples = {(s.topic, s.partition, s.offset) for e in entries for s in e.samples}
    assert samples == {(one, 0, 1), (two, 1, 0)}
    assert_verified(tmp_path, entries, merged)


def assert_verified(warehouse: Path, entries: list[JournalEntry], merged: MergeResult) -> None:
    """What `verify` finds in the files is every offset of the range, each once."""
    publication = lenient(CheckedPublication).model_validate(
        {
            "generationId": "g",
            "taskId": TASK,
            "publishedAt": "2026-01-01T00:00:00Z",
            "start": entries[0].start,
            "end": entries[-1].end,
            "rows": sum(file.rows for file in merged.segments),
            "rejected": 2,
            "rejects": None if merged.rejects is None else merged.rejects.model_dump(mode="json"),
            "segments": [file.model_dump(mode="json") for file in merged.segments],
        }
    )

    content = read_publication(warehouse, publication, lambda _: None)

    assert content.findings == []
    whole = {at: (held.rows | held.rejects).count() for at, held in content.held.items()}
    assert whole == dict(entries[-1].end)
