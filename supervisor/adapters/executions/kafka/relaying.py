"""The leader's letters on the history: one transactional id for all leaders, so one of them sends.

The transactional id is `relay` behind the prefix of the topics.
"""

from collections.abc import Mapping, Sequence

from supervisor.adapters.executions.kafka.kept import KeptTopics
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.kafka.transactions import PartitionProducer
from supervisor.ports.flows.execution_log import LogAway, LogEntry, LogRefuses, LogTopic

__all__ = ["KafkaHistoryWriter", "kept_history"]


def kept_history(kept: KeptTopics, topics: ExecutionTopics) -> None:
    """Look whether executors have made the history, and made it as it is wanted here.

    Raises:
        LogAway: none has made it yet.
        LogRefuses: it has another name, or other partitions.
        StoreAway, StoreRefuses: the database.
    """
    history, wanted = kept.all().get(LogTopic.HISTORY), topics.all[LogTopic.HISTORY]
    if history is None:  # to write would let a broker make it as it likes
        raise LogAway("the topics of executions are not there yet: start `tidegate executor`")
    if (history.name, history.partitions) != (wanted.name, wanted.partitions):
        raise LogRefuses(
            f"executions live on {history.name} with {history.partitions} partitions, and "
            f"TIDEGATE_EXECUTIONS_PREFIX here leads to {wanted.name} with {wanted.partitions}"
        )


class KafkaHistoryWriter:
    """Implements `ports.flows.outbox.HistoryWriter`."""

    def __init__(self, client: Mapping[str, str], topics: ExecutionTopics) -> None:
        """`client`: properties of librdkafka that say where and as whom; nothing is opened yet."""
        self._history = topics.name(LogTopic.HISTORY)
        self._producer = PartitionProducer(client, topics.relay_id)

    def fence(self) -> None:
        """Let no leader before write any more."""
        self._producer.fence()

    def write(self, entries: Sequence[LogEntry]) -> None:
        """Write all in one transaction."""
        self._producer.write(entries, {LogTopic.HISTORY: self._history})

    def close(self) -> None:
        """Give the producer up."""
        self._producer.close()
