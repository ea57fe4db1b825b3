"""`python -m tests.simulation --executions`: run seeds, or planted mistakes, and say what came."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import get_context

from tests.supervisor.core.crashes import mutants
from tests.supervisor.core.crashes.run import ExecutionsOutcome
from tests.supervisor.core.crashes.worlds import WORLDS, ExecutionWorld, run_in, world_of

FULL_SEEDS = 300
"""With so many seeds each crash point has to be hit."""


def main(args: argparse.Namespace) -> int:
    """Return 0 only if nothing was violated, and with many seeds each crash point was hit.

    `args`: `seeds`, `first`, `jobs`, `world`, `trace`, `mutants` and `only`, as the command has
    them.  Each of the wanted worlds runs all the seeds.
    """
    seeds = range(args.first, args.first + args.seeds)
    wanted = [one for one in WORLDS if args.world in (one.name, "all")]
    if args.mutants:
        return mutants.main([one.name for one in wanted], args.only, seeds, args.jobs)
    if args.trace is not None:
        outcome = run_in(wanted[0].name, args.trace, _print)
        for violation in outcome.violations:
            _print(f"VIOLATED {violation}")
        return 1 if outcome.violations else 0
    return max(_many(one, seeds, args.jobs) for one in wanted)


def _many(world: ExecutionWorld, seeds: Sequence[int], jobs: int) -> int:
    began, violations = time.monotonic(), 0
    faults, points, drops = Counter[str](), Counter[str](), Counter[str]()
    executions = steps = effects = 0
    for outcome in outcomes(world.name, seeds, jobs):
        violations += len(outcome.violations)
        for violation in outcome.violations:
            _print(f"{world.name}: seed {outcome.seed}: {violation}")
        faults += outcome.faults
        points += outcome.crash_points
        drops += outcome.drops
        executions += outcome.executions
        steps += outcome.steps
        effects += outcome.effects
    missed = sorted(world.crash_points - points.keys()) if len(seeds) >= FULL_SEEDS else []
    if drops:
        _print(f"dropped: {_listed(drops)}")
    _print(f"faults: {_listed(faults)}")
    _print(f"died before: {_listed(points)}")
    if missed:
        _print(f"nothing died before: {', '.join(missed)}")
    _print(f"{time.monotonic() - began:.0f} s, {jobs} processes")
    _print(
        f"{world.name}: {len(seeds)} seeds, {faults.total()} faults, {executions} executions, "
        f"{steps} steps, {effects} calls, {violations} violations"
    )
    return 1 if violations or missed else 0


def outcomes(world: str, seeds: Sequence[int], jobs: int) -> Iterator[ExecutionsOutcome]:
    """Run seeds of a world in so many processes; in order."""
    if jobs <= 1:
        yield from (run_in(world, seed) for seed in seeds)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(partial(run_in, world_of(world).name), seeds, chunksize=8)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
