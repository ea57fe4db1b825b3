"""`python -m tests.simulation --executions`: run seeds, or planted mistakes, and say what came."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import get_context

from tests.supervisor.core.crashes import mutants
from tests.supervisor.core.crashes.run import ExecutionsOutcome, run_seed

CRASH_POINTS = frozenset(
    {
        "relay: outbox",
        "relay: send",
        "relay: mark",
        "relay: purge",
        "relay: purge rows",
        "sequencer: takeover",
        "sequencer: restore",
        "sequencer: reduce",
        "sequencer: produce",
        "sequencer: produce the rest",
        "sequencer: commit",
        "sequencer: know",
        "runner: claim",
        "runner: grant",
        "runner: run",
        "runner: effect",
        "runner: result",
        "runner: look",
        "runner: mark the offset",
        "projector: project",
        "projector: projected",
    }
)
"""Where processes have to die in many seeds."""
FULL_SEEDS = 300
"""With so many seeds each crash point has to be hit."""


def main(args: argparse.Namespace) -> int:
    """Return 0 only if nothing was violated, and with many seeds each crash point was hit.

    `args`: `seeds`, `first`, `jobs`, `trace`, `mutants` and `only`, as the command has them.
    """
    seeds = range(args.first, args.first + args.seeds)
    if args.mutants:
        return mutants.main(args.only, seeds, args.jobs)
    if args.trace is not None:
        outcome = run_seed(args.trace, on_line=_print)
        for violation in outcome.violations:
            _print(f"VIOLATED {violation}")
        return 1 if outcome.violations else 0
    return _many(seeds, args.jobs)


def _many(seeds: Sequence[int], jobs: int) -> int:
    began, violations = time.monotonic(), 0
    faults, points, drops = Counter[str](), Counter[str](), Counter[str]()
    executions = steps = effects = 0
    for outcome in outcomes(seeds, jobs):
        violations += len(outcome.violations)
        for violation in outcome.violations:
            _print(f"seed {outcome.seed}: {violation}")
        faults += outcome.faults
        points += outcome.crash_points
        drops += outcome.drops
        executions += outcome.executions
        steps += outcome.steps
        effects += outcome.effects
    missed = sorted(CRASH_POINTS - points.keys()) if len(seeds) >= FULL_SEEDS else []
    _print(f"dropped: {_listed(drops)}")
    _print(f"faults: {_listed(faults)}")
    _print(f"died before: {_listed(points)}")
    if missed:
        _print(f"nothing died before: {', '.join(missed)}")
    _print(f"{time.monotonic() - began:.0f} s, {jobs} processes")
    _print(
        f"{len(seeds)} seeds, {faults.total()} faults, {executions} executions, {steps} steps, "
        f"{effects} calls, {violations} violations"
    )
    return 1 if violations or missed else 0


def outcomes(seeds: Sequence[int], jobs: int) -> Iterator[ExecutionsOutcome]:
    """Run seeds in so many processes; in order."""
    if jobs <= 1:
        yield from map(run_seed, seeds)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(run_seed, seeds, chunksize=8)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
