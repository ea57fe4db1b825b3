"""`tidegate quarantine replay` to a real topic."""

from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.supervisor.adapters.kafka.errors_files import errors_file, in_topic, wanted
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.table.tables import Publisher, rows_of

pytestmark = pytest.mark.kafka


def test_the_command_sends_the_published_errors_of_a_supervisor(
    broker: Broker, tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    create_topic(broker.bootstrap, "replayed-by-hand", partitions=1)
    publisher = Publisher(tmp_path, broker.bootstrap)
    publisher.publish({0: 0}, {0: 6}, rows_of(0, 0, 4), rejects=[(0, 4, 5)])
    publisher.quarantine(0, [(0, 4), (0, 5)], kept=2)
    errors_file(tmp_path / "clicks/data/task-g0/errors-0.parquet", [4, 5])
    server.on("GET", "/api/v1/supervisors/clicks/ledger", Reply(publisher.ledger()))
    command = ("quarantine", "replay", "clicks", "--topic")

    unconfirmed = tidegate(*command, "replayed-by-hand")
    own = tidegate(*command, "clicks", "--yes")
    sent = tidegate(*command, "replayed-by-hand", "--yes")
    again = tidegate(*command, "replayed-by-hand", "--yes", "-o", "json").json()
    named = tidegate(*command, "replayed-by-hand", "--yes", "-o", "name")

    assert (unconfirmed.code, own.code) == (2, 1)
    assert "reads clicks itself" in own.err
    assert sent.out == "2 records sent to replayed-by-hand, 0 were there before\n"
    assert named.out == "clicks\n"
    assert again == {"sent": 0, "there": 2, "more": False, "endSequenceNumbers": {"0": 3}}
    produce(broker.bootstrap, "replayed-by-hand", ["somebody else's"])
    assert [found for found, _ in in_topic(broker, "replayed-by-hand")][:2] == [
        wanted(4),
        wanted(5),
    ]
