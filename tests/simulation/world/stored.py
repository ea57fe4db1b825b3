"""What the rows of a run say of its supervisors' offsets, compared with what Kafka holds."""

import sqlite3
from collections.abc import Sequence

from tasks.contract.offsets import TopicPartition
from tests.simulation.world.kafka import Kafka

SUPERVISOR, NEIGHBOUR = "clicks", "orders"
_OFFSETS = "FROM committed_offsets WHERE supervisor_id = ?"


class Stored:
    """The questions of a world about one supervisor, by default its first."""

    store_connection: sqlite3.Connection
    kafka: Kafka
    topics: Sequence[str]

    def lag(self) -> int:
        """Return how many offsets below the last stable ones are not committed."""
        return self.lag_of(SUPERVISOR, self.topics)

    def lag_of(self, supervisor_id: str, topics: Sequence[str]) -> int:
        """Return the same of one supervisor that reads these topics."""
        rows = self.store_connection.execute(
            f"SELECT topic, partition, next_offset {_OFFSETS}", (supervisor_id,)
        )
        committed = {(topic, n): at for topic, n, at in rows}
        lag = 0
        for topic in topics:
            _, logs = self.kafka.topic_view(topic) or ("", {})
            lag += sum(max(0, log.stable - committed.get(p, 0)) for p, log in logs.items())
            lag += sum(1 for p in logs if p not in committed)
        return lag

    def knows(self, partition: TopicPartition) -> bool:
        """Tell whether the supervisor has a committed offset of a partition."""
        row = self.store_connection.execute(
            "SELECT 1 FROM committed_offsets WHERE topic = ? AND partition = ?", partition
        )
        return row.fetchone() is not None

    def committed_partitions(self) -> list[TopicPartition]:
        """Return those with a committed offset that Kafka has now."""
        rows = self.store_connection.execute(
            f"SELECT topic, partition {_OFFSETS} ORDER BY 1, 2", (SUPERVISOR,)
        )
        kafka = self.kafka
        known = [TopicPartition(*row) for row in rows]
        return [
            p for p in known if kafka.exists(p.topic) and p.partition < kafka.partitions(p.topic)
        ]

    def is_broken(self) -> bool:
        """Tell whether Kafka does not hold what is to be read next: only a reset mends that."""
        rows = self.store_connection.execute(
            f"SELECT topic, partition, next_offset, topic_id {_OFFSETS}", (SUPERVISOR,)
        ).fetchall()
        for topic, number, at, stored_id in rows:
            topic_id, logs = self.kafka.topic_view(topic) or ("", {})
            if not topic_id:
                continue
            log = logs.get(TopicPartition(topic, number))
            if log is None or stored_id != topic_id or not log.start <= at <= log.end:
                return True
        return False
