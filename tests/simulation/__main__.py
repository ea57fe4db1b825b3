"""`python -m tests.simulation`: run seeds, or planted faults, and say what was found."""

import argparse
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from importlib import import_module
from multiprocessing import get_context

from tests.simulation import corpus
from tests.simulation.faults.tables import ROWS, WANTED_ROWS
from tests.simulation.measured import Branches, measured
from tests.simulation.run import Outcome, run_seed

FULL_SEEDS = 5_000
"""With so many seeds each row of the tables A and B has to be hit often enough."""
HITS_MIN = 10


def main(arguments: list[str] | None = None) -> int:
    """Return 0 only if nothing was violated, and enough was reached of what is counted.

    Branches are with `--coverage`, rows of the failure tables with very many seeds.
    """
    args = command_line().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if args.executions:
        return int(import_module("tests.supervisor.core.crashes.command").main(args))
    if args.mutants:
        return int(import_module("tests.simulation.mutants").main(args))
    if args.trace is not None:
        return _trace(args.trace)
    return _many(args)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--trace", type=int, metavar="SEED", help="run one seed and print it all")
    parser.add_argument("--coverage", action="store_true", help="in one process; 90 %% of branches")
    parser.add_argument("--mutants", action="store_true", help="plant faults, and look for each")
    parser.add_argument("--executions", action="store_true", help="executions under crashes")
    parser.add_argument(
        "--world",
        choices=("model", "sql", "topics", "all"),
        default="all",
        help="with --executions: which one; each of them has all the seeds",
    )
    parser.add_argument(
        "--notes",
        metavar="FILE",
        help="with --executions: how far it is; the same command again goes on there",
    )
    parser.add_argument("--only", metavar="NAME", help="with --mutants: this one alone")
    return parser


def _trace(seed: int) -> int:
    outcome = run_seed(seed, on_line=_print)
    _print(f"trace {outcome.trace_hash}")
    for violation in outcome.violations:
        _print(f"VIOLATED {violation}")
    return 1 if outcome.violations else 0


def _many(args: argparse.Namespace) -> int:
    began, total = time.monotonic(), Total()
    branches = Branches()
    if args.coverage:
        args.jobs = 1
    seeds = corpus.before(range(args.first, args.first + args.seeds))
    with measured(branches) if args.coverage else nullcontext():
        for outcome in outcomes(seeds, args.jobs):
            total.add(outcome)
            for violation in outcome.violations:
                _print(f"seed {outcome.seed}: {violation}")
    if args.coverage:
        for line in (*branches.lines, branches.verdict()):
            _print(line)
    scarce = total.scarce() if args.seeds >= FULL_SEEDS else []
    if scarce:
        _print(f"rows hit fewer than {HITS_MIN} times: {', '.join(scarce)}")
    _print(f"{time.monotonic() - began:.0f} s, {args.jobs} processes")
    for line in total.lines():
        _print(line)
    reached = not scarce and (branches.enough or not args.coverage)
    return 0 if not total.violations and reached else 1


def outcomes(seeds: Sequence[int], jobs: int) -> Iterator[Outcome]:
    """Run seeds in so many processes; in order."""
    if jobs <= 1:
        yield from map(run_seed, seeds)
        return
    # Its processes end with this one, however it ends.
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(run_seed, seeds, chunksize=4)


class Total:
    """What many seeds came to."""

    def __init__(self) -> None:
        self.seeds = self.faults = self.port_calls = self.handoffs = self.publishes = 0
        self.violations = 0
        self.full = 0
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.rows: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        """Count one more seed."""
        self.seeds += 1
        self.faults += outcome.faults
        self.port_calls += outcome.port_calls
        self.handoffs += outcome.handoffs
        self.publishes += outcome.publishes
        self.violations += len(outcome.violations)
        self.full += outcome.handoffs >= 3 and outcome.faults >= 20
        self.pairs += outcome.pairs
        self.rows += outcome.rows
        self.causes += outcome.causes

    def scarce(self) -> list[str]:
        """Return the rows that were hit too seldom for a long run."""
        return [row for row in WANTED_ROWS if self.rows[row] < HITS_MIN]

    def lines(self) -> Iterator[str]:
        """Say it, the verdict last."""
        yield f"{self.handoffs} handoffs, {self.publishes} publishes"
        causes = ", ".join(f"{cause} {number}" for cause, number in sorted(self.causes.items()))
        yield f"due by themselves: {causes}"
        yield "tables A and B: " + ", ".join(f"{row} {self.rows[row]}" for row in ROWS)
        yield f"{self.full} seeds with 3 handoffs and 20 faults or more"
        yield (
            f"{self.seeds} seeds, {self.faults} faults, {self.port_calls} port calls, "
            f"{len(self.pairs)} pairs of crash point and state, {self.violations} violations"
        )


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
