"""`python -m tests.simulation --mutants`: is every planted fault of the protocol found?

A fault is hunted over seeds until a checker speaks.  One that another defence hides from the
simulation names a test of the defence itself: that test has to pass as the product is, and to
fail with the fault in place.  One that is planted into a stand-in of the simulation needs both:
seeds that find it there, and a test of the real path that finds it in the product.
"""

import argparse
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import FrameType

from tests.simulation import corpus
from tests.simulation.planted import (
    cleaning,
    leader,
    machines,
    planner,
    publisher,
    secrets,
    stand_in,
    tables,
    unseen,
    worker,
)
from tests.simulation.planted.finding import MISFITS, found_by_its_test
from tests.simulation.planted.patches import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *planner.MUTANTS,
    *publisher.MUTANTS,
    *leader.MUTANTS,
    *worker.MUTANTS,
    *stand_in.MUTANTS,
    *secrets.MUTANTS,
    *cleaning.MUTANTS,
    *tables.MUTANTS,
    *unseen.MUTANTS,
    *machines.MUTANTS,
)
SEED_S = 60
"""A seed that needs more of the processor goes round in a circle: the fault is found."""
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Hunt:
    """What came of one fault."""

    mutant: Mutant
    found_by: str
    """Empty: nothing found it."""
    seeds: int = 0
    """How many it took; 0: a test found it."""


def by_name(name: str) -> Mutant:
    """Return one.

    Raises:
        KeyError: there is none of that name.
    """
    return {mutant.name: mutant for mutant in MUTANTS}[name]


def main(args: argparse.Namespace) -> int:
    """Hunt each fault, tell what found it, and again as a table; 0 only if every one was found.

    `args`: of the command: `seeds` per fault, `first`, `jobs`, and `only`, a name or None.
    """
    hunted = [by_name(args.only)] if args.only else list(MUTANTS)
    done: list[Hunt] = []
    _print_line(f"{'fault':32} {'rule':14} {'seeds':>5}  found by")
    seeds_of = corpus.before(range(args.first, args.first + args.seeds))
    for hunt in _hunts(hunted, seeds_of, args.jobs):
        done.append(hunt)
        seeds = str(hunt.seeds) if hunt.seeds else "-"
        by = hunt.found_by or "NOTHING"
        _print_line(f"{hunt.mutant.name:32} {hunt.mutant.rule:14} {seeds:>5}  {by}")
    caught = sum(bool(hunt.found_by) for hunt in done)
    for line in ("", *table(done), ""):
        _print_line(line)
    _print_line(f"{caught} of {len(hunted)} planted faults found")
    return 0 if caught == len(hunted) else 1


def table(hunts: Sequence[Hunt]) -> Iterator[str]:
    """Say in Markdown what each fault breaks and what finds it, for the page on the simulation."""
    yield "| planted fault | what it does | rules | found by |"
    yield "|---|---|---|---|"
    for hunt in hunts:
        mutant = hunt.mutant
        yield f"| `{mutant.name}` | {mutant.story} | {mutant.rule} | {_finder(hunt)} |"


def _finder(hunt: Hunt) -> str:
    if not hunt.found_by:
        return "**nothing**"
    test = hunt.mutant.direct.rpartition("::")[2]
    if hunt.mutant.covered_by:
        return f"`{test}`; the simulation does not: {hunt.mutant.covered_by}"
    number = "1 seed" if hunt.seeds == 1 else f"{hunt.seeds} seeds"
    if hunt.mutant.stand_in:
        return f"`{test}`; simulation, {number}, in a stand-in: {hunt.mutant.stand_in}"
    return f"simulation, {number}"


def _print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _hunts(mutants: Sequence[Mutant], seeds: Sequence[int], jobs: int) -> Iterator[Hunt]:
    names = [mutant.name for mutant in mutants]
    if jobs <= 1:
        yield from (hunt(name, seeds) for name in names)
        return
    with get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        for name, by, number in pool.imap(partial(_hunted, seeds=seeds), names):
            yield Hunt(by_name(name), by, number)


def _hunted(name: str, seeds: Sequence[int]) -> tuple[str, str, int]:
    found = hunt(name, seeds)
    return name, found.found_by, found.seeds


def hunt(name: str, seeds: Sequence[int]) -> Hunt:
    """Hunt one fault: by its direct test if it has one, and over the seeds if nothing covers it."""
    mutant = by_name(name)
    if mutant.direct and not found_by_its_test(mutant):
        return Hunt(mutant, "")
    if mutant.covered_by:
        return Hunt(mutant, mutant.direct)
    with mutant.applied():
        for number, seed in enumerate(seeds, start=1):
            violations = _violations(seed)
            if any(word in line for word in MISFITS for line in violations):
                _print_line(f"{name} does not fit the product any more: {violations[0]}")
                return Hunt(mutant, "", number)
            if violations and _is_sound(seed):  # else the seed says nothing of this fault
                return Hunt(mutant, violations[0].partition("\n")[0][:100], number)
    return Hunt(mutant, "", len(seeds))


def _violations(seed: int) -> list[str]:
    from tests.simulation.run import run_seed

    try:
        with _bounded(SEED_S):
            return list(run_seed(seed).violations)
    except Exception as error:  # noqa: BLE001 -- a world that breaks has found the fault
        return [f"bug: {type(error).__name__}: {error}"]


def _is_sound(seed: int) -> bool:
    """Tell whether a seed is clean without the fault; in a process of its own: this one has it."""
    command = [sys.executable, "-m", "tests.simulation", "--trace", str(seed)]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, check=False).returncode == 0


@contextmanager
def _bounded(seconds: int) -> Iterator[None]:
    def too_long(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"no end after {seconds} s of work")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
