"""The topics of executions for people: how far partitions are, dead letters, and their replay."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.sender import HistorySender
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.kafka.kept_letters import KafkaKeptLetters, LetterOrigin
from supervisor.ports.flows.execution_desk import PartitionEnds
from supervisor.ports.flows.execution_log import LogAway, LogTopic

__all__ = ["KafkaExecutionDesk", "dead_inputs"]

_ANSWER_S = 10.0
_AGAIN_S = 0.2
_ELECTING = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}


class KafkaExecutionDesk:
    """Implements `ports.flows.execution_desk.ExecutionDesk`; each look has a client of its own."""

    def __init__(
        self,
        client: Mapping[str, str],
        topics: ExecutionTopics,
        partition_of: Callable[[str, int], int],
    ) -> None:
        """`client`: properties of librdkafka that say where and as whom; nothing is opened yet.

        `partition_of`: gives the partition of an entity, of so many.
        """
        self._partition_of = partition_of
        self._client = client
        self._topics = topics
        self._lock = threading.Lock()
        self._sender: HistorySender | None = None

    def ends(self) -> Sequence[PartitionEnds]:
        """Return how far each partition is."""
        history, state = (self._topics.name(each) for each in (LogTopic.HISTORY, LogTopic.STATE))
        consumer = Consumer(
            {
                **self._client,
                "group.id": self._topics.group,  # its offsets are read, and it is not joined
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        numbers = range(self._topics.entities)
        try:
            places = [TopicPartition(history, number) for number in numbers]
            committed = _committed(consumer, places)
            return [
                PartitionEnds(
                    place.partition,
                    place.offset if place.offset >= 0 else None,
                    _end(consumer, history, place.partition),
                    _end(consumer, state, place.partition),
                )
                for place in committed
            ]
        except KafkaException as error:
            doing = "looking at the partitions of executions"
            raise KafkaLogin.of(self._client, self._topics).meaning_of(error, doing) from error
        finally:
            consumer.close()

    def send(self, key: bytes, value: bytes) -> None:
        """Write an input to the history once more."""
        with self._lock:
            self._sender = self._sender or HistorySender(self._client, self._topics)
            sender = self._sender
        entity = key.decode(errors="replace")
        sender.send(self._partition_of(entity, self._topics.entities), entity, value)


def dead_inputs(client: Mapping[str, str], topics: ExecutionTopics) -> KafkaKeptLetters:
    """Return the reader of what could not be worked in."""
    history = topics.name(LogTopic.HISTORY)

    def origin_of(headers: Mapping[str, str]) -> LetterOrigin:
        partition, _, offset = headers.get("tidegate-from", "").partition(":")
        reason = headers.get("tidegate-why", "it does not say why")
        return LetterOrigin(history, _number(partition), _number(offset), reason)

    dead = topics.name(LogTopic.DEAD)
    return KafkaKeptLetters(client, dead, origin_of, in_transactions=True)


def _committed(consumer: Consumer, places: Sequence[TopicPartition]) -> Sequence[TopicPartition]:
    """Return what the group has committed; a coordinator that is just elected is waited for."""
    until = time.monotonic() + _ANSWER_S
    while True:
        try:
            return consumer.committed(list(places), timeout=_ANSWER_S)
        except KafkaException as error:
            if error.args[0].code() not in _ELECTING or time.monotonic() > until:
                raise
            consumer.poll(_AGAIN_S)


def _end(consumer: Consumer, topic: str, partition: int) -> int:
    ends = consumer.get_watermark_offsets(
        TopicPartition(topic, partition), timeout=_ANSWER_S, cached=False
    )
    if ends is None:
        raise LogAway(f"{topic} does not say how much it has")
    return ends[1]


def _number(text: str) -> int:
    """Return a number; -1: it is none, as an input of the owner's own has no offset."""
    return int(text) if text.isascii() and text.isdigit() else -1
