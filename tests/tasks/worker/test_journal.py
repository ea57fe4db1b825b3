"""The journal on a real disk: what it acknowledged is there after any crash."""

from pathlib import Path
from random import Random

import pytest

from tasks.machine.state import JournalContents
from tasks.ports import BatchJob, JournalEntry
from tasks.worker.journal import Journal, JournalDamaged, JournalFolder, journals_below
from tests.simulation.world.folder import SimFolder
from tests.tasks.memory import at, desired, entry_of

TASK = desired()


def batch(number: int) -> JournalEntry:
    """Ten records each: batch 1 reads 0 to 9."""
    start, end = at(10 * number - 10), at(10 * number)
    return entry_of(BatchJob(TASK.task_id, 7, number, TASK.spec, start, end, ()))


def filled(folder: Path, batches: int = 3) -> Journal:
    journal = journals_below(folder).create(TASK, 7)
    for number in range(1, batches + 1):
        journal.append(batch(number))
    return journal


def held(folder: Path) -> JournalContents:
    journal = journals_below(folder).open(TASK)
    assert journal is not None
    return journal.held


def path_of(folder: Path) -> Path:
    return folder / "journal" / "task-1.jsonl"


def test_what_was_appended_is_found_again(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    journal.record_end(at(30))

    assert held(tmp_path) == JournalContents((batch(1), batch(2), batch(3)), at(30))


def test_a_journal_cut_at_any_byte_of_its_last_line_holds_the_batches_before(
    tmp_path: Path,
) -> None:
    """Source: protocol rule P20."""
    filled(tmp_path)
    path = path_of(tmp_path)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1

    for size in range(last, len(whole)):
        path.write_bytes(whole[:size])
        assert held(tmp_path).entries == (batch(1), batch(2)), size
        assert path.read_bytes() == whole[:last], "the torn line is cut off"


def test_after_a_torn_line_the_next_batch_is_appended_where_it_belongs(tmp_path: Path) -> None:
    filled(tmp_path)
    path = path_of(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    journal = journals_below(tmp_path).open(TASK)
    assert journal is not None

    journal.append(batch(3))

    assert held(tmp_path).entries == (batch(1), batch(2), batch(3))


def test_a_last_line_of_noise_is_cut_off_though_it_ends_in_a_newline(tmp_path: Path) -> None:
    filled(tmp_path)
    path = path_of(tmp_path)
    path.write_bytes(path.read_bytes() + b"\0\0\0\0\n")

    assert held(tmp_path).entries == (batch(1), batch(2), batch(3))


def test_one_changed_byte_before_the_last_line_is_damage(tmp_path: Path) -> None:
    filled(tmp_path)
    path = path_of(tmp_path)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1

    for position in range(0, last, 37):
        broken = bytearray(whole)
        broken[position] ^= 0x01
        path.write_bytes(bytes(broken))
        with pytest.raises(JournalDamaged):
            journals_below(tmp_path).open(TASK)


@pytest.mark.parametrize(
    "other",
    [
        TASK.model_copy(update={"start": at(1)}),
        TASK.model_copy(update={"generation_id": "another"}),
    ],
)
def test_a_journal_of_another_range_is_not_taken_up(tmp_path: Path, other: object) -> None:
    filled(tmp_path)

    with pytest.raises(JournalDamaged):
        journals_below(tmp_path).open(other)  # type: ignore[arg-type] # a task, by its parameters


def test_a_missing_batch_in_the_middle_is_damage(tmp_path: Path) -> None:
    filled(tmp_path)
    path = path_of(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))

    with pytest.raises(JournalDamaged):
        journals_below(tmp_path).open(TASK)


def test_an_empty_file_is_no_journal(tmp_path: Path) -> None:
    filled(tmp_path)
    path_of(tmp_path).write_bytes(b"")

    with pytest.raises(JournalDamaged):
        journals_below(tmp_path).open(TASK)


def test_a_dropped_tail_is_gone_for_good_and_the_end_stays(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    journal.record_end(at(10))

    journal.drop_tail(2)
    journal.append(batch(2))

    assert held(tmp_path) == JournalContents((batch(1), batch(2)), at(10))


def test_a_crash_while_a_tail_is_dropped_leaves_the_old_journal(tmp_path: Path) -> None:
    """Goal: the new one is written aside and takes the old one's name in one step."""
    filled(tmp_path)
    path_of(tmp_path).with_name("task-1.jsonl.new").write_bytes(b"half of a new one")

    assert held(tmp_path).entries == (batch(1), batch(2), batch(3))
    assert journals_below(tmp_path).task_ids() == {"task-1"}


def test_an_end_that_is_repeated_is_written_once(tmp_path: Path) -> None:
    journal = filled(tmp_path)
    journal.record_end(at(30))
    size = path_of(tmp_path).stat().st_size

    journal.record_end(at(30))

    assert path_of(tmp_path).stat().st_size == size


def test_a_new_journal_replaces_an_old_one_of_its_name(tmp_path: Path) -> None:
    filled(tmp_path)

    assert journals_below(tmp_path).create(TASK, 8).held == JournalContents((), None)
    assert held(tmp_path) == JournalContents((), None)


def test_a_deleted_journal_is_none(tmp_path: Path) -> None:
    filled(tmp_path)
    folder = journals_below(tmp_path)

    folder.delete("task-1")
    folder.delete("task-1")

    assert folder.open(TASK) is None
    assert folder.task_ids() == set()


@pytest.mark.parametrize("crash_at", ["worker:unsynced:Append", "worker:unsynced:Rename"])
def test_what_an_opened_journal_holds_no_power_loss_takes(crash_at: str) -> None:
    """Goal: a line, or a name, that a crashed process had not synced is synced by the next one.

    Source: protocol rule P20; seeds 12 and 27 of the simulation.
    """
    crashes = [crash_at]

    def reached(point: str) -> None:
        if point in crashes:
            crashes.remove(point)
            raise KeyboardInterrupt

    folder = SimFolder("journal", Random(1), reached)
    with pytest.raises(KeyboardInterrupt):
        JournalFolder(folder).create(TASK, 7).append(batch(1))

    journal = JournalFolder(folder).open(TASK)
    assert journal is not None
    relied_upon = folder.read("task-1.jsonl")

    assert folder.durable.get("task-1.jsonl") == relied_upon
