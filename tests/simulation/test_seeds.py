"""The product under a simulated clock, network, disk and Kafka (P26): no seed finds anything.

Slow: it runs hundreds of seeds, each an hour of faults; `scripts/prove` runs 10,000.
"""

import re

import pytest

from tests.simulation import corpus
from tests.simulation.command import simulate
from tests.simulation.run import FAULTS, HANDOFFS, run_seed

SEEDS = 300
FAST = 20
"""The first ones, and those of the corpus, belong to the fast tests."""
QUICK = 60
"""So many of the first ones belong to every run but that of the fast tests."""
SHARE = 40
"""Seeds of a test: small enough for the processes to come to their ends together."""
_FIRST = corpus.before(range(FAST))
_NEXT = [seed for seed in range(FAST, QUICK) if seed not in _FIRST]
_STEP = 8


def _broken(seeds: list[int]) -> list[str]:
    violations = []
    for seed in seeds:
        outcome = run_seed(seed)
        violations += [f"seed {seed}: {violation}" for violation in outcome.violations]
        if outcome.handoffs < HANDOFFS or outcome.faults < FAULTS:
            violations.append(f"seed {seed}: {outcome.handoffs} handoffs, {outcome.faults} faults")
    return violations


@pytest.mark.parametrize("first", range(0, len(_FIRST), _STEP))
def test_none_of_the_first_seeds_breaks_an_invariant(first: int) -> None:
    """Source: P26; `python -m tests.simulation --trace SEED` repeats what fails here."""
    assert _broken(_FIRST[first : first + _STEP]) == []


@pytest.mark.seeds
@pytest.mark.parametrize("first", range(0, len(_NEXT), _STEP))
def test_none_of_the_next_seeds_breaks_an_invariant(first: int) -> None:
    """Source: P26; with the first ones these are sixty, and the corpus."""
    assert _broken(_NEXT[first : first + _STEP]) == []


@pytest.mark.seeds
@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(QUICK, SEEDS, SHARE))
def test_no_seed_breaks_an_invariant(first: int) -> None:
    """Source: P26; `python -m tests.simulation --trace SEED` repeats what fails here."""
    assert _broken(list(range(first, min(first + SHARE, SEEDS)))) == []


@pytest.mark.process
def test_the_command_counts_what_its_seeds_came_to() -> None:
    """In processes side by side: the corpus first, then the seeds that were asked for."""
    done = simulate("--first", "1000", "--seeds", "2", "--jobs", "2")
    *_, full, last = done.stdout.splitlines() or ["", ""]
    counted = re.fullmatch(r"(\d+) seeds, .* 0 violations", last)
    assert counted is not None, done.stdout + done.stderr
    assert int(counted[1]) == len(corpus.seeds()) + 2
    assert full == f"{counted[1]} seeds with 3 handoffs and 20 faults or more"
    assert done.returncode == 0
