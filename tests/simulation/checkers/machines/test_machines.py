"""Each checker of machines can fail: a world that is sound but for one thing."""

import json
from collections.abc import Mapping

import pytest

from tasks.contract.offsets import TopicPartition
from tasks.ports import BatchJob, JournalEntry
from tests.simulation.checkers.broken import LATER, P0, Broken
from tests.simulation.checkers.invariants import after_event, at_end
from tests.simulation.checkers.machines.lines import NO_LINES, read_lines
from tests.tasks.memory import at, desired, entry_of

_RAW = """
    INSERT INTO segments (id, data_source, supervisor_id, generation_id, task_id, published_at,
        path, interval_start, interval_end, rows, size_bytes, sha256, time_min, time_max)
    SELECT 'raw', data_source || '__errors', supervisor_id, generation_id, task_id, published_at,
        ?, interval_start, interval_end, 1, size_bytes, sha256, time_min, time_max FROM segments
"""
_LEFT = {"overlord": "me", "holder": "me"}


def _entry(number: int) -> JournalEntry:
    """Ten records each: batch 1 reads 0 to 9."""
    task = desired()
    return entry_of(BatchJob("t1", 7, number, task.spec, at(10 * number - 10), at(10 * number), ()))


def _line(entry: JournalEntry) -> bytes:
    record = {"record": {"kind": "batch", "entry": json.loads(entry.to_json())}}
    return b"0123456789abcdef " + json.dumps(record).encode() + b"\n"


def _spoken(world: Broken) -> list[str]:
    world.happened("anything")
    return after_event(world)


@pytest.fixture
def reader(world: Broken) -> Broken:
    """A task that has journaled two batches, whose files are on disk."""
    entries = (_entry(1), _entry(2))
    world.hold("t1")
    world.put("t1", entries=entries)
    world.workers[0].journals["t1"] = b"".join(map(_line, entries))
    for entry in entries:
        world.warehouse.files.update({file.path: [] for file in entry.files})
    assert _spoken(world) == []
    return world


def test_a_batch_that_was_journaled_and_is_not_in_the_file_is_found(reader: Broken) -> None:
    reader.workers[0].journals["t1"] = _line(_entry(1))
    [line] = _spoken(reader)
    assert line.startswith("P20 t1: batch 2 was journaled")


@pytest.mark.parametrize("alive", [True, False])
def test_it_is_found_as_well_when_its_worker_has_ended(reader: Broken, *, alive: bool) -> None:
    reader.workers[0].alive = alive
    reader.workers[0].journals["t1"] = _line(_entry(1)) + _line(_entry(2))[:-40]
    assert len(_spoken(reader)) == 1


def test_a_disk_that_was_wiped_loses_its_journals_rightly(reader: Broken) -> None:
    reader.workers[0].alive = False
    reader.workers[0].journals.clear()
    reader.happened("wiped", worker="w1")
    assert _spoken(reader) == []


def test_a_tail_beyond_the_fixed_end_may_go_and_no_other_batch(reader: Broken) -> None:
    reader.fix_end("g1", 15)
    reader.workers[0].journals["t1"] = _line(_entry(1))
    reader.put("t1", entries=(_entry(1),))
    assert _spoken(reader) == []
    reader.workers[0].journals["t1"] = b""
    assert len(_spoken(reader)) == 1


def test_a_journal_that_names_a_file_that_is_gone_is_found(reader: Broken) -> None:
    """What a crash leaves if the files of a tail are deleted before the journal is cut (P14)."""
    [file] = _entry(2).files
    del reader.warehouse.files[file.path]
    reader.warehouse.removals += 1
    [line] = _spoken(reader)
    assert file.path in line


def test_a_journal_that_names_a_file_that_is_not_synced_is_found(reader: Broken) -> None:
    [file] = _entry(3).files
    reader.warehouse.files[file.path] = []
    reader.warehouse.unsynced.add(file.path)
    reader.workers[0].journals["t1"] += _line(_entry(3))
    reader.put("t1", entries=(_entry(1), _entry(2), _entry(3)))
    assert len(_spoken(reader)) == 1


def test_the_journal_of_a_task_that_has_ended_may_go_with_its_files(reader: Broken) -> None:
    reader.sql("UPDATE tasks SET status='FAILED', ended_at=?", LATER)
    reader.sql("UPDATE generations SET state='EMPTY', ended_at=?", LATER)
    reader.sql("UPDATE generation_partitions SET open=0")
    reader.workers[0].journals.clear()
    reader.warehouse.files.clear()
    reader.warehouse.removals += 1
    assert [line for line in _spoken(reader) if line.startswith("P20")] == []


def test_a_journal_is_read_up_to_its_first_torn_line() -> None:
    first, second = _line(_entry(1)), _line(_entry(2))
    known = read_lines(first + second[:-20])
    assert [batch.number for batch in known.batches] == [1]
    again = read_lines(first + second, known)
    assert [batch.number for batch in again.batches] == [1, 2]
    assert [b.number for b in read_lines(first + second[:-20] + second, again).batches] == [1]
    assert read_lines(b"", again) == NO_LINES


def test_more_tasks_that_read_than_slots_are_found_whoever_they_are_of(world: Broken) -> None:
    world.sql("UPDATE workers SET slots=1")
    assert _spoken(world) == []
    world.task("t2", "g1", replica=1)
    world.sql("UPDATE tasks SET supervisor_id='other' WHERE id='t2'")
    found = [line for line in _spoken(world) if line.startswith("P18")]
    assert found == ["P18 w1 has 1 slots, and 2 tasks read there"]


def _publish_with_rejects(world: Broken, rows: list[tuple[TopicPartition, int, int]]) -> str:
    """Of ten records the fifth is broken; its file holds these rows."""
    world.kafka.log["id-1", 0][4] = (4, 104, "broken")
    world.fix_end("g1", 10)
    world.publish("g1", "t1", 0, 10)
    path, segment = "clicks/data/t1/rejects.parquet", "clicks/data/t1/1.parquet"
    world.warehouse.files[segment] = [r for r in world.warehouse.files[segment] if r[1] != 4]
    world.sql("UPDATE segments SET rows=9")
    named = json.dumps({"path": path, "records": 1})
    world.sql("UPDATE publications SET rows=9, rejected=1, rejects=?", named)
    world.warehouse.files[path] = list(rows)
    raw = "clicks/data/t1/errors.parquet"
    world.warehouse.files[raw] = [(P0, 4, 104)]
    world.sql(_RAW, raw)
    return path


def test_a_rejects_file_that_holds_the_broken_record_is_sound(world: Broken) -> None:
    _publish_with_rejects(world, [(P0, 4, 104)])
    assert _spoken(world) == []


@pytest.mark.parametrize("rows", [[], [(P0, 5, 105)], [(P0, 4, 104), (P0, 4, 104)]])
def test_a_rejects_file_with_other_offsets_is_found(
    world: Broken, rows: list[tuple[TopicPartition, int, int]]
) -> None:
    _publish_with_rejects(world, rows)
    [line] = _spoken(world)
    assert line.startswith("P25 g1: ")


def test_a_publication_that_forgot_its_rejects_file_is_found(world: Broken) -> None:
    _publish_with_rejects(world, [(P0, 4, 104)])
    world.sql("UPDATE publications SET rejects=NULL")
    assert [line.partition(":")[0] for line in _spoken(world)] == ["P25 g1"]


def test_a_rejects_file_that_is_gone_or_not_synced_is_found(world: Broken) -> None:
    path = _publish_with_rejects(world, [(P0, 4, 104)])
    world.warehouse.unsynced.add(path)
    [line] = _spoken(world)
    assert path in line
    del world.warehouse.files[path]
    assert f"P25 g1: its rejects file {path} is not on disk" in at_end(world)


def _leases(world: Broken, holder: str) -> list[str]:
    world.sql("UPDATE leader_term SET holder=?", holder)
    return [line for line in _spoken(world) if line.startswith(("P1", "P2"))]


def test_who_leaves_and_keeps_the_lease_is_found(world: Broken) -> None:
    world.happened("leaves", **_LEFT)
    world.happened("left", **_LEFT, answered=True)
    assert _leases(world, "me") == ["P2 me has left, and still holds the lease"]


def test_who_was_not_answered_may_keep_it(world: Broken) -> None:
    world.happened("leaves", **_LEFT)
    world.happened("left", **_LEFT, answered=False)
    assert _leases(world, "me") == []


def test_a_lease_is_released_by_its_holder_alone(world: Broken) -> None:
    world.happened("leaves", overlord="other", holder="other")
    assert _leases(world, "") == ["P2 the lease of me was released, and it goes on"]


def test_a_commit_under_a_released_lease_is_found(world: Broken) -> None:
    common: Mapping[str, object] = {"overlord": "me", "term": 1, "lease_term": 1, "life": 1}
    world.happened("commit", **common, holder="me#1")
    assert _leases(world, "me") == []
    world.happened("commit", **common, holder="")
    assert _leases(world, "me") == ["P1 me#1 committed while nobody holds the lease"]


def test_who_is_held_back_need_not_publish_and_others_have_to(world: Broken) -> None:
    lag = [line for line in at_end(world) if "lag 10" in line]
    assert len(lag) == 1
    world.held_back.add("clicks")
    assert [line for line in at_end(world) if line.startswith("I11")] == []
