"""The leader's letters on the history: one transactional id for all leaders, so one of them sends.

The transactional id is `relay` behind the prefix of the topics.  So is the group that keeps the
mark of the newest transaction, as the metadata of an offset which nobody reads from.  It is
committed with the letters: where their sender died, the next one knows whether they are there.
"""

from collections.abc import Mapping, Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition

from supervisor.adapters.executions.kafka.kept import KeptTopics
from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.kafka.transactions import PartitionProducer
from supervisor.ports.flows.execution_log import LogAway, LogEntry, LogRefuses, LogTopic

__all__ = ["KafkaHistoryWriter", "MarkingProducer", "kept_history"]

_ANSWER_S = 30.0


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


class MarkingProducer(PartitionProducer):
    """Commits an offset of a group with each transaction."""

    group: object = None
    """The metadata of the group, as its consumer has it."""
    places: Sequence[TopicPartition] = ()

    def commit(self) -> None:
        """Commit what is produced, and the offset."""
        places, send = list(self.places), self._producer.send_offsets_to_transaction
        self._repeat(lambda within_s: send(places, self.group, within_s))
        super().commit()


class KafkaHistoryWriter:
    """Implements `ports.flows.outbox.HistoryWriter`."""

    def __init__(self, client: Mapping[str, str], topics: ExecutionTopics) -> None:
        """`client`: properties of librdkafka that say where and as whom; nothing is opened yet."""
        self._client = client
        self._history = topics.name(LogTopic.HISTORY)
        self._reader: Consumer | None = None
        self._group = topics.relay_id
        self._login = KafkaLogin.of(client, topics)
        self._producer = MarkingProducer(client, topics.relay_id, self._login)

    def fence(self) -> str:
        """Let no leader before write any more; return the mark of what was written last."""
        self._producer.fence()
        if self._reader is None:
            self._reader = Consumer({**self._client, "group.id": self._group, "log_level": 0})
        place, doing = TopicPartition(self._history, 0), f"reading the mark of {self._group}"
        try:
            [kept] = self._reader.committed([place], _ANSWER_S)
        except KafkaException as error:
            raise self._login.meaning_of(error, doing) from error
        if kept.error is not None:
            raise self._login.meaning_of(KafkaException(kept.error), doing)
        self._producer.group = self._reader.consumer_group_metadata()
        return kept.metadata or ""

    def write(self, entries: Sequence[LogEntry], mark: str) -> None:
        """Write all in one transaction, and its mark."""
        self._producer.places = [TopicPartition(self._history, 0, 0, metadata=mark)]
        self._producer.write(entries, {LogTopic.HISTORY: self._history})

    def close(self) -> None:
        """Give both connections up."""
        self._producer.close()
        if self._reader is not None:
            self._reader.close()
        self._reader = None
