"""The checkers of tables speak when a rule is broken, and are silent when none is."""

import sqlite3
from collections.abc import Iterator

import pytest

from tests.simulation.checkers.broken import AT, LATER, SUP, Broken, HandmadeVersion
from tests.simulation.checkers.invariants import after_event
from tests.simulation.checkers.tables.looks import tables_at_end
from tests.sqlite_memory import template

FILE, PATH = "t1/0", f"{SUP}/data/t1/1.parquet"
EXPORT = (SUP, "delta")


@pytest.fixture
def table() -> Iterator[Broken]:
    """A table with one published file, that the checkers have looked at."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    template().backup(memory)
    world = Broken(memory)
    world.tables.runs, world.tables.grace_s = True, 10.0
    world.fix_end("g1", 10)
    world.publish("g1", "t1", 0, 10)
    assert after_event(world) == []
    yield world
    memory.close()


def _mark(world: Broken, *, audited: bool = True) -> None:
    world.sql("UPDATE segments SET unused_at = ? WHERE id = ?", LATER, FILE)
    if audited:
        detail = '{"segments": "1"}'
        row = {"at": LATER, "actor": "u", "action": "mark-unused", "subject": SUP}
        world.insert("audit", **row, detail=detail)


def _condemn(world: Broken) -> None:
    world.sql("UPDATE segments SET deleted_at = ? WHERE id = ?", LATER, FILE)


def _deleted(world: Broken, queue: str) -> None:
    world.warehouse.files.pop(PATH)
    world.happened("file deleted", path=PATH, queue=queue, at=world.clock.at)


def _compacted(world: Broken, rows: int) -> None:
    """Put a compacted file with so many of the rows in the place of the published one."""
    path = f"{SUP}/data/c1/0.parquet"
    world.warehouse.files[path] = world.warehouse.files[PATH][:rows]
    copied = "data_source, supervisor_id, generation_id, task_id, published_at, interval_start"
    copied += ", interval_end, size_bytes, sha256, time_min, time_max, rows"
    world.sql(
        f"INSERT INTO segments (id, path, compaction_id, {copied})"  # noqa: S608 -- ours
        f" SELECT 'c1/0', ?, 'c1', {copied} FROM segments WHERE id = ?",
        *(path, FILE),
    )
    world.insert(
        "compactions",
        id="c1",
        data_source=SUP,
        supervisor_id=SUP,
        interval_start=AT,
        interval_end=LATER,
        inputs=f'["{FILE}"]',
        columns="[]",
        shares="[]",
        reason="",
        created_at=AT,
        status="SUCCESS",
        worker_id="w1",
        incarnation=1,
        token="token-of-c1",
        ended_at=LATER,
        detail="",
        blamed=0,
    )
    world.sql("UPDATE segments SET unused_at = ?, replaced_by = 'c1' WHERE id = ?", LATER, FILE)


def _violations_of(world: Broken) -> str:
    return "\n".join(after_event(world))


def test_a_file_that_was_marked_condemned_and_deleted_in_time_is_fine(table: Broken) -> None:
    _mark(table)
    assert after_event(table) == []
    table.clock.at = 11.0
    _condemn(table)
    assert after_event(table) == []
    _deleted(table, "segment-files")
    assert after_event(table) == []
    assert tables_at_end(table) == []


def test_a_file_leaves_its_table_by_an_audited_mark_alone(table: Broken) -> None:
    _mark(table, audited=False)
    assert "T1 mark-unused" in _violations_of(table)


def test_a_file_is_condemned_after_its_grace_time(table: Broken) -> None:
    _mark(table)
    assert after_event(table) == []
    table.clock.at = 9.0
    _condemn(table)
    assert "was condemned 9.0 s after" in _violations_of(table)


@pytest.mark.parametrize("queue", ["task-output", "segment-files"])
def test_a_used_file_is_deleted_by_nobody(table: Broken, queue: str) -> None:
    _deleted(table, queue)
    assert "it is not condemned" in _violations_of(table)
    assert "lost-write" in "\n".join(tables_at_end(table))


def test_a_condemned_file_is_the_business_of_one_queue(table: Broken) -> None:
    _mark(table)
    assert after_event(table) == []
    table.clock.at = 11.0
    _condemn(table)
    _deleted(table, "task-output")
    assert "which is the business of segment-files" in _violations_of(table)


def test_a_file_that_an_export_names_stays(table: Broken) -> None:
    table.insert(
        "exports",
        data_source=SUP,
        format="delta",
        enabled=1,
        sequence=1,
        location="",
        problem="",
    )
    table.tables.versions[EXPORT] = [HandmadeVersion(0.0, 1, 1, {"data/t1/1.parquet": 1})]
    _mark(table)
    assert after_event(table) == []
    table.clock.at = 11.0
    _condemn(table)
    assert after_event(table) == []
    _deleted(table, "segment-files")
    assert "delta names it" in _violations_of(table)
    assert "still names 1 files" in "\n".join(tables_at_end(table))


def test_an_export_does_not_go_back_to_an_older_list(table: Broken) -> None:
    newer, older = (HandmadeVersion(0.0, n, 1, {}) for n in (2, 1))
    table.tables.versions[EXPORT] = [newer, older]
    table.happened("exported", table=SUP, format="delta")
    assert "went back from the list 2 to 1" in _violations_of(table)


def test_a_swap_that_is_whole_is_fine(table: Broken) -> None:
    _compacted(table, 10)
    assert after_event(table) == []


def test_a_compacted_file_has_each_row_of_its_inputs_once(table: Broken) -> None:
    _compacted(table, 9)
    assert "T1 lost-write: 1 records" in _violations_of(table)


def test_a_compaction_takes_used_files_alone(table: Broken) -> None:
    _mark(table)
    assert after_event(table) == []
    _compacted(table, 10)
    assert "which had left the table" in _violations_of(table)


def test_an_input_beside_its_compacted_file_is_doubled(table: Broken) -> None:
    _compacted(table, 10)
    table.sql("UPDATE segments SET unused_at = NULL, replaced_by = NULL WHERE id = ?", FILE)
    assert "which is not replaced by it" in _violations_of(table)
    assert "T1 duplicate" in "\n".join(tables_at_end(table))
