"""The short form: publishes through some deaths; `python -m tests.chaos.publishes` is the long one.

Slow: two overlords and two executors start, die, and take over from each other.
"""

import sys
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tests.chaos.flows.crew import a_crew
from tests.chaos.publishes.judge import EACH
from tests.chaos.publishes.story import KEPT, PublishStory

pytestmark = [pytest.mark.chaos, pytest.mark.kafka, pytest.mark.pg, pytest.mark.long]
PUBLISHES = 200
SEED = 3


def test_each_publish_fires_once_whichever_leader_dies(
    broker: Broker, postgresql_database: str, tmp_path: Path
) -> None:
    """Goal: an execution per publish, and each publish in one execution that coalesces."""
    with a_crew(tmp_path, postgresql_database, broker.bootstrap, KEPT, "chaos.publishes.") as crew:
        story = PublishStory(crew, postgresql_database, broker.bootstrap, SEED, _say)
        story.pace_s = 0.1  # so that those who die do so among the publishes
        verdict = story.play(PUBLISHES, kills=3)

    assert verdict.troubles == []
    assert story.kills >= 3
    assert verdict.executions[EACH] == verdict.publications >= PUBLISHES
    assert verdict.most > 1, "some wait for the execution before to end"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
