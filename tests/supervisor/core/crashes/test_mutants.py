"""Planted mistakes of executions: each changes something, is taken away, and can be found."""

import pytest

from tests.simulation.planted.patches import Make, Mutant, Patches
from tests.supervisor.core.crashes.mutants import MUTANTS, hunt, main

EVERY = [mutant for some in MUTANTS.values() for mutant in some]

QUICK = (
    "grant-to-everybody",
    "nothing-comes-after",
    "key-of-the-attempt",
    "slot-kept-by-who-is-killed",
    "no-takeover",
    "abort-without-going-back",
    "calls-before-the-commit",
    "run-before-the-grant",
    "lives-are-one",
    "drops-are-not-counted",
    "no-fence",
    "claims-are-not-stored",
    "coalesced-waits-for-nothing",
    "purge-takes-what-runs",
    "nobody-is-fenced",
    "calls-are-not-restored",
    "the-purge-leaves-task-runs",
)
"""Found within a few seeds, so that every run of the tests sees the checkers bite."""
_FEW = 10


class _Notes(Patches):
    """Notes what is replaced by what."""

    def __init__(self) -> None:
        super().__init__()
        self.replaced: list[tuple[object, object]] = []

    def method(self, owner: type, name: str, make: Make) -> None:
        old = owner.__dict__[name]
        super().method(owner, name, make)
        self.replaced.append((old, owner.__dict__[name]))


@pytest.mark.parametrize("mutant", EVERY, ids=lambda mutant: mutant.name)
def test_a_mistake_is_taken_away_whole(mutant: Mutant) -> None:
    before = _Notes()
    mutant.plant(before)
    before.undo()
    again = _Notes()
    mutant.plant(again)
    again.undo()

    assert [old for old, _ in again.replaced] == [old for old, _ in before.replaced]


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    assert len({mutant.name for mutant in EVERY}) == len(EVERY)
    assert len(MUTANTS["model"]) >= 25
    assert len(MUTANTS["sql"]) >= 25


@pytest.mark.parametrize("name", QUICK)
def test_the_simulation_finds_a_mistake(name: str) -> None:
    assert hunt(name, range(_FEW))[2]


def test_a_mistake_that_nobody_finds_is_not_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    harmless = Mutant("harmless", "-", "nothing is wrong", lambda _: None)
    monkeypatch.setattr("tests.supervisor.core.crashes.mutants.MUTANTS", {"model": (harmless,)})

    assert main(["model"], None, range(1), jobs=1) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 of 1 planted mistakes found"
