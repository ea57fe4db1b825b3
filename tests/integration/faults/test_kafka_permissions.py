"""What may be read in Kafka is taken away, and given again: it is told, and goes on by itself.

Source: faults E17.

Slow: rights are revoked and given again while tasks read.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from pydantic import JsonValue

from tests.environment.brokers import create_topic
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.security.brokers import PASSWORD, USER, SecuredBroker
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "permitted"
SECRET = "TIDEGATE_SECRET_PASSWORD"
_ADMIN_S = 30.0
_Resource = tuple[ResourceType, str, ResourcePatternType]
_READS = (AclOperation.READ, AclOperation.DESCRIBE)


class StrictBroker(SecuredBroker):
    """Who logs in by password may do what is written; who comes by the open listener, all."""

    def settings(self, controller: int) -> dict[str, str]:
        """Return the secured broker's, and that nobody else may do anything."""
        return super().settings(controller) | {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        }

    def permit(self) -> None:
        """Let `USER` read the topic."""
        self._allow(_on_topic(), *_READS)

    def permit_groups(self) -> None:
        """Let `USER` name the consumer groups of light workers, which commit nothing there."""
        groups = (ResourceType.GROUP, "light-", ResourcePatternType.PREFIXED)
        self._allow(groups, AclOperation.READ)

    def _allow(self, on: _Resource, *operations: AclOperation) -> None:
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        wanted = [
            AclBinding(*on, f"User:{USER}", "*", operation, AclPermissionType.ALLOW)
            for operation in operations
        ]
        for done in admin.create_acls(wanted).values():
            done.result(_ADMIN_S)

    def revoke(self) -> None:
        """Take it away again."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        every = AclBindingFilter(
            *_on_topic(), f"User:{USER}", "*", AclOperation.ANY, AclPermissionType.ANY
        )
        for done in admin.delete_acls([every]).values():
            assert len(done.result(_ADMIN_S)) == len(_READS)


def _on_topic() -> _Resource:
    return ResourceType.TOPIC, TOPIC, ResourcePatternType.LITERAL


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[StrictBroker]:
    """A broker of our own, whose user may not read yet."""
    broker = StrictBroker(tmp_path / "strict")
    broker.start()
    try:
        create_topic(broker.bootstrap, TOPIC, partitions=2)
        broker.permit_groups()
        yield broker
    finally:
        broker.stop()


def _wanted(broker: StrictBroker) -> dict[str, JsonValue]:
    wanted = spec(broker.bootstrap, TOPIC, task_duration="PT5S")
    sections = wanted["spec"]
    assert isinstance(sections, dict)
    io_config = sections["ioConfig"]
    assert isinstance(io_config, dict)
    variables: dict[str, JsonValue] = {"sasl.password": SECRET}
    io_config["consumerProperties"] = {
        "bootstrap.servers": broker.address("AUTH"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "druid.dynamic.config.provider": {"type": "environment", "variables": variables},
    }
    return wanted


def test_a_right_that_is_revoked_and_given_again_costs_no_record_and_no_restart(
    strict: StrictBroker, tmp_path: Path
) -> None:
    """Goal: while it is gone the state says so with Kafka's reason; then lag goes back to 0."""
    strict.permit()
    cluster = Cluster(tmp_path / "cluster", light=True, more={SECRET: PASSWORD})
    with running(cluster):
        pids = {name: child.pid for name, child in cluster.children.items()}
        with streaming(strict.bootstrap, TOPIC, rate_per_s=100):
            cluster.apply(_wanted(strict))
            wait_until(lambda: bool(cluster.publications(TOPIC)))
            strict.revoke()
            wait_until(lambda: cluster.status(TOPIC)["healthy"] is False)
            shut_out = cluster.status(TOPIC)
            before = len(cluster.publications(TOPIC))
            strict.permit()
            wait_until(lambda: cluster.status(TOPIC)["healthy"] is True)
            wait_until(lambda: len(cluster.publications(TOPIC)) > before + 1)
        ends = ends_of(strict.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        status = cluster.status(TOPIC)
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        in_table = ids_in_files(cluster.files(TOPIC))
        after = {name: child.pid for name, child in cluster.children.items()}

    assert shut_out["state"] == "UNHEALTHY_SUPERVISOR"
    assert "uthoriz" in str(shut_out["why"]), shut_out["why"]
    assert (status["state"], status["aggregateLag"]) == ("RUNNING", 0)
    assert in_table == ids_in_topic(strict.bootstrap, TOPIC)
    assert after == pids, "a process was restarted"
