"""A password is changed in Kafka and in the file that the processes were given: no restart.

Source: faults E17.

Slow: tasks read on while a password changes, over a handoff before and after.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.security.brokers import PASSWORD, USER, SecuredBroker
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "rotated"
SECRET = "TIDEGATE_SECRET_ROTATED"


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[SecuredBroker]:
    """A broker of our own, whose user logs in by SCRAM."""
    broker = SecuredBroker(tmp_path / "secured")
    broker.start()
    try:
        broker.set_password(PASSWORD)
        create_topic(broker.bootstrap, TOPIC, partitions=2)
        yield broker
    finally:
        broker.stop()


def _wanted(broker: SecuredBroker) -> dict[str, JsonValue]:
    wanted = spec(broker.bootstrap, TOPIC, task_duration="PT5S")
    sections = wanted["spec"]
    assert isinstance(sections, dict)
    io_config = sections["ioConfig"]
    assert isinstance(io_config, dict)
    io_config["consumerProperties"] = {
        "bootstrap.servers": broker.address("AUTH"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": USER,
        "druid.dynamic.config.provider": {
            "type": "environment",
            "variables": {"sasl.password": SECRET},
        },
    }
    return wanted


def test_a_changed_password_costs_no_record_and_no_restart(
    secured: SecuredBroker, tmp_path: Path
) -> None:
    """Goal: with the old one the state says what Kafka says; with the new one it goes on."""
    held = tmp_path / "password"
    held.write_text(PASSWORD)
    cluster = Cluster(tmp_path / "cluster", light=True, more={f"{SECRET}_FILE": str(held)})
    with running(cluster):
        pids = {name: child.pid for name, child in cluster.children.items()}
        with streaming(secured.bootstrap, TOPIC, rate_per_s=100):
            cluster.apply(_wanted(secured))
            wait_until(lambda: bool(cluster.publications(TOPIC)))
            secured.set_password("another one")
            secured.stop()  # who is logged in stays so until the connection is gone
            secured.start()
            wait_until(lambda: "uthentication" in str(cluster.status(TOPIC)["why"]))
            shut_out = cluster.status(TOPIC)
            before = len(cluster.publications(TOPIC))
            held.write_text("another one")
            wait_until(lambda: cluster.status(TOPIC)["healthy"] is True)
            wait_until(lambda: len(cluster.publications(TOPIC)) > before + 1)
        ends = ends_of(secured.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        status = cluster.status(TOPIC)
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        in_table = ids_in_files(cluster.files(TOPIC))
        after = {name: child.pid for name, child in cluster.children.items()}

    assert shut_out["healthy"] is False
    assert (status["state"], status["aggregateLag"]) == ("RUNNING", 0)
    assert in_table == ids_in_topic(secured.bootstrap, TOPIC)
    assert after == pids, "a process was restarted"
