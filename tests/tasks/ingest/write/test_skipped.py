"""A batch that is skipped: its offsets are rejects, and nothing of it is read."""

from dataclasses import replace
from pathlib import Path

import pytest

from tasks.contract.ingest_spec import BadRecords
from tasks.ingest.engine import SparkEngine
from tasks.ingest.merge.quarantine import number_kept
from tasks.machine.state import too_many_exceptions
from tasks.ports import BatchJob, Care, JournalEntry, MergeJob
from tests.tasks.ingest.batches import rejected
from tests.tasks.machine.machines import bench
from tests.tasks.memory import LIVELY, P0, P1, at, desired
from tests.tasks.plain_engine import PlainEngine


class Unread(PlainEngine):
    """An engine that reads nothing at all."""

    def _write(self, *_: object, **__: object) -> None:  # type: ignore[override]
        raise AssertionError("the batch was read")


def skipped(engine: SparkEngine) -> JournalEntry:
    """Skip offset 7 of one of two partitions."""
    job = BatchJob("task-1", 1, 1, desired().spec, at(7, 3), at(8, 3), (), care=Care.SKIP)
    return engine.read_batch(job)


def test_a_skipped_offset_counts_as_read_and_is_a_reject(tmp_path: Path) -> None:
    """Source: protocol rule P25: every offset of a range is a row or a reject."""
    entry = skipped(Unread(tmp_path))

    assert (entry.start, entry.end) == ({P0: 7, P1: 3}, {P0: 8, P1: 3})
    assert rejected(tmp_path, entry) == [(0, 7, 7, "too-large")]
    assert (entry.files, entry.quarantine) == ((), ())
    counted = entry.counters
    assert (counted.processed, counted.unparseable, counted.rejected) == (0, 1, {"too-large": 1})
    [sample] = entry.samples
    assert (sample.topic, sample.partition, sample.offset) == ("clicks", 0, 7)
    assert "ended" in sample.detail


@pytest.mark.parametrize("mode", [BadRecords.FAIL, BadRecords.QUARANTINE])
def test_a_spec_that_allows_no_bad_record_fails_with_the_place_of_the_skipped_one(
    tmp_path: Path, mode: BadRecords
) -> None:
    entry = skipped(Unread(tmp_path))
    state = bench(tuning=LIVELY.model_copy(update={"bad_records": mode})).state
    state = replace(state, counters=entry.counters, samples=entry.samples)

    why = too_many_exceptions(state)

    assert ("one is clicks:0 7 (too-large: " in why) is (mode is BadRecords.FAIL)


def test_a_range_with_a_skipped_record_reports_no_number_of_kept_ones(tmp_path: Path) -> None:
    """Goal: the record is in no errors table, so the proof must not look for it there."""
    entry = skipped(Unread(tmp_path))

    assert number_kept(MergeJob("task-1", 1, desired().spec, (entry,))) is None
