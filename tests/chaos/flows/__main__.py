"""Chaos of flows by hand: `python -m tests.chaos.flows [--kills N] [--executions N] [--seed S]`.

Two overlords and two executors, a broker and PostgreSQL, all started here.  They are killed, frozen
and cut off until there were so many kills and executions.  Then all heals, and a reader of the
topics and the server that was called say what came of it.  The exit code is 0 if all is well.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from supervisor.dev.ports import LOOPBACK
from tasks.runtime.jars import KAFKA
from tests.chaos.flows.crew import a_crew
from tests.chaos.flows.story import FlowStory, Wishes
from tests.chaos.flows.work import called_server
from tests.chaos.processes.fleet import ProxiedBroker
from tests.environment.brokers import shared_jars, shared_java
from tests.environment.postgres import postgres


def main() -> int:
    """Run once and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.flows", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--executions", type=int, default=3_000)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1_000_000) if given.seed is None else given.seed
    began = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:7.1f}  {line}\n")
        sys.stdout.flush()

    folder = Path(tempfile.mkdtemp(prefix="tidegate-flow-chaos-"))
    say(f"seed {seed}; logs are in {folder}")
    broker = ProxiedBroker(folder / "kafka", shared_java(), shared_jars(KAFKA))
    broker.start()
    try:
        assert broker.wire is not None
        bootstrap = f"{LOOPBACK}:{broker.wire.port}"
        with (
            postgres() as server,
            server.database() as url,
            called_server() as called,
            a_crew(folder / "crew", url, bootstrap) as crew,
        ):
            story = FlowStory(crew, called, broker, broker.wire, seed, say)
            verdict = story.play(Wishes(given.kills, given.executions))
    finally:
        broker.stop()
    ends = sorted(verdict.ended.values())
    say(f"ends: { {state: ends.count(state) for state in set(ends)} }")
    say(f"{verdict.repeats} requests were repeats by their key")
    if story.recoveries:
        slowest = max(story.recoveries)
        say(f"recovery: median {median(story.recoveries):.1f} s, slowest {slowest:.1f} s")
    for trouble in verdict.troubles[:50]:
        say(f"trouble: {trouble}")
    if not verdict.troubles:
        shutil.rmtree(folder)  # else its logs are wanted
    say(f"{story.kills} kills, {len(story.started)} executions, {len(verdict.troubles)} troubles")
    return 1 if verdict.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
