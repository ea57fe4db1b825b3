"""`python -m tests.simulation --executions --mutants`: is each planted mistake found?"""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import get_context

from tests.simulation.planted.patches import Mutant
from tests.supervisor.core.crashes.planted import core, engine
from tests.supervisor.core.crashes.run import run_seed

MUTANTS: tuple[Mutant, ...] = (*core.MUTANTS, *engine.MUTANTS)
_MISFITS = ("AttributeError", "NameError", "unexpected keyword", "positional argument")
"""What a replaced function raises whose neighbours have changed: the mistake was never tried."""


def by_name(name: str) -> Mutant:
    """Return one.

    Raises:
        KeyError: there is none of that name.
    """
    return {mutant.name: mutant for mutant in MUTANTS}[name]


def hunt(name: str, seeds: Sequence[int]) -> tuple[str, int, str]:
    """Return the name, how many seeds it took, and what was found; empty: nothing."""
    mutant = by_name(name)
    for number, seed in enumerate(seeds, start=1):
        with mutant.applied():
            violations = run_seed(seed).violations
        if any(word in line for word in _MISFITS for line in violations):
            return name, number, ""
        if violations and not run_seed(seed).violations:
            return name, number, violations[0].strip().splitlines()[-1][:100]
    return name, len(seeds), ""


def hunts(names: Sequence[str], seeds: Sequence[int], jobs: int) -> Iterator[tuple[str, int, str]]:
    """Hunt several in so many processes; in order."""
    if jobs <= 1:
        yield from (hunt(name, seeds) for name in names)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(partial(hunt, seeds=seeds), names)


def main(only: str | None, seeds: Sequence[int], jobs: int) -> int:
    """Hunt each, print what found it as a table; 0 only if every one was found."""
    names = [only] if only else [mutant.name for mutant in MUTANTS]
    caught = 0
    lines = ["| planted | what it does | seeds | found by |", "|---|---|---|---|"]
    for name, number, by in hunts(names, seeds, jobs):
        caught += bool(by)
        lines.append(f"| `{name}` | {by_name(name).story} | {number} | {by or '**nothing**'} |")
    for line in (*lines, f"{caught} of {len(names)} planted mistakes found"):
        sys.stdout.write(f"{line}\n")
    return 0 if caught == len(names) else 1
