"""Publishes while leaders die: `python -m tests.chaos.publishes [--publishes N] [--kills N]`.

Two overlords and two executors, a broker and PostgreSQL, all started here.  The exit code is 0 if
each publish has one execution of the one flow, and is named by one execution of the other.
"""

import argparse
import logging
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import structlog

from supervisor.dev.broker import Broker
from tasks.runtime.jars import KAFKA
from tests.chaos.flows.crew import a_crew
from tests.chaos.publishes.story import KEPT, PublishStory
from tests.environment.brokers import shared_jars, shared_java
from tests.environment.postgres import postgres


def main() -> int:
    """Run once and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.publishes", description=__doc__)
    parser.add_argument("--publishes", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1_000_000) if given.seed is None else given.seed
    began = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began:7.1f}  {line}\n")
        sys.stdout.flush()

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    folder = Path(tempfile.mkdtemp(prefix="tidegate-publish-chaos-"))
    say(f"seed {seed}; logs are in {folder}")
    broker = Broker(folder / "kafka", shared_java(), shared_jars(KAFKA))
    broker.start()
    try:
        with (
            postgres() as server,
            server.database() as url,
            a_crew(folder / "crew", url, broker.bootstrap, KEPT) as crew,
        ):
            story = PublishStory(crew, url, broker.bootstrap, seed, say)
            verdict = story.play(given.publishes, given.kills)
    finally:
        broker.stop()
    say(f"executions: {dict(verdict.executions)}; one names up to {verdict.most} publishes")
    for trouble in verdict.troubles:
        say(f"trouble: {trouble}")
    if not verdict.troubles:
        shutil.rmtree(folder)  # else its logs are wanted
    say(f"{verdict.publications} publishes, {story.kills} kills, {len(verdict.troubles)} troubles")
    return 1 if verdict.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
