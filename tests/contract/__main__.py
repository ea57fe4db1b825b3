"""The API against its own description: `python -m tests.contract [--cases N] [--seed S]`.

    --cases    at least so many requests are sent (default 10000)
    --seed     the same seed, the same requests; else one is drawn and printed

A broker and two overlords, each with a worker, are started as children and gone at the end: one
overlord asks who calls, one does not.  Both have tables, tasks, rules and a past.
Schemathesis reads the description that they serve, and asks all it can think of: what the
description takes, what it does not take, and one answer after the other along its links.

The exit code is 0 only if no answer was a server error and none was unlike its description.  Each
failure is printed with its reason and a `curl` that repeats it.
"""

import argparse
import math
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.contract.ask import PhaseReport, Wish, ask
from tests.contract.site import Site, serving
from tests.environment.brokers import start_test_broker

CASES = 10_000
_SHARE = {True: 0.6, False: 0.4}
"""Of the cases, those where callers are asked who they are."""
_FUZZED = 0.8
"""Of what coverage leaves, the part that is no walk along links."""
_STEPS = 3
"""Requests of a walk, about."""
_ROUNDS_MAX = 20
Say = Callable[[str], None]


def main(arguments: list[str]) -> int:
    """Run once and return the exit code."""
    given = _parser().parse_args(arguments)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1_000_000)
    began = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:7.1f}  {line}\n")
        sys.stdout.flush()

    say(f"seed {seed}")
    folder = Path(tempfile.mkdtemp(prefix="tidegate-contract-"))
    say(f"logs are in {folder}")
    done: list[PhaseReport] = []
    with start_test_broker(folder / "kafka") as broker, ThreadPoolExecutor(len(_SHARE)) as both:

        def one(authenticated: bool) -> list[PhaseReport]:
            name = "asked" if authenticated else "open"
            cases = math.ceil(given.cases * _SHARE[authenticated])
            with serving(folder / name, broker.bootstrap, authenticated=authenticated) as site:
                return _all_phases(site, seed, cases, lambda line: say(f"{name:<5}  {line}"))

        for found in both.map(one, _SHARE):
            done += found
    return _summed(done, folder, say)


def _all_phases(site: Site, seed: int, cases: int, say: Say) -> list[PhaseReport]:
    done: list[PhaseReport] = []

    def one(wish: Wish) -> PhaseReport:
        site.restore()
        report = ask(site, site.folder / f"{len(done):02}-{wish.phase}", wish)
        say(f"{report.phase:<9} {report.cases:6} cases  {len(report.failures)} kinds of failure")
        for failure in report.failures:
            say(f"  {failure}")
        done.append(report)
        return report

    operations = one(Wish("coverage", seed)).operations
    left = cases - done[0].cases
    one(Wish("stateful", seed, examples=max(20, math.ceil(left * (1 - _FUZZED) / _STEPS))))
    for turn in range(_ROUNDS_MAX):
        left = cases - sum(each.cases for each in done)
        if left <= 0:
            break
        one(Wish("fuzzing", seed + turn, examples=max(5, math.ceil(left / operations))))
    return done


def _summed(done: list[PhaseReport], folder: Path, say: Say) -> int:
    failed = [each for each in done if each.failures or each.exit_code]
    for each in failed:
        sys.stdout.write(each.output)
    if not failed:
        shutil.rmtree(folder)  # else its logs are wanted
    for phase in dict.fromkeys(each.phase for each in done):
        of = [each for each in done if each.phase == phase]
        cases, seconds = sum(each.cases for each in of), sum(each.seconds for each in of)
        say(f"{phase}: {cases} cases in {seconds:.0f} s")
    kinds = sum(len(each.failures) for each in done)
    say(f"{sum(each.cases for each in done)} cases, {kinds} kinds of failure")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.contract",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--seed", type=int)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
