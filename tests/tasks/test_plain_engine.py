"""The engine that other tests use in place of Spark works as the product's does, on a disk."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.contract.messages import FailureCode
from tasks.contract.offsets import TopicPartition
from tasks.durable_files import NoSpace
from tasks.ingest.decode.observed import ObservedRecords
from tasks.ingest.formats.schemas import Schemas
from tasks.ingest.merge.compaction import CompactionJob
from tasks.ports import BatchCancelled, BatchJob, TaskError
from tasks.rows.discovery import ColumnKinds
from tests.tasks.ingest.merge.compactions import (
    Row,
    at,
    bag,
    folders_below,
    order_of,
    published,
    rows_in,
)
from tests.tasks.memory import desired
from tests.tasks.plain_engine import PlainEngine

COLUMNS = {"id": "long"}


def rows(*offsets: int, topic: str | None = None) -> list[Row]:
    named = {} if topic is None else {"__topic": topic}
    return [
        {"__time": at(60 - o), "id": o, "__partition": 0, "__offset": o, **named} for o in offsets
    ]


def test_files_become_one_sorted_file_with_each_of_their_rows(tmp_path: Path) -> None:
    inputs = [
        published(tmp_path, 1, rows(0, 1, 2), COLUMNS),
        published(tmp_path, 2, rows(3, 4), {}),
        published(tmp_path, 3, rows(0, topic="other"), COLUMNS),
    ]
    old = [some.file for some in inputs]
    inputs[1] = inputs[1].model_copy(update={"columns": inputs[0].columns})

    file = PlainEngine(tmp_path).compact(order_of(*inputs))

    merged_rows = rows_in(tmp_path, file)
    assert [row["__time"] for row in merged_rows] == sorted(at(60 - o) for o in (0, 0, 1, 2, 3, 4))
    named = {(row["__offset"], row["__topic"]) for row in merged_rows}
    assert named == {(o, "clicks") for o in range(5)} | {(0, "other")}
    plain = [{k: v for k, v in row.items() if k != "__topic"} for row in merged_rows]
    before = [{k: v for k, v in row.items() if k != "__topic"} for row in rows_in(tmp_path, *old)]
    assert bag(plain) == bag(before)
    assert [(span.topic, span.rows) for span in file.spans] == [("clicks", 5), ("other", 1)]


def test_without_space_nothing_is_left_and_a_repeat_succeeds(tmp_path: Path) -> None:
    class Full(PlainEngine):
        full = True

        def _combined(self, work: CompactionJob, folder: Path) -> Path:
            path = super()._combined(work, folder)
            if self.full:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
            return path

    order = order_of(published(tmp_path, 1, rows(0), COLUMNS))
    engine = Full(tmp_path)

    with pytest.raises(NoSpace, match="free some"):
        engine.compact(order)

    assert folders_below(tmp_path) == {"task-1"}
    engine.full = False
    assert engine.compact(order).rows == 1


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    inputs = [published(tmp_path, n, rows(n), COLUMNS) for n in (1, 2)]
    (tmp_path / inputs[1].file.path).unlink()

    with pytest.raises(TaskError, match="clicks/data/task-2") as failed:
        PlainEngine(tmp_path).compact(order_of(*inputs))

    assert failed.value.code is FailureCode.READ_FAILED


def test_a_batch_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    class Slow(PlainEngine):
        def _write(
            self, job: BatchJob, span: object, found: ColumnKinds, folder: Path, *, schemas: Schemas
        ) -> ObservedRecords:
            observed = super()._write(job, span, found, folder, schemas=schemas)
            self.cancel(job.task_id)
            return observed

    ends = {TopicPartition("clicks", 0): 50}
    job = BatchJob("task-1", 1, 1, desired().spec, dict.fromkeys(ends, 0), ends, ())
    whole = PlainEngine(tmp_path).read_batch(job)
    before = sorted(tmp_path.rglob("*.parquet"))

    with pytest.raises(BatchCancelled):
        Slow(tmp_path).read_batch(replace(job, number=2))

    assert [span.rows for file in whole.files for span in file.spans] == [45]
    assert before == sorted(tmp_path.rglob("*.parquet"))
