"""Large batches of a range while their row groups are copied: seen to move, cancelled, no space.

Slow: each case is an append of Spark that is broken off.
"""

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Column, IngestSpec
from tasks.contract.offsets import TopicPartition
from tasks.durable_files import NoSpace
from tasks.ingest import engine as engines
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge import append as product
from tasks.ingest.merge import sizes
from tasks.ingest.merge.append import append
from tasks.ingest.write.files import Step, digest_of
from tasks.ports import BatchCancelled, BatchJob, JournalEntry, MergeJob
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import COLUMNS, paths_below, record, spec_for, table_of
from tests.tasks.ingest.merge.test_append import Story, times_of
from tests.tasks.ingest.spark.test_spark_faults import full

pytestmark = pytest.mark.long

NewTopic = Callable[[int], str]

ROWS = 5_000
"""Of each batch: many enough for the stories of this module."""
LISTS = (Column(name="tags", type="array<string>"), Column(name="sizes", type="array<long>"))
HELD = ('"tags":["a",null],"sizes":[1,2]', '"tags":[],"sizes":[null]', '"tags":null', '"sizes":[3]')


@pytest.fixture(autouse=True)
def _small_batches_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sizes, engines):
        monkeypatch.setattr(module, "PART_ROWS_MIN", 100)


@pytest.fixture
def story(broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path) -> Story:
    return Story(broker, engine, new_topic(1), tmp_path)


def two_days_read(story: Story) -> IngestSpec:
    """Three batches of each of two days: they are to become two files."""
    days = [0] * 3 * ROWS + [1] * 3 * ROWS
    records = [record(n, at) for n, at in enumerate(times_of(days))]
    return story.read(records, [ROWS * (n + 1) for n in range(6)])


@pytest.mark.spark
@pytest.mark.kafka
def test_copying_shows_progress_with_every_file(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: a merge of any size outlives the progress deadline: none of this is a Spark job."""
    spec = two_days_read(story)
    seen: list[Hashable] = []

    def look() -> None:
        seen.append(story.engine.progress(f"task-{story.topic}"))

    def watched(session: SparkSession, paths: Sequence[Path], into: Path, step: Step) -> None:
        def watched_step() -> None:
            look()
            step()

        append(session, paths, into, watched_step)
        look()

    monkeypatch.setattr(product, "append", watched)

    story.merged(spec)

    of_one, of_other = seen[:4], seen[4:]
    assert len(set(of_one)) == len(set(of_other)) == 4
    assert of_one[-1] != of_other[0], "to read a file for its digest is progress, too"


@pytest.mark.spark
@pytest.mark.kafka
def test_a_cancel_ends_the_copying_at_the_next_file(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, before = two_days_read(story), paths_below(tmp_path)
    left: list[Path] = []

    def cancelled(session: SparkSession, paths: Sequence[Path], into: Path, step: Step) -> None:
        story.engine.cancel(f"task-{story.topic}")
        try:
            append(session, paths, into, step)
        finally:
            left.extend(into.parent.iterdir())

    with monkeypatch.context() as patched:
        patched.setattr(product, "append", cancelled)
        with pytest.raises(BatchCancelled):
            story.merged(spec)

    assert [path.name for path in left] == ["whole-00000.parquet"]
    assert paths_below(tmp_path) == before
    assert [segment.rows for segment in story.merged(spec).segments] == [3 * ROWS] * 2


@pytest.mark.spark
@pytest.mark.kafka
def test_copying_without_space_leaves_nothing_and_can_be_repeated(
    story: Story, spark: SparkRuntime, tmp_path: Path
) -> None:
    """Source: protocol rule P20; a full disk is waited for, so it must be told from other ends."""
    spec, before = two_days_read(story), paths_below(tmp_path)

    with full("limit", spark, tmp_path), pytest.raises(NoSpace):
        story.merged(spec)

    assert paths_below(tmp_path) == before
    assert [segment.rows for segment in story.merged(spec).segments] == [3 * ROWS] * 2


def test_a_digest_is_told_on_its_way_and_ends_when_it_is_to(tmp_path: Path) -> None:
    """Goal: a file of any size neither hangs a cancel nor seems to."""
    path, steps = tmp_path / "large", list[int]()
    path.write_bytes(b"x" * (5 << 20))

    def cancelled() -> None:
        steps.append(1)
        if len(steps) == 2:
            raise BatchCancelled("task/1")

    with pytest.raises(BatchCancelled):
        digest_of(path, cancelled)

    assert len(steps) == 2


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.parametrize("topics", [1, 2])
def test_rows_of_many_partitions_with_lists_are_there_as_they_were(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path, topics: int
) -> None:
    """Goal: batches of several partitions, and of several topics, are copied with all they hold."""
    names = sorted(new_topic(2) for _ in range(topics))
    places = [TopicPartition(topic, partition) for topic in names for partition in range(2)]
    times = times_of([0] * 240 + [1] * 160)
    for place in places:
        lines = (record(n, at)[:-1] + f",{HELD[n % 4]}}}" for n, at in enumerate(times))
        produce(broker.bootstrap, place.topic, lines, partition=place.partition)
    spec = spec_for(broker.bootstrap, columns=(*COLUMNS, *LISTS))
    spec = spec.model_copy(update={"topic_column": topics > 1})
    entries: list[JournalEntry] = []
    for number, (start, end) in enumerate([(0, 80), (80, 160), (160, 280), (280, 400)]):
        since, until = dict.fromkeys(places, start), dict.fromkeys(places, end)
        entries.append(engine.read_batch(BatchJob("task-many", 1, number, spec, since, until, ())))

    merged = engine.merge(MergeJob("task-many", 1, spec, tuple(entries)))

    assert [segment.rows for segment in merged.segments] == [240 * len(places), 160 * len(places)]
    assert all("/whole-" in segment.path for segment in merged.segments)
    keys = [*(["__topic"] if topics > 1 else []), "__partition", "__offset"]
    order = [(key, "ascending") for key in keys]
    held = table_of(tmp_path, merged.segments).sort_by(order)
    wanted = table_of(tmp_path, [file for entry in entries for file in entry.files]).sort_by(order)
    assert held.column_names == wanted.column_names
    assert [n for n in held.column_names if not held[n].equals(wanted[n])] == []
    assert set(map(str, held["tags"].to_pylist())) == {"['a', None]", "[]", "None"}
    assert set(map(str, held["sizes"].to_pylist())) == {"[1, 2]", "[None]", "None", "[3]"}
