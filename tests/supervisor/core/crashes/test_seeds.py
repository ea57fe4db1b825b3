"""Executions under crashes, in each world: no seed finds anything.

`python -m tests.simulation --executions` runs any number of seeds.
"""

import pytest

from tests.simulation.command import simulate
from tests.supervisor.core.crashes.worlds import WORLDS, ExecutionWorld, run_in

FAST = {"model": 20, "sql": 5, "topics": 20}
"""World -> the first ones, which belong to the fast tests."""
SEEDS = {"model": 200, "sql": 125, "topics": 200}
"""World -> so many belong to every other run; a minute on two cores."""
OF_FINDINGS = {
    "model": (103, 280, 650, 847, 869, 1014, 1021, 1705, 9518),
    "sql": (111, 183, 553),
    "topics": (893, 3109),
}
"""Seeds that have found something, also in the simulation itself."""
_SHARE = 20


def _broken(world: str, seeds: range | tuple[int, ...]) -> list[str]:
    return [f"seed {seed}: {one}" for seed in seeds for one in run_in(world, seed).violations]


@pytest.mark.parametrize("world", FAST)
def test_none_of_the_first_seeds_breaks_a_rule(world: str) -> None:
    """`python -m tests.simulation --executions --world WORLD --trace SEED` repeats it."""
    assert _broken(world, range(FAST[world])) == []


@pytest.mark.parametrize("world", OF_FINDINGS)
def test_no_seed_that_has_found_something_finds_it_again(world: str) -> None:
    assert _broken(world, OF_FINDINGS[world]) == []


@pytest.mark.seeds
@pytest.mark.parametrize(
    ("world", "first"),
    [(world, first) for world in SEEDS for first in range(FAST[world], SEEDS[world], _SHARE)],
)
def test_none_of_the_next_seeds_breaks_a_rule(world: str, first: int) -> None:
    assert _broken(world, range(first, first + _SHARE)) == []


@pytest.mark.parametrize("world", FAST)
def test_a_seed_always_gives_the_same(world: str) -> None:
    lines: list[list[str]] = [[], []]

    outcomes = [run_in(world, 7, one.append) for one in lines]

    assert outcomes[0] == outcomes[1]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_seed_has_faults_and_work(world: ExecutionWorld) -> None:
    outcomes = [run_in(world.name, seed) for seed in range(5)]

    assert sum(outcome.executions for outcome in outcomes) >= 15
    assert sum(outcome.effects for outcome in outcomes) >= 15
    assert sum(outcome.faults.total() for outcome in outcomes) >= 50
    assert len({point for outcome in outcomes for point in outcome.crash_points}) >= 8


@pytest.mark.process
def test_the_command_counts_what_its_seeds_came_to() -> None:
    done = simulate("--executions", "--first", "40", "--seeds", "2", "--jobs", "1")

    assert done.returncode == 0, done.stdout + done.stderr
    last = [line for line in done.stdout.splitlines() if " seeds, " in line]
    assert [line.partition(" ")[0] for line in last] == ["model:", "sql:", "topics:"]
    assert all(line.endswith(", 0 violations") for line in last)
