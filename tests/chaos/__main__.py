"""Chaos by hand: `python -m tests.chaos [--short | --long] [--seed S] [--minutes M] [--kills K]`.

    --short   each row of the tables once, then some faults of the wires (the default)
    --long    each row five times, then a soak of at least 200 kills and 300,000 records
    --minutes, --kills     a soak alone, that long or that many
    --blocked              the control port of every worker never answers
    --light                workers without a JVM: they start in two seconds

A broker, PostgreSQL, overlords and workers are started as children and gone at the end.  The last
line ends in `0 lost, 0 duplicated`, and the exit code is 0 only then.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from supervisor.dev.ports import LOOPBACK
from tasks.runtime.jars import KAFKA
from tests.brokers import shared_jars, shared_java
from tests.chaos.fleet import ProxiedBroker, Shape
from tests.chaos.report import write
from tests.chaos.schedule import schedule
from tests.chaos.story import Story, tell
from tests.chaos.walk import SHORT, Plan
from tests.postgres import postgres

_FAULTS_MAX = 100_000
_WIRES_SHORT = 6


def main(arguments: list[str]) -> int:
    """Run once and return the exit code."""
    given = _parser().parse_args(arguments)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1_000_000)
    began = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:7.1f}  {line}\n")
        sys.stdout.flush()

    say(f"seed {seed}")
    folder = Path(tempfile.mkdtemp(prefix="tidegate-chaos-"))
    say(f"logs are in {folder}")
    broker = ProxiedBroker(folder / "kafka", shared_java(), shared_jars(KAFKA))
    broker.start()
    try:
        with postgres() as server, server.database() as url:
            assert broker.wire is not None
            shape = Shape(folder / "fleet", url, blocked=given.blocked, light=given.light)
            bootstrap = f"{LOOPBACK}:{broker.wire.port}"
            result = tell(_story(given, seed, shape, bootstrap, broker), say)
    finally:
        broker.stop()
    say(f"written to {write(result, given.out, page=given.write)}")
    for trouble in result.troubles:
        say(f"trouble: {trouble}")
    if result.told:
        say(result.told)
    if not result.troubles:
        shutil.rmtree(folder)  # else its logs are wanted
    say(result.last_line())
    return 1 if result.troubles else 0


def _story(
    given: argparse.Namespace, seed: int, shape: Shape, bootstrap: str, broker: ProxiedBroker
) -> Story:
    soak_alone = bool(given.minutes or given.kills) and not given.long
    walk = None
    if not soak_alone:
        walk = Plan(rounds=5) if given.long else SHORT
    kills = given.kills or (200 if given.long else 0)
    endless = bool(given.minutes or kills)
    return Story(
        form=_form(given, soak_alone=soak_alone),
        seed=seed,
        shape=shape,
        bootstrap=bootstrap,
        topic="chaos",
        wire=broker.wire,
        walk=walk,
        faults=schedule(seed, _FAULTS_MAX if endless else _WIRES_SHORT, broker=True),
        minutes=given.minutes,
        kills=kills,
        records=300_000 if given.long else 0,
        rate_per_s=given.rate,
    )


def _form(given: argparse.Namespace, *, soak_alone: bool) -> str:
    words = ["soak" if soak_alone else "long" if given.long else "short"]
    words += [word for word in ("light", "blocked") if getattr(given, word)]
    return " ".join(words)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true")
    form.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--rate", type=int, default=200, help="records a second")
    parser.add_argument("--blocked", action="store_true")
    parser.add_argument("--light", action="store_true", help="workers without a JVM")
    parser.add_argument("--write", action="store_true", help="add a row to the page of results")
    parser.add_argument("--out", type=Path, default=Path(".tidegate-cache") / "chaos")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
