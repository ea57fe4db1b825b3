"""Executions under crashes: no seed finds anything.

`python -m tests.simulation --executions` runs any number of seeds.
"""

import pytest

from tests.simulation.command import simulate
from tests.supervisor.core.crashes.run import run_seed

FAST = 20
"""The first ones belong to the fast tests."""
SEEDS = 120
"""So many belong to every other run."""
OF_FINDINGS = (103, 280, 650, 847, 869, 1014, 1021, 1705)
"""Seeds that have found something, also in the simulation itself."""
_SHARE = 20


def _broken(seeds: range | tuple[int, ...]) -> list[str]:
    return [f"seed {seed}: {one}" for seed in seeds for one in run_seed(seed).violations]


def test_none_of_the_first_seeds_breaks_a_rule() -> None:
    """`python -m tests.simulation --executions --trace SEED` repeats what fails here."""
    assert _broken(range(FAST)) == []


def test_no_seed_that_has_found_something_finds_it_again() -> None:
    assert _broken(OF_FINDINGS) == []


@pytest.mark.seeds
@pytest.mark.parametrize("first", range(FAST, SEEDS, _SHARE))
def test_none_of_the_next_seeds_breaks_a_rule(first: int) -> None:
    assert _broken(range(first, first + _SHARE)) == []


def test_a_seed_always_gives_the_same() -> None:
    lines: list[list[str]] = [[], []]

    outcomes = [run_seed(7, on_line=one.append) for one in lines]

    assert outcomes[0] == outcomes[1]
    assert lines[0] == lines[1]


def test_a_seed_has_faults_and_work() -> None:
    outcomes = [run_seed(seed) for seed in range(5)]

    assert sum(outcome.executions for outcome in outcomes) >= 15
    assert sum(outcome.effects for outcome in outcomes) >= 15
    assert sum(outcome.faults.total() for outcome in outcomes) >= 100
    assert sum(len(outcome.crash_points) for outcome in outcomes) >= 30


@pytest.mark.process
def test_the_command_counts_what_its_seeds_came_to() -> None:
    done = simulate("--executions", "--first", "40", "--seeds", "3", "--jobs", "1")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("3 seeds, ")
    assert done.stdout.splitlines()[-1].endswith(", 0 violations")
