"""`python -m tests.simulation --executions`: run seeds, or planted mistakes, and say what came."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.supervisor.core.crashes import mutants
from tests.supervisor.core.crashes.notes import OtherRun, RunNotes, WorldTotals, commit
from tests.supervisor.core.crashes.run import ExecutionsOutcome
from tests.supervisor.core.crashes.worlds import WORLDS, ExecutionWorld, run_in, world_of

FULL_SEEDS = 300
"""With so many seeds each crash point has to be hit."""
_SAVED_EVERY_S = 10.0
_LINE_EVERY_S = 60.0
_REFUSED = 2


def main(args: argparse.Namespace) -> int:
    """Return 0 only if nothing was violated, and with many seeds each crash point was hit.

    `args`: `seeds`, `first`, `jobs`, `world`, `trace`, `mutants`, `only` and `notes`, as the
    command has them.  Each of the wanted worlds runs all the seeds.  2: the notes are of another
    run.
    """
    seeds = range(args.first, args.first + args.seeds)
    wanted = [one for one in WORLDS if args.world in (one.name, "all")]
    if args.trace is not None and not args.mutants:
        outcome = run_in(wanted[0].name, args.trace, _print)
        for violation in outcome.violations:
            _print(f"VIOLATED {violation}")
        return 1 if outcome.violations else 0
    try:
        notes = _notes(args)
    except OtherRun as error:
        _print(str(error))
        return _REFUSED
    if args.mutants:
        return mutants.main([one.name for one in wanted], args.only, seeds, args.jobs, notes)
    return max([_many(one, seeds, args.jobs, notes) for one in wanted])


def _notes(args: argparse.Namespace) -> RunNotes:
    if args.notes is None:
        return RunNotes()
    names = ("first", "seeds", "world", "mutants", "only")
    of = {"commit": commit()} | {name: getattr(args, name) for name in names}
    return RunNotes.open(Path(args.notes), of)


def _many(world: ExecutionWorld, seeds: Sequence[int], jobs: int, notes: RunNotes) -> int:
    began = time.monotonic()
    totals = notes.worlds.setdefault(world.name, WorldTotals())
    for violation in totals.violations:
        _print(f"{world.name}: {violation}")
    if totals.done:
        _print(f"{world.name}: goes on behind {totals.done} seeds")
    try:
        _run_on(world, seeds, jobs, notes)
    except BaseException:
        _print(_standing(world, seeds, totals))
        raise
    finally:
        notes.save()
    missed = sorted(world.crash_points - totals.points.keys()) if _is_full(seeds) else []
    if totals.drops:
        _print(f"dropped: {_listed(totals.drops)}")
    _print(f"faults: {_listed(totals.faults)}")
    _print(f"died before: {_listed(totals.points)}")
    if missed:
        _print(f"nothing died before: {', '.join(missed)}")
    _print(f"{time.monotonic() - began:.0f} s, {jobs} processes")
    _print(
        f"{world.name}: {len(seeds)} seeds, {totals.faults.total()} faults, "
        f"{totals.executions} executions, {totals.steps} steps, {totals.effects} calls, "
        f"{len(totals.violations)} violations"
    )
    return 1 if totals.violations or missed else 0


def _run_on(world: ExecutionWorld, seeds: Sequence[int], jobs: int, notes: RunNotes) -> None:
    """Run those seeds that are not done, and note each."""
    totals = notes.worlds[world.name]
    saved = printed = time.monotonic()
    for outcome in outcomes(world.name, seeds[totals.done :], jobs):
        totals.add(outcome)
        for violation in outcome.violations:
            _print(f"{world.name}: seed {outcome.seed}: {violation}")
        now = time.monotonic()
        if now - saved > _SAVED_EVERY_S:
            saved = now
            notes.save()
        if now - printed > _LINE_EVERY_S:
            printed = now
            _print(_standing(world, seeds, totals))


def _standing(world: ExecutionWorld, seeds: Sequence[int], totals: WorldTotals) -> str:
    """Say how far it is; `--first` goes on there, and so does the same command with `--notes`."""
    return (
        f"{world.name}: {totals.done} of {len(seeds)} seeds, {len(totals.violations)} violations; "
        f"the next one is {seeds[0] + totals.done}"
    )


def _is_full(seeds: Sequence[int]) -> bool:
    return len(seeds) >= FULL_SEEDS


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
