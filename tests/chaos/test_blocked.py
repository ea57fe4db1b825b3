"""The control port of every worker accepts, and never answers, for a whole run.

Slow: handoffs go over the sync alone, in real time.
"""

import sys
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tests.chaos.judges.books import Books
from tests.chaos.judges.oracle import Oracle
from tests.chaos.processes.fleet import Fleet, Shape
from tests.chaos.processes.producer import streaming
from tests.chaos.runs.finish import finish
from tests.chaos.runs.run import Run
from tests.environment.brokers import create_topic

pytestmark = [pytest.mark.chaos, pytest.mark.kafka, pytest.mark.pg, pytest.mark.long]
TOPIC = "control-ports-blocked"
PUBLICATIONS = 6
"""Three ranges of each of two groups."""


def test_handoffs_and_publishing_need_no_control_port(
    broker: Broker, postgresql_database: str, tmp_path: Path
) -> None:
    """Goal: orders travel with the workers' own syncs (P5); no replica is replaced."""
    create_topic(broker.bootstrap, TOPIC, partitions=4)
    shape = Shape(tmp_path / "fleet", postgresql_database, light=True, blocked=True)
    with (
        Fleet(shape) as fleet,
        Books(postgresql_database, TOPIC) as books,
        streaming(broker.bootstrap, TOPIC, seed=1, rate_per_s=200) as stream,
    ):
        oracle = Oracle(broker.bootstrap, TOPIC, fleet.warehouse)
        run = Run(fleet, books, stream, oracle, broker.bootstrap, TOPIC, _say)
        run.begin()
        run.tick_until(lambda: books.look().publications >= PUBLICATIONS, 180)
        end = finish(run)
        tasks = books.tasks()

    assert end.good, end
    assert {task.status for task in tasks} == {"SUCCESS"}, tasks
    assert not fleet.left_over()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
