"""Files of results: what was kept is read after a crash, and damage costs nothing beside it."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.adapters.executions.result_files import ResultFiles
from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import Report, Succeeded
from supervisor.ports.flows.results import ResultsFull, WaitingResult


def _result(name: str, size: int = 10, life: str = "a") -> WaitingResult:
    done = Report("ab12", 1, Succeeded({"body": "x" * size}), Runner("one", life))
    return WaitingResult(name, done)


E1, E2, E3 = _result("e1"), _result("e2"), _result("e3")


@pytest.fixture
def first(tmp_path: Path) -> Iterator[ResultFiles]:
    """The files of a life."""
    files = ResultFiles(tmp_path / "one", "a", bytes_max=2_000)
    assert list(files.open()) == []
    yield files
    files.close()


def _killed(files: ResultFiles) -> None:
    """End the process that has them: the system closes its files."""
    for file in files._files:
        os.close(file.number)
    files._files = []


def _next(tmp_path: Path, life: str = "b") -> ResultFiles:
    return ResultFiles(tmp_path / "one", life, bytes_max=2_000)


def _bytes(tmp_path: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in sorted((tmp_path / "one").iterdir())}


def test_the_next_life_reads_what_the_one_before_has_kept(
    first: ResultFiles, tmp_path: Path
) -> None:
    first.put([E1, E2])
    first.put([E3])
    first.forget([E2])
    _killed(first)

    second = _next(tmp_path)
    left = list(second.open())
    assert [one for one in left if one != E2] == [E1, E3], "one that was taken may come again"
    _killed(second)
    third = _next(tmp_path, "c")
    assert [one for one in third.open() if one != E2] == [E1, E3], "nobody has taken them"
    third.forget(left)

    assert _bytes(tmp_path) == {}
    third.close()


def test_a_life_that_goes_on_keeps_its_own(first: ResultFiles, tmp_path: Path) -> None:
    first.put([E1])

    second = _next(tmp_path)

    assert list(second.open()) == []
    second.put([E2])
    assert set(_bytes(tmp_path)) == {"a.results", "b.results"}
    second.close()


def test_nothing_is_left_of_what_was_taken(first: ResultFiles, tmp_path: Path) -> None:
    first.put([E1, E2])
    first.forget([E1, E2])

    assert _bytes(tmp_path) == {"a.results": 0}
    first.close()
    assert _bytes(tmp_path) == {}
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("cut", [1, 20])
def test_a_torn_line_loses_itself_alone(first: ResultFiles, tmp_path: Path, cut: int) -> None:
    first.put([E1, E2])
    _killed(first)
    file = tmp_path / "one" / "a.results"
    file.write_bytes(file.read_bytes()[:-cut])

    assert list(_next(tmp_path).open()) == [E1]


def test_a_damaged_line_loses_itself_alone(first: ResultFiles, tmp_path: Path) -> None:
    first.put([E1, E2, E3])
    _killed(first)
    file = tmp_path / "one" / "a.results"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)

    assert list(_next(tmp_path).open()) == [E1, E3]


def test_when_it_is_full_nothing_is_kept_until_something_was_taken(
    first: ResultFiles, tmp_path: Path
) -> None:
    large, more = _result("e4", 1_000), _result("e5", 1_000)
    first.put([large])
    with pytest.raises(ResultsFull, match="2,000 bytes"):
        first.put([E1, more])
    first.put([E1])
    first.forget([large])
    first.put([more])
    _killed(first)

    assert list(_next(tmp_path).open()) == [E1, more]


def test_what_former_lives_have_left_counts_too(first: ResultFiles, tmp_path: Path) -> None:
    first.put([_result("e4", 1_500)])
    _killed(first)
    second = _next(tmp_path)
    second.open()

    with pytest.raises(ResultsFull):
        second.put([_result("e5", 1_000)])
    second.close()


def test_a_full_disk_keeps_nothing_of_the_call_and_all_from_before(
    first: ResultFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first.put([E1])
    write = os.pwrite

    def half(number: int, body: bytes, at: int) -> int:
        if len(body) > 50:
            return write(number, bytes(body[:50]), at)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", half)
    with pytest.raises(ResultsFull, match="No space left"):
        first.put([E2])
    monkeypatch.undo()
    first.put([E3])
    _killed(first)

    assert list(_next(tmp_path).open()) == [E1, E3]


def test_a_folder_that_cannot_be_made_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("a file")

    with pytest.raises(ResultsFull, match="one"):
        _next(tmp_path).open()


def test_what_a_crash_left_of_a_new_file_is_deleted(first: ResultFiles, tmp_path: Path) -> None:
    first.put([E1])
    _killed(first)
    (tmp_path / "one" / "a.new").write_bytes(b"half")

    second = _next(tmp_path)

    assert list(second.open()) == [E1]
    assert set(_bytes(tmp_path)) == {"a.results"}
    second.close()
