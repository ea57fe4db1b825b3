"""A real broker: what it was given outlives stop and kill, and it leaves no process.

Slow: a broker starts in most of its tests.
"""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer

from supervisor.dev.broker import Broker
from supervisor.dev.processes import ChildFailed
from supervisor.dev.topics import create_topic
from tasks.runtime.jars import KAFKA
from tests.environment import brokers
from tests.environment.brokers import produce, read_all, shared_jars, shared_java
from tests.supervisor.dev.test_processes import gone, number_in
from tests.waiting import wait_until

REPOSITORY = Path(__file__).parents[3]

pytestmark = [pytest.mark.kafka, pytest.mark.long]


@contextmanager
def started(broker: Broker) -> Iterator[None]:
    broker.start()
    try:
        yield
    finally:
        broker.kill()


def broker_in(folder: Path, port: int | None = None) -> Broker:
    return Broker(folder, shared_java(), shared_jars(KAFKA), port=port)


def test_records_outlive_a_stop_and_a_kill_at_the_same_address(tmp_path: Path) -> None:
    values = [f"record {n}".encode() for n in range(1_000)]
    broker = broker_in(tmp_path)
    with started(broker):
        address, cluster = broker.bootstrap, broker.cluster_id
        create_topic(address, "clicks", partitions=2)
        produce(address, "clicks", values[:500])
        broker.stop()
        assert broker.pid is None

        again = broker_in(tmp_path)  # as a second `tidegate dev` would make it
        with started(again):
            assert (again.bootstrap, again.cluster_id) == (address, cluster)
            produce(address, "clicks", values[500:])
            again.kill()

            again.start()
            assert again.bootstrap == address
            found = read_all(address, "clicks")

    assert found == {0: values[0::2], 1: values[1::2]}


def test_it_has_transactions_and_makes_no_topic_by_itself(tmp_path: Path) -> None:
    broker = broker_in(tmp_path)
    with started(broker):
        create_topic(broker.bootstrap, "clicks")
        create_topic(broker.bootstrap, "clicks", partitions=5)  # is there: left as it is
        with pytest.raises(AssertionError, match="clicks exists already"):  # a test's own helper
            brokers.create_topic(broker.bootstrap, "clicks")
        producer = Producer(
            {"bootstrap.servers": broker.bootstrap, "transactional.id": "t", "log_level": 3}
        )
        producer.init_transactions(60)
        for value, end in (
            ("kept", producer.commit_transaction),
            ("dropped", producer.abort_transaction),
            ("kept too", producer.commit_transaction),
        ):
            producer.begin_transaction()
            producer.produce("clicks", value)
            producer.flush(60)
            end(60)

        assert read_all(broker.bootstrap, "clicks") == {0: [b"kept", b"kept too"]}
        producer.list_topics("mistyped", timeout=30)  # where it is allowed, this makes a topic
        assert "mistyped" not in producer.list_topics(timeout=30).topics


def test_an_address_that_another_took_is_given_up(tmp_path: Path) -> None:
    broker = broker_in(tmp_path)
    broker.prepare()
    first = broker.port
    with socket.create_server(("127.0.0.1", first)):
        broker.prepare()

        assert broker.port != first
        assert not broker.is_ready()


def test_a_broker_that_cannot_start_says_why_and_leaves_no_process(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        broker = broker_in(tmp_path, port=other.getsockname()[1])

        with pytest.raises(ChildFailed, match="Address already in use"):
            broker.start()

    assert broker.pid is None


def test_a_format_that_a_crash_cut_short_is_done_again(tmp_path: Path) -> None:
    broker = broker_in(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").write_text("cluster.id=half\n")

    with started(broker):
        assert broker.is_ready()


def test_it_dies_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], cwd=REPOSITORY)
    wait_until((tmp_path / "up").exists)
    pid = number_in(tmp_path / "broker.pid")
    assert not gone(pid)

    parent.send_signal(signal.SIGKILL)
    parent.wait(30)

    wait_until(lambda: gone(pid))


PARENT = """
import sys
from pathlib import Path
from threading import Event
from tests.environment.brokers import start_test_broker

folder = Path(sys.argv[1])
with start_test_broker(folder):
    (folder / "up").touch()
    Event().wait()
"""
