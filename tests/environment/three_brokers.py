"""Three brokers with a copy of each record each, so that one of them may die."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import Child
from tasks.runtime.jars import KAFKA
from tests.environment.brokers import shared_jars, shared_java
from tests.waiting import wait_until

_ID = "AG9uZSBvZiB0aHJlZSBicg"
_ASK_S = 5.0
_COPIES = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
}


class _Node(Broker):
    """One of three, which are all controllers, too."""

    def __init__(self, folder: Path, number: int, voters: str) -> None:
        super().__init__(folder, shared_java(), shared_jars(KAFKA))
        self._own = {"node.id": str(number), "controller.quorum.voters": voters} | _COPIES

    def settings(self, controller: int) -> dict[str, str]:
        """Return those of a broker alone, but for who the others are."""
        return super().settings(controller) | self._own

    def is_ready(self) -> bool:
        """Whether it knows all three."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        try:
            return len(admin.list_topics(timeout=_ASK_S).brokers) == 3
        except KafkaException:
            return False


class ThreeBrokers:
    """The nodes by number, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        """Format their storage; start nothing yet."""
        controllers = {number: free_port() for number in (1, 2, 3)}
        voters = ",".join(f"{n}@{LOOPBACK}:{port}" for n, port in controllers.items())
        self.nodes = {n: _Node(folder / str(n), n, voters) for n in controllers}
        for number, port in controllers.items():
            own = folder / str(number)
            own.mkdir(parents=True)
            (own / "cluster-id").write_text(_ID)
            (own / "ports.json").write_text(json.dumps({"controller": port}))
            self.nodes[number].prepare()
        self._children: dict[int, Child] = {}

    @property
    def bootstrap(self) -> str:
        """All their addresses."""
        return ",".join(node.bootstrap for node in self.nodes.values())

    def start(self, *numbers: int) -> None:
        """Return when these know all three."""
        for number in numbers:
            self._children[number] = Child(self.nodes[number].spec())
            self._children[number].start()
        for number in numbers:
            wait_until(self.nodes[number].is_ready)

    def kill(self, number: int) -> None:
        """End one as a crash would."""
        self._children.pop(number).kill()

    def close(self) -> None:
        """End all."""
        for child in self._children.values():
            child.kill()

    def leader(self, topic: str, partition: int) -> int:
        """Return who leads a partition; -1: nobody."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        return admin.list_topics(topic, timeout=_ASK_S).topics[topic].partitions[partition].leader


@contextmanager
def three_brokers(folder: Path) -> Iterator[ThreeBrokers]:
    """Run them; they answer when the body starts."""
    three = ThreeBrokers(folder)
    try:
        three.start(1, 2, 3)
        yield three
    finally:
        three.close()
