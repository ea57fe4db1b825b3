"""Chaos by hand: `python -m tests.chaos [--short | --walk | --soak | --long] [--seed S]`.

    --short   each row of the tables once, then two kills of overlords that must cost no record to
              be read twice, then each kind of fault of the wires (the default)
    --walk    each row five times, and leaders that sleep in a transaction
    --soak    first only overlords die, then every kind of fault strikes until there were 200 kills
              and 300,000 records: --kills and --records want others, --minutes wants a time
    --long    the walk, then the soak
    --at-most MINUTES      the soak ends then; what it lacks is a trouble
    --blocked              the control port of every worker never answers
    --light                workers without a JVM: they start in two seconds

A broker, PostgreSQL, overlords and workers are started as children and gone at the end.  The last
line ends in `0 lost, 0 duplicated`, and the exit code is 0 only then and if nothing is lacking.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from supervisor.dev.ports import LOOPBACK
from tasks.runtime.jars import KAFKA
from tests.chaos.judges.amount import Wanted
from tests.chaos.judges.report import write
from tests.chaos.judges.rereads import BRIEF_PART, Part
from tests.chaos.processes.fleet import ProxiedBroker, Shape
from tests.chaos.runs.schedule import KILLS, Kind, kinds_of, schedule
from tests.chaos.runs.story import Story, play
from tests.chaos.runs.walk import LONG, SHORT
from tests.environment.brokers import shared_jars, shared_java
from tests.environment.postgres import postgres

_FAULTS_MAX = 100_000
_KILLS = 200
_RECORDS = 300_000
_OVERLORDS_ONLY = Part(kills=10)


def main(arguments: list[str]) -> int:
    """Run once and return the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if not (given.soak or given.long) and (given.minutes or given.kills or given.records):
        parser.error("--minutes, --kills and --records are of a soak: say --soak or --long")
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
            result = play(_story(given, seed, shape, bootstrap, broker), say)
    finally:
        broker.stop()
    say(f"written to {write(result, given.out, page=given.write)}")
    for trouble in result.troubles:
        say(f"trouble: {trouble}")
    if result.command_output:
        say(result.command_output)
    if not result.troubles:
        shutil.rmtree(folder)  # else its logs are wanted
    say(result.last_line())
    return 1 if result.troubles else 0


def _story(
    given: argparse.Namespace, seed: int, shape: Shape, bootstrap: str, broker: ProxiedBroker
) -> Story:
    story = Story(
        form=_form(given),
        seed=seed,
        shape=shape,
        bootstrap=bootstrap,
        topic="chaos",
        wire=broker.wire,
        walk=None if given.soak else LONG if given.long or given.walk else SHORT,
        rate_per_s=given.rate,
    )
    if given.walk:
        return story
    kinds = kinds_of(broker=True)
    if given.soak or given.long:
        return replace(
            story,
            overlords_only=_OVERLORDS_ONLY,
            faults=schedule(seed, _FAULTS_MAX, broker=True),
            wanted=_wanted(given, kinds),
            within_s=given.at_most * 60,
        )
    wires = tuple(kind for kind in kinds if kind not in KILLS)
    once = [f for f in schedule(seed, len(kinds), broker=True) if f.kind in wires]
    return replace(story, overlords_only=BRIEF_PART, faults=once, wanted=Wanted(wires))


def _wanted(given: argparse.Namespace, kinds: tuple[Kind, ...]) -> Wanted:
    """Return what was asked for; who asks for minutes asks for no numbers beside."""
    kills, records = (0, 0) if given.minutes else (_KILLS, _RECORDS)
    return Wanted(
        kinds=kinds,
        kills=kills if given.kills is None else given.kills,
        records=records if given.records is None else given.records,
        minutes=given.minutes,
    )


def _form(given: argparse.Namespace) -> str:
    words = [word for word in ("walk", "soak", "long") if getattr(given, word)] or ["short"]
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
    form.add_argument("--walk", action="store_true")
    form.add_argument("--soak", action="store_true")
    form.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--minutes", type=float, default=0.0, help="the soak lasts so long")
    parser.add_argument("--kills", type=int, help="of the soak")
    parser.add_argument("--records", type=int, help="of the run")
    parser.add_argument("--at-most", type=float, default=50.0, help="minutes of the soak")
    parser.add_argument("--rate", type=int, default=200, help="records a second")
    parser.add_argument("--blocked", action="store_true")
    parser.add_argument("--light", action="store_true", help="workers without a JVM")
    parser.add_argument("--write", action="store_true", help="add a row to the page of results")
    parser.add_argument("--out", type=Path, default=Path(".tidegate-cache") / "chaos")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
