"""`python -m tests.simulation --executions --mutants`: is each planted mistake found?"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from multiprocessing import get_context

from tests.simulation.planted.patches import Mutant
from tests.supervisor.core.crashes.notes import RunNotes
from tests.supervisor.core.crashes.planted import core, engine
from tests.supervisor.core.crashes.worlds import run_in
from tests.supervisor.executions.lives.planted import engine as sql_engine
from tests.supervisor.executions.lives.planted import starts
from tests.supervisor.executions.topics import planted as topics

MUTANTS: Mapping[str, tuple[Mutant, ...]] = {
    "model": (*core.MUTANTS, *engine.MUTANTS),
    "sql": (*sql_engine.MUTANTS, *starts.MUTANTS),
    "topics": topics.MUTANTS,
}
"""World -> what is planted into it."""
_MISFITS = ("AttributeError", "NameError", "TypeError")
"""What a replaced function raises whose neighbours have changed: the mistake was never tried."""


def by_name(name: str) -> tuple[str, Mutant]:
    """Return the world of one, and the mistake.

    Raises:
        KeyError: there is none of that name.
    """
    every = {one.name: (world, one) for world, some in MUTANTS.items() for one in some}
    return every[name]


def hunt(name: str, seeds: Sequence[int]) -> tuple[str, int, str]:
    """Return the name, how many seeds it took, and what was found; empty: nothing."""
    world, mutant = by_name(name)
    for number, seed in enumerate(seeds, start=1):
        with mutant.applied():
            violations = run_in(world, seed).violations
        if any(word in line for word in _MISFITS for line in violations):
            return name, number, ""
        if violations and not run_in(world, seed).violations:
            return name, number, violations[0].strip().splitlines()[-1][:100]
    return name, len(seeds), ""


def hunts(names: Sequence[str], seeds: Sequence[int], jobs: int) -> Iterator[tuple[str, int, str]]:
    """Hunt several in so many processes; in order."""
    if jobs <= 1:
        yield from (hunt(name, seeds) for name in names)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(partial(hunt, seeds=seeds), names)


def main(
    worlds: Sequence[str],
    only: str | None,
    seeds: Sequence[int],
    jobs: int,
    notes: RunNotes | None = None,
) -> int:
    """Hunt each, print what found it as a table; 0 only if every one was found.

    Those of which `notes` know already are not hunted again.
    """
    names = [only] if only else [one.name for world in worlds for one in MUTANTS[world]]
    notes, caught = notes or RunNotes(), 0
    _print("| world | planted | what it does | seeds | found by |")
    _print("|---|---|---|---|---|")
    known = [(name, *notes.hunts[name]) for name in names if name in notes.hunts]
    left = [name for name in names if name not in notes.hunts]
    for name, number, by in chain(known, hunts(left, seeds, jobs)):
        notes.hunts[name] = number, by
        notes.save()
        caught += bool(by)
        world, mutant = by_name(name)
        found_by = by or "**nothing**"
        _print(f"| {world} | `{name}` | {mutant.story} | {number} | {found_by} |")
    _print(f"{caught} of {len(names)} planted mistakes found")
    return 0 if caught == len(names) else 1


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
