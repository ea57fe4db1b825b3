"""The numbers of a worker's lives, and what each leaves for the next."""

from pathlib import Path

from tasks.contract.messages import SyncRequest
from tasks.worker.incarnations import END_MAX, WITHOUT_A_WORD, begin_life


def test_an_incarnation_is_higher_than_every_one_before(tmp_path: Path) -> None:
    """Goal: also when the clock was set back."""
    times = (1_000, 2_000, 5, 2_001, 2_500)

    drawn = [begin_life(tmp_path, unix_ms).incarnation for unix_ms in times]

    assert drawn == [1_000, 2_000, 2_001, 2_002, 2_500]


def test_a_life_that_was_cut_off_is_told_from_one_that_ended(tmp_path: Path) -> None:
    """Source: faults.md B12: a process that is killed can leave no word."""
    first = begin_life(tmp_path, 1)
    second = begin_life(tmp_path, 2)
    second.end("stopped")
    third = begin_life(tmp_path, 3)

    assert [first.previous_end, second.previous_end, third.previous_end] == [
        "",
        WITHOUT_A_WORD,
        "stopped",
    ]


def test_a_long_reason_still_fits_into_a_sync(tmp_path: Path) -> None:
    begin_life(tmp_path, 1).end("ä" * 2 * END_MAX)

    reason = begin_life(tmp_path, 2).previous_end

    assert len(reason) == END_MAX
    SyncRequest(
        worker_id="w", incarnation=2, sequence=1, url="http://w", slots=1, previous_end=reason
    )


def test_a_reason_that_cannot_be_kept_ends_nobody(tmp_path: Path) -> None:
    life = begin_life(tmp_path, 1)
    (tmp_path / "last-end").unlink()
    (tmp_path / "last-end").mkdir()

    life.end("stopped")
