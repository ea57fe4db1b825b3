"""The spool: each record comes out once in its order, over restarts; what is lost is counted."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tasks.sending.spool import Spool, SpoolBatch, SpoolBounds

SMALL = SpoolBounds(file_bytes=100, total_bytes=100_000)


def _all_of(spool: Spool) -> list[bytes]:
    taken: list[bytes] = []
    while (batch := spool.next(64)).records or batch.damaged:
        taken += batch.records
        spool.sent(batch)
    return taken


def _records(*numbers: int) -> list[bytes]:
    return [b'{"seq": %d}' % number for number in numbers]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spool"


class Lives(RuleBasedStateMachine):
    """A spool that is appended to, read and sent, and whose process dies at any time."""

    def __init__(self) -> None:
        super().__init__()
        self._temporary = TemporaryDirectory()
        self.folder = Path(self._temporary.name) / "spool"
        self.spool = Spool(self.folder, SMALL)
        self.waiting: list[bytes] = []
        self.seq = 0
        self.batch: SpoolBatch | None = None

    def teardown(self) -> None:
        """Remove the files."""
        self._temporary.cleanup()

    @rule(number=st.integers(1, 9))
    def append(self, number: int) -> None:
        records = _records(*range(self.seq, self.seq + number))
        self.seq += number
        assert self.spool.append(records) == number
        self.waiting += records

    @rule(size=st.integers(1, 200))
    def take(self, size: int) -> None:
        self.batch = self.spool.next(size)
        assert [*self.batch.records] == self.waiting[: len(self.batch.records)]
        assert bool(self.batch.records) == bool(self.waiting)

    @precondition(lambda self: self.batch is not None)
    @rule()
    def send(self) -> None:
        assert self.batch is not None
        self.spool.sent(self.batch)
        self.waiting = self.waiting[len(self.batch.records) :]
        self.batch = None

    @rule(breaks_off=st.booleans())
    def die(self, breaks_off: bool) -> None:
        self.batch = None
        if breaks_off:
            newest = max(self.folder.glob("*.spool"), default=None)
            if newest is not None:
                with newest.open("ab") as file:
                    file.write(b'0123abcd {"seq"')
        self.spool = Spool(self.folder, SMALL)

    @invariant()
    def nothing_is_lost(self) -> None:
        assert self.spool.lost_total == self.spool.refused_total == 0
        assert not self.waiting or self.spool.waiting_bytes > 0


TestLives = Lives.TestCase


def test_what_is_sent_leaves_the_disk(folder: Path) -> None:
    spool = Spool(folder, SMALL)
    spool.append(_records(*range(5)))
    spool.append(_records(*range(5, 10)))
    spool.append(_records(10))

    assert _all_of(spool) == _records(*range(11))

    assert spool.waiting_bytes == 0
    assert len([*folder.glob("*.spool")]) == 1
    assert _all_of(Spool(folder, SMALL)) == []


def test_a_damaged_line_costs_itself_alone_and_is_counted(folder: Path) -> None:
    Spool(folder).append(_records(1, 2, 3))
    [file] = folder.glob("*.spool")
    file.write_bytes(file.read_bytes().replace(b'"seq": 2', b'"seq": 9'))
    spool = Spool(folder)

    spool.next(1_000)
    assert _all_of(spool) == _records(1, 3)

    assert spool.damaged_total == 1


def test_a_full_spool_loses_its_oldest_records_and_counts_them(folder: Path) -> None:
    spool = Spool(folder, SpoolBounds(file_bytes=100, total_bytes=300))
    for number in range(30):
        assert spool.append(_records(number)) == 1

    rest = _all_of(spool)

    assert rest == _records(*range(30 - len(rest), 30))
    assert spool.lost_total == 30 - len(rest) > 0


def test_what_was_sent_is_not_counted_as_lost(folder: Path) -> None:
    spool = Spool(folder, SpoolBounds(file_bytes=100, total_bytes=300))
    for number in range(30):
        spool.append(_records(number))
        _all_of(spool)

    assert spool.lost_total == 0


def test_a_disk_that_takes_nothing_costs_the_records_and_says_how_many(folder: Path) -> None:
    spool = Spool(folder)
    (folder / "00000001.spool").mkdir()

    assert spool.append(_records(1, 2)) == 0

    assert spool.refused_total == 2
    (folder / "00000001.spool").rmdir()
    assert spool.append(_records(3)) == 1
    assert _all_of(spool) == _records(3)


@pytest.mark.parametrize("position", ["", "x y", "1", "99"])
def test_without_its_position_it_sends_again(folder: Path, position: str) -> None:
    """Goal: repeats, which the store knows by their ids, and no loss."""
    spool = Spool(folder)
    spool.append(_records(1))
    spool.sent(spool.next(1))
    spool.append(_records(2))
    (folder / "sent").write_text(position)

    assert _all_of(Spool(folder)) == _records(1, 2)


def test_a_folder_that_cannot_be_made_costs_the_records_and_no_start(folder: Path) -> None:
    """Goal: a worker whose disk became read-only starts, and runs its tasks."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file in its place")

    spool = Spool(folder)

    assert spool.append([b"one", b"two"]) == 0
    assert (spool.refused_total, spool.waiting_bytes) == (2, 0)
    assert spool.next(1_000).records == ()
