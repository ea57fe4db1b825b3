"""Planted faults: each one changes the product, is taken away again, and names who finds it.

Slow: three planted faults are hunted with seeds, and three by tests in processes.
"""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from supervisor.control import publish as publishing
from supervisor.core.planning import publish
from tests.simulation import mutants
from tests.simulation.mutants import (
    MUTANTS,
    Hunt,
    by_name,
    hunt,
    main,
    table,
)
from tests.simulation.planted.finding import found_by_its_test
from tests.simulation.planted.patches import Mutant
from tests.simulation.planted.spying import Spy, check_fit

ROOT = Path(__file__).parents[2]
WANTED = {f"M{number}" for number in range(1, 14)}
"""The faults of the pilot; each is among ours."""
PROPOSED = {
    "stale command accepted (R2)": "stale-command-accepted",
    "range done on == (R10)": "done-on-equal",
    "auto.offset.reset=earliest (R9)": "lost-records-skipped",
    "topic id not compared (R13)": "topic-id-not-compared",
    "unbounded pause (R12)": "unbounded-pause",
    "publish without the outcome row (R5)": "no-outcome-row",
    "new partition starts at latest (E8)": "new-partition-at-latest",
    "reset does not bump the generation (H7)": "reset-keeps-the-epoch",
    "terminal state overwritten (E21)": "terminal-state-overwritten",
    "set-end below the read position accepted (C9)": "end-below-the-position-accepted",
    "journal before fsync": "journal-before-fsync",
    "publish before fsync": "publish-before-fsync",
}
"""Those proposed after it, with the two of P27's own -> what ours are called."""
QUICK = ("empty-end-persisted", "successor-at-start", "set-end-without-resume")
"""Found within a few seeds, so that every run of the tests sees the checkers bite."""
FEW = 40


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_replaces_something_and_is_taken_away_whole(mutant: Mutant) -> None:
    check_fit(mutant)


def test_a_replaced_function_is_replaced_wherever_it_was_imported() -> None:
    """`from … import judge` copies the name; the copy is meant too."""
    before = vars(publishing)["judge"]
    with by_name("repeat-is-refused").applied():
        assert vars(publishing)["judge"] is not before
        assert vars(publishing)["judge"] is vars(publish)["judge"]
    assert vars(publishing)["judge"] is before


def test_there_are_at_least_25_faults_and_all_of_the_pilot() -> None:
    """Source: P27."""
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25
    named = {word for mutant in MUTANTS for word in mutant.rule.replace(",", "").split()}
    assert named >= WANTED


def test_every_fault_that_was_proposed_is_planted() -> None:
    """Source: P27; the rule that a proposal names is a rule of the fault."""
    for proposal, name in PROPOSED.items():
        rule = proposal.partition("(")[2].rstrip(")")
        assert rule in by_name(name).rule, proposal


def test_a_fault_that_changes_a_stand_in_of_the_simulation_says_so() -> None:
    """Goal: nobody takes a fault of the simulation's own disk or Kafka for one of the product."""
    stand_ins = (
        "tests.simulation.processes.engine",
        "tests.simulation.world.kafka",
        "tests.simulation.world.disk",
        "tests.simulation.world.folder",
    )
    for mutant in MUTANTS:
        spy = Spy()
        mutant.plant(spy)
        spy.undo()
        owners = {getattr(old, "__module__", "") for old, _ in spy.replaced}
        owners |= {getattr(getattr(old, "fget", None), "__module__", "") for old, _ in spy.replaced}
        assert bool(mutant.stand_in) == bool(owners.intersection(stand_ins)), mutant.name


@pytest.mark.process
@pytest.mark.long
@pytest.mark.parametrize("name", ["journal-before-fsync", "publish-before-fsync"])
def test_a_fault_of_a_stand_in_is_found_on_the_real_path_as_well(name: str) -> None:
    """Source: P20; the others need a broker or Spark, `--mutants` runs them."""
    assert found_by_its_test(by_name(name))


def test_a_fault_of_a_stand_in_counts_as_found_only_if_its_test_finds_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mutants, "found_by_its_test", lambda _: False)
    assert not hunt("journal-before-fsync", range(FEW)).found_by


def test_a_fault_that_is_covered_names_the_cover_and_a_test_that_exists() -> None:
    for mutant in MUTANTS:
        assert bool(mutant.direct) == bool(mutant.covered_by or mutant.stand_in), mutant.name
        assert bool(mutant.real) == bool(mutant.stand_in), mutant.name
        if mutant.direct:
            file, _, test = mutant.direct.partition("::")
            assert f"def {test}(" in (ROOT / file).read_text(), mutant.direct


@pytest.mark.process
@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_the_simulation_finds_a_fault(name: str) -> None:
    assert hunt(name, range(FEW)).found_by


@pytest.mark.process
@pytest.mark.long
def test_a_direct_test_fails_with_the_fault_in_place_and_only_then() -> None:
    assert found_by_its_test(by_name("done-on-equal"))


@pytest.mark.process
@pytest.mark.long
def test_a_test_that_does_not_see_the_fault_does_not_count() -> None:
    """The test of another defence passes with this fault in place."""
    blind = by_name("done-on-equal").direct
    seen = by_name("nearest-end")
    assert not found_by_its_test(
        Mutant(seen.name, seen.rule, seen.story, seen.plant, seen.covered_by, blind)
    )


@pytest.mark.seeds  # those of the corpus
def test_a_fault_that_nobody_finds_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    harmless = Mutant("harmless", "-", "nothing is wrong", lambda _: None)
    monkeypatch.setattr(mutants, "MUTANTS", (harmless,))
    assert main(Namespace(seeds=0, first=0, jobs=1, only=None)) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 of 1 planted faults found"


@pytest.mark.process
@pytest.mark.long
def test_the_command_names_the_fault_the_rule_and_who_found_it() -> None:
    command = [sys.executable, "-m", "tests.simulation", "--mutants", "--only", QUICK[0]]
    done = subprocess.run(
        [*command, "--seeds", str(FEW)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[-1] == "1 of 1 planted faults found"
    assert all(word in lines[1] for word in (QUICK[0], "R4", "I11"))
    assert lines[-3].startswith(f"| `{QUICK[0]}` | a range without a single offset is fixed")


def test_the_table_says_for_each_fault_what_it_does_and_what_finds_it() -> None:
    covered, open_, other = (by_name(n) for n in ("weak-cas", "no-cas", "journal-before-fsync"))
    hunts = [Hunt(covered, covered.direct), Hunt(open_, "I1", 3), Hunt(open_, "I1", 1)]
    hunts.append(Hunt(other, "I2", 2))
    head, line, *rows = table([*hunts, Hunt(open_, "", 40)])
    assert head.count("|") == line.count("|") == 5
    table_cells = [row.split(" | ") for row in rows]
    assert {len(cells) for cells in table_cells} == {4}
    assert table_cells[0][0] == "| `weak-cas`"
    assert table_cells[0][1:3] == [covered.story, covered.rule]
    finders = [cells[3].removesuffix(" |") for cells in table_cells]
    assert finders[0].startswith("`test_the_swap_alone_takes_ranges_in_their_order_only`")
    assert finders[0].endswith(covered.covered_by)
    assert finders[1:3] == ["simulation, 3 seeds", "simulation, 1 seed"]
    assert finders[3].endswith("`; simulation, 2 seeds, in a stand-in: the sync of files")
    assert finders[4:] == ["**nothing**"]
