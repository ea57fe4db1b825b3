"""The command of long runs: it goes on where it was, and its verdict is of the whole."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.simulation.__main__ import command_line
from tests.supervisor.core.crashes import command, mutants
from tests.supervisor.core.crashes.run import ExecutionsOutcome

_RUN = ("--executions", "--world", "model", "--seeds", "6", "--jobs", "1")


def main(arguments: list[str]) -> int:
    """Run the command as the simulation does."""
    return command.main(command_line().parse_args(arguments))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that were run; 3 is violated, and the process is ended before 4."""
    seeds: list[int] = []

    def outcomes(world: str, some: Sequence[int], _: int) -> Iterator[ExecutionsOutcome]:
        assert world == "model"
        for seed in some:
            if seed == 4 and 4 not in seeds:
                seeds.append(4)
                raise KeyboardInterrupt
            seeds.append(seed)
            violations = ("X3: bad",) if seed == 3 else ()
            yield ExecutionsOutcome(seed, violations, Counter(death=2), executions=2)

    monkeypatch.setattr(command, "outcomes", outcomes)
    return seeds


def test_an_interrupted_run_says_where_and_goes_on_there(
    ran: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = ("--notes", str(tmp_path / "notes.json"))
    with pytest.raises(KeyboardInterrupt):
        main([*_RUN, *notes])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "model: 4 of 6 seeds, 1 violations; the next one is 4"

    assert main([*_RUN, *notes]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert ran == [0, 1, 2, 3, 4, 4, 5]
    assert printed[:2] == ["model: seed 3: X3: bad", "model: goes on behind 4 seeds"]
    assert printed[-1].startswith("model: 6 seeds, 12 faults, 12 executions, ")
    assert printed[-1].endswith(", 1 violations")
    assert main([*_RUN, *notes]) == 1, "what is done is not run again"
    assert len(ran) == 7


def test_notes_of_another_run_are_refused(
    ran: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.json"
    assert main([*_RUN[:-3], "2", "--jobs", "1", "--notes", str(path)]) == 0
    assert main([*_RUN, "--notes", str(path)]) == 2
    assert "is of" in capsys.readouterr().out.splitlines()[-1]
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "of": {**kept["of"], "commit": "other"}}))
    assert main([*_RUN[:-3], "2", "--jobs", "1", "--notes", str(path)]) == 2
    assert ran == [0, 1]


def test_mistakes_that_were_hunted_are_not_hunted_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hunted: list[str] = []

    def hunts(names: Sequence[str], _: Sequence[int], __: int) -> Iterator[tuple[str, int, str]]:
        for name in names:
            if len(hunted) == 3:
                raise KeyboardInterrupt
            hunted.append(name)
            yield name, 1, "X1"

    monkeypatch.setattr(mutants, "hunts", hunts)
    wanted = ("--executions", "--mutants", "--world", "topics", "--jobs", "1", "--seeds", "9")
    notes = ("--notes", str(tmp_path / "notes.json"))
    with pytest.raises(KeyboardInterrupt):
        main([*wanted, *notes])
    first = list(hunted)
    hunted[:] = [""]  # from now on two more may be hunted
    with pytest.raises(KeyboardInterrupt):
        main([*wanted, *notes])

    assert set(hunted).isdisjoint(first)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| topics")]
    assert len(rows) == 3 + 5
