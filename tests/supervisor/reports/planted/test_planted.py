"""Planted faults of reports: each fits the code, is taken away whole, and names who finds it.

Slow: three planted faults are hunted by their tests, each in processes of its own.
"""

from pathlib import Path

import pytest

from tests.simulation.planted.finding import found_by_its_test
from tests.simulation.planted.patches import Mutant
from tests.simulation.planted.spying import check_fit
from tests.supervisor.reports.planted import __main__ as command
from tests.supervisor.reports.planted.faults import MUTANTS, PLUGIN, by_name

ROOT = Path(__file__).parents[4]
WANTED = {
    "commit past an unfinished write": "commit-past-unfinished",
    "index before fsync": "index-before-fsync",
    "dead letter without acknowledgement": "letter-without-acknowledgement",
    "`sent` before the acknowledgement": "sent-before-the-acknowledgement",
    "offset by message instead of tracker": "offset-by-message",
    "buffer without bound": "buffer-without-bound",
    "revoke without drain": "revoke-without-drain",
    "conflict as failure": "conflict-as-failure",
    "mismatch unnoticed": "mismatch-unnoticed",
}
"""Those that were asked for by name -> what ours are called."""
QUICK = ("offset-by-message", "dropped-uncounted", "conflict-as-failure")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_fits_the_code_and_is_taken_away_whole(mutant: Mutant) -> None:
    check_fit(mutant)


def test_all_that_were_asked_for_are_planted() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 12
    assert {mutant.name for mutant in MUTANTS} >= set(WANTED.values())


def test_each_fault_names_a_test_that_exists() -> None:
    for mutant in MUTANTS:
        file, _, test = mutant.direct.partition("::")
        assert f"def {test.partition('[')[0]}(" in (ROOT / file).read_text(), mutant.direct


@pytest.mark.process
@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_a_fault_is_found_by_its_test(name: str) -> None:
    assert found_by_its_test(by_name(name), PLUGIN)


def test_a_fault_that_nobody_finds_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "found_by_its_test", lambda *_: False)
    assert command.main(["--only", QUICK[0]]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == "0 of 1 planted faults found"
    assert out[2].endswith("| **nothing** |")
