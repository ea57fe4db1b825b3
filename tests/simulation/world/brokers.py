"""What happens to the topics of a run: records of every kind, retention, brokers that go."""

from random import Random

from tasks.contract.offsets import TopicPartition
from tests.simulation.processes.user import User
from tests.simulation.world.kafka import ABORTED, CONTROL
from tests.simulation.world.stored import SUPERVISOR
from tests.simulation.world.world import TOPIC, World


class Brokers:
    """The moments of Kafka; drawn and called by `Outside`."""

    def __init__(self, world: World, user: User, random: Random) -> None:
        self.world = world
        self.user = user
        self.random = random

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions of every topic now."""
        kafka = self.world.kafka
        there = [topic for topic in self.world.topics if kafka.exists(topic)]
        return [TopicPartition(t, n) for t in there for n in range(kafka.partitions(t))]

    def _brokers_down(self) -> None:
        self.world.kafka.down_until = self.world.kernel.now + self.random.uniform(1, 25)

    def _some_partition(self) -> TopicPartition:
        return self.random.choice(self.partitions())

    def _open_transaction(self) -> None:
        partition = self._some_partition()
        self.world.kafka.begin(partition, self.random.randint(1, 6))
        commit = self.random.random() < 0.6
        topic_id = self.world.kafka.topic_id(partition.topic)

        def decide() -> None:
            if self.world.kafka.topic_id(partition.topic) == topic_id:
                self.world.kafka.decide(partition, commit=commit)

        self.world.kernel.after(self.random.uniform(0.5, 15), decide)

    def _aborted_transaction(self) -> None:
        partition = self._some_partition()
        if self.world.kafka.log(partition).open_from is None:
            self.world.kafka.produce(partition, self.random.randint(1, 6), ABORTED)
            self.world.kafka.produce(partition, 1, CONTROL)

    def _control_records(self) -> None:
        self.world.kafka.produce(self._some_partition(), 1, CONTROL)

    def _holes(self) -> None:
        self.world.kafka.compact(self._some_partition())

    def _retention(self) -> None:
        rows = self.world.store_connection.execute(
            "SELECT topic, partition, next_offset FROM committed_offsets"
        ).fetchall()
        there = set(self.partitions())
        for topic, number, committed in rows:
            if (topic, number) in there:
                self.world.kafka.truncate(TopicPartition(topic, number), committed)

    def _partition_added(self) -> None:
        if len(self.partitions()) < 5:
            self.world.kafka.add_partition(TOPIC)

    def _retention_of_unread_records(self) -> None:
        partition = self._some_partition()
        log = self.world.kafka.log(partition)
        if self.world.knows(partition):  # else nobody has promised these records to anyone
            self.world.kafka.truncate(partition, self.random.randint(log.start, log.stable))

    def _topic_recreated(self) -> None:
        if self.world.kafka.exists(TOPIC):
            self.world.kafka.create(TOPIC, self.random.randint(1, 4))
            if self.random.random() < 0.7:
                for partition in (p for p in self.partitions() if p.topic == TOPIC):
                    self.world.kafka.produce(partition, self.random.randint(0, 60))
            self._reset_some_day()

    def _topic_gone_for_a_while(self) -> None:
        self.world.kafka.delete(TOPIC)

        def again() -> None:
            if not self.world.kafka.exists(TOPIC):
                self.world.kafka.create(TOPIC, self.random.randint(1, 4))

        self.world.kernel.after(self.random.uniform(1, 12), again)
        self._reset_some_day()

    def _reset_some_day(self) -> None:
        if self.random.random() < 0.7:
            self.world.kernel.after(self.random.uniform(1, 20), self._reset)

    def _reset(self) -> None:
        self.user.ask("reset", lambda o: o.resets.reset(SUPERVISOR, "user"))
