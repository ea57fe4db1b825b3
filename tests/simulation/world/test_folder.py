"""The simulated folder loses what POSIX lets a disk lose, and the product's journal survives it."""

from random import Random

import pytest

from tasks.durable_files import write_all
from tasks.ports import BatchJob, JournalEntry
from tasks.worker.journal import JournalDamaged, JournalFolder
from tests.simulation.checkers.machines.lines import read_lines
from tests.simulation.world.folder import SimFolder
from tests.tasks.memory import at, desired, entry_of

TASK = desired()
NAME = f"{TASK.task_id}.jsonl"
LIVES = 60


class _Died(BaseException):
    """The process ends here."""


class Machine:
    """One folder, and a process that dies at every tenth point it passes."""

    def __init__(self, seed: int, deaths: float = 0.1) -> None:
        self.random = Random(seed)
        self._deaths = deaths
        self.folder = SimFolder("w/journal", self.random, self._reached)
        self.journals = JournalFolder(self.folder)

    def _reached(self, point: str) -> None:
        del point
        if self.random.random() < self._deaths:
            raise _Died


def _batch(number: int) -> JournalEntry:
    start, end = at(10 * number - 10), at(10 * number)
    return entry_of(BatchJob(TASK.task_id, 7, number, TASK.spec, start, end, ()))


def _live(machine: Machine, acknowledged: list[int]) -> None:
    """Open the journal, look that it holds what was acknowledged, and write until the end."""
    journal = machine.journals.open(TASK)
    if journal is None:
        assert acknowledged == []
        journal = machine.journals.create(TASK, 7)
    numbers = [entry.number for entry in journal.held.entries]
    assert numbers[: len(acknowledged)] == acknowledged
    assert len(numbers) <= len(acknowledged) + 1, "one line more was under way at the most"
    acknowledged[:] = numbers
    for _ in range(20):
        if len(acknowledged) > 3 and machine.random.random() < 0.2:
            dropped = acknowledged.pop()  # from here on it may be there, or not
            journal.drop_tail(1)
            assert dropped not in [entry.number for entry in journal.held.entries]
        else:
            number = len(acknowledged) + 1
            journal.append(_batch(number))
            acknowledged.append(number)


@pytest.mark.parametrize("seed", range(2))
def test_what_the_journal_acknowledged_is_there_after_any_crash_and_power_loss(seed: int) -> None:
    """Source: protocol rule P20."""
    machine, acknowledged = Machine(seed), list[int]()
    torn = 0
    for _ in range(LIVES):
        try:
            _live(machine, acknowledged)
        except _Died:
            if machine.random.random() < 0.5:
                machine.folder.power_lost()
        content = machine.folder.read(NAME) or b""
        torn += not content.endswith(b"\n")
    assert torn > LIVES / 50, "lines were torn"


def test_without_a_sync_a_power_loss_takes_any_part() -> None:
    left = set()
    for seed in range(60):
        machine = Machine(seed, deaths=0.0)
        journal = machine.journals.create(TASK, 7)
        with machine.folder.open(NAME) as file:
            line = b"x" * 16 + b" {}\n"
            while line:  # and no sync
                line = line[file.write(line) :]
        before = machine.folder.durable[NAME]
        machine.folder.power_lost()
        content = machine.folder.read(NAME)
        assert content is not None
        assert content.startswith(before)
        left.add(content[len(before) :])
        assert journal.held.entries == ()
    assert len(left) > 10
    assert any(b"\0" in part for part in left), "blocks of zeros"
    assert any(part.endswith(b"\0\n") for part in left), "that end in a newline"


def test_a_name_that_is_not_synced_may_be_the_old_one() -> None:
    survives = set()
    for seed in range(20):
        machine = Machine(seed, deaths=0.0)
        machine.journals.create(TASK, 7).append(_batch(1))
        machine.folder.delete(NAME)
        machine.folder.power_lost()
        survives.add(NAME in machine.folder.names())
    assert survives == {True, False}


def test_a_full_disk_takes_nothing_and_the_journal_stays_whole() -> None:
    machine = Machine(1, deaths=0.0)
    journal = machine.journals.create(TASK, 7)
    journal.append(_batch(1))
    machine.folder.full = True
    with pytest.raises(OSError, match="no space"):
        journal.append(_batch(2))
    machine.folder.full = False
    journal.append(_batch(2))
    batches = read_lines(machine.folder.durable[NAME]).batches
    assert [(batch.number, dict(batch.end)) for batch in batches] == [(1, at(10)), (2, at(20))]
    assert [path for batch in batches for path in batch.files] == [
        file.path for number in (1, 2) for file in _batch(number).files
    ]


def test_damage_before_the_last_line_is_no_crash() -> None:
    machine = Machine(1, deaths=0.0)
    journal = machine.journals.create(TASK, 7)
    journal.append(_batch(1))
    with machine.folder.open(NAME) as file:
        file.truncate(len(machine.folder.durable[NAME]) - 5)
        write_all(file, b"\nnoise\n")
    with pytest.raises(JournalDamaged):
        machine.journals.open(TASK)
