"""Files are written as a spec asks: their footers say so, whoever has written them.

Slow: each way to write is a batch, a merge or a compaction of Spark.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.ingest_spec import Column, FileFormat, IngestSpec, Metric
from tasks.contract.messages import SegmentFile
from tasks.ingest.engine import SparkEngine
from tasks.ports import DataFile, JournalEntry, MergeJob
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch, spec_for
from tests.tasks.ingest.merge.compactions import at, order_of, published

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

NewTopic = Callable[[int], str]
ROWS = 2_000
PLAIN = FileFormat(compressed=False, dictionary=False)
"""As far from the default as files can be."""


def written_as(warehouse: Path, files: Sequence[DataFile | SegmentFile]) -> set[str]:
    """The codecs of all columns."""
    return {chunk.compression for _, chunk in _chunks(warehouse, files)}


def with_dictionary(warehouse: Path, files: Sequence[DataFile | SegmentFile]) -> set[str]:
    """The columns of which at least one file has a dictionary."""
    return {column for column, chunk in _chunks(warehouse, files) if chunk.has_dictionary_page}


def _chunks(
    warehouse: Path, files: Sequence[DataFile | SegmentFile]
) -> list[tuple[str, pq.ColumnChunkMetaData]]:
    chunks = []
    for file in files:
        footer = pq.read_metadata(warehouse / file.path)
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        for column in range(footer.num_columns):
            chunks += [(g.column(column).path_in_schema, g.column(column)) for g in groups]
    return chunks


def clicks(engine: SparkEngine, spec: IngestSpec, topic: str) -> tuple[JournalEntry, ...]:
    """Read all there is, in four batches that do not stay as they are."""
    part = ROWS // 4
    jobs = [batch(spec, topic, {0: (n * part, (n + 1) * part)}, number=n) for n in range(4)]
    return tuple(engine.read_batch(job) for job in jobs)


def formed(spec: IngestSpec, form: FileFormat, **more: object) -> IngestSpec:
    tuning = spec.tuning.model_copy(update={"files": form})
    return spec.model_copy(update={"tuning": tuning, **more})


@pytest.fixture
def topic(broker: Broker, new_topic: NewTopic) -> str:
    """Records of two users."""
    topic = new_topic(1)
    records = (f'{{"t":0,"id":{n},"user":"somebody {n % 2}"}}' for n in range(ROWS))
    produce(broker.bootstrap, topic, list(records))
    return topic


def test_files_are_zstd_with_dictionaries_unless_something_else_is_asked_for(
    broker: Broker, engine: SparkEngine, topic: str, tmp_path: Path
) -> None:
    spec = spec_for(broker.bootstrap)
    entries = clicks(engine, spec, topic)

    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, entries)).segments

    for files in (entries[0].files, merged):
        assert written_as(tmp_path, files) == {"ZSTD"}
        assert with_dictionary(tmp_path, files) >= {"user", "__partition"}


def test_batches_and_what_is_merged_of_them_are_written_as_the_spec_asks(
    broker: Broker, engine: SparkEngine, topic: str, tmp_path: Path
) -> None:
    """Goal: batches as well, for a batch may be published as it is."""
    spec = formed(spec_for(broker.bootstrap), PLAIN)
    entries = clicks(engine, spec, topic)

    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, entries)).segments
    alone = engine.merge(MergeJob(f"task-{topic}", 2, spec, entries[:1])).segments

    assert [segment.path for segment in alone] == [file.path for file in entries[0].files]
    for files in (alone, merged):
        assert written_as(tmp_path, files) == {"UNCOMPRESSED"}
        assert with_dictionary(tmp_path, files) == set()


def test_rolled_up_rows_are_written_as_the_spec_asks(
    broker: Broker, engine: SparkEngine, topic: str, tmp_path: Path
) -> None:
    metrics = (Metric(name="n", of="count"),)
    spec = formed(spec_for(broker.bootstrap), PLAIN, rollup=True, metrics=metrics)
    entries = clicks(engine, spec, topic)

    merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, entries)).segments

    assert written_as(tmp_path, merged) == {"UNCOMPRESSED"}
    assert with_dictionary(tmp_path, merged) == set()


def test_single_columns_go_without_a_dictionary(
    broker: Broker, engine: SparkEngine, topic: str, tmp_path: Path
) -> None:
    default = spec_for(broker.bootstrap)
    some = formed(default, FileFormat(plain=("user", "nobody")))

    usual = with_dictionary(tmp_path, clicks(engine, default, topic)[0].files)
    files = clicks(engine, some, topic)[0].files  # in the place of the others

    assert usual - with_dictionary(tmp_path, files) == {"user"}
    assert written_as(tmp_path, files) == {"ZSTD"}


def test_columns_of_lists_go_without_a_dictionary_too(
    broker: Broker, engine: SparkEngine, topic: str, tmp_path: Path
) -> None:
    """Goal: Parquet names the elements of a list, not the list."""
    default = spec_for(broker.bootstrap, columns=(Column(name="user", type="array<string>"),))
    some = formed(default, FileFormat(plain=("user",)))

    usual = with_dictionary(tmp_path, clicks(engine, default, topic)[0].files)
    files = clicks(engine, some, topic)[0].files  # in the place of the others

    assert usual - with_dictionary(tmp_path, files) == {"user.list.element"}


def test_a_higher_level_makes_smaller_files_and_levels_do_not_mix(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic
) -> None:
    """Goal: one JVM serves specs with different levels; its codecs are not shared."""
    topic = new_topic(1)
    random = Random(7)
    words = [random.randbytes(4).hex() for _ in range(300)]
    texts = (" ".join(random.choices(words, k=30)) for _ in range(ROWS))
    records = [f'{{"t":{n},"id":{n},"user":"{text}"}}' for n, text in enumerate(texts)]
    produce(broker.bootstrap, topic, records)
    sizes: dict[int, int] = {}
    for level in (1, 19, 3, 1):
        spec = formed(spec_for(broker.bootstrap), FileFormat(zstd_level=level, dictionary=False))
        entries = clicks(engine, spec, topic)
        merged = engine.merge(MergeJob(f"task-{topic}", 1, spec, entries)).segments
        size = sum(segment.size_bytes for segment in merged)
        assert sizes.setdefault(level, size) == size

    assert sizes[19] < sizes[3]
    assert sizes[1] not in {sizes[3], sizes[19]}


def test_a_compacted_file_is_written_as_its_order_says(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        {"__time": at(0), "user": "somebody", "__partition": 0, "__offset": offset}
        for offset in range(20)
    ]
    inputs = [
        published(tmp_path, n, rows[n * 10 : n * 10 + 10], {"user": "string"}) for n in (0, 1)
    ]
    order = order_of(*inputs).model_copy(update={"files": PLAIN})

    file = engine.compact(order)

    assert written_as(tmp_path, [file]) == {"UNCOMPRESSED"}
    assert with_dictionary(tmp_path, [file]) == set()
