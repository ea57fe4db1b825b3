"""The short form: executions through some deaths; `python -m tests.chaos.flows` is the long one.

Slow: two overlords and two executors start, die, and take over from each other.
"""

import sys
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tests.chaos.flows.crew import a_crew
from tests.chaos.flows.story import FlowStory, Wishes
from tests.chaos.flows.work import called_server

pytestmark = [pytest.mark.chaos, pytest.mark.kafka, pytest.mark.pg, pytest.mark.long]
SEED = 11


def test_each_step_has_its_effect_once_wherever_a_process_dies(
    broker: Broker, postgresql_database: str, tmp_path: Path
) -> None:
    """Goal: one end of each execution, one key of each effect, no version twice, gates at rest."""
    wishes = Wishes(kills=3, executions=25)
    with called_server() as called, a_crew(tmp_path, postgresql_database, broker.bootstrap) as crew:
        story = FlowStory(crew, called, broker, None, SEED, _say)
        verdict = story.play(wishes)

    assert verdict.troubles == []
    assert story.kills >= wishes.kills
    assert len(story.started) == wishes.executions
    assert verdict.ended.keys() > story.started, "their children have ended too"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
