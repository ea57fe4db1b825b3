"""The short form: each crash point that fits into a few minutes, then the wires; replicas 2.

Its workers have no JVM, so that they can die often; `python -m tests.chaos` is the same with Spark.

Slow: a fleet of real processes lives through the short list of faults.
"""

import sys
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tests.chaos.judges.amount import Wanted
from tests.chaos.judges.rereads import BRIEF_PART
from tests.chaos.processes.fleet import Shape
from tests.chaos.runs.schedule import BRIEF
from tests.chaos.runs.story import Story, play
from tests.chaos.runs.walk import SHORT

pytestmark = [pytest.mark.chaos, pytest.mark.kafka, pytest.mark.pg, pytest.mark.long]
SEED = 5


def test_no_record_is_lost_or_doubled_wherever_a_process_dies(
    broker: Broker, postgresql_database: str, tmp_path: Path
) -> None:
    """Goal: I1 and I2 after deaths at the points of tables A and B, and on wires that fail.

    Source: I1, I2; the oracle compares identities, and shares nothing with the product.
    """
    shape = Shape(tmp_path / "fleet", postgresql_database, light=True)
    story = Story(
        "short light",
        SEED,
        shape,
        broker.bootstrap,
        "chaos-short",
        walk=SHORT,
        overlords_only=BRIEF_PART,
        faults=[*BRIEF],
        wanted=Wanted(tuple(fault.kind for fault in BRIEF)),
    )

    result = play(story, _say)

    assert (result.lost, result.duplicated) == (0, 0)
    assert not result.troubles, (result.troubles, result.command_output)
    assert sum(result.points_hit.values()) >= SHORT.hits_min, result.points_missed
    assert result.records > 10_000


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
