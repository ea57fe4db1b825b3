"""The topics of state and results, as a projector reads them: one consumer, no group."""

from collections.abc import Mapping, Sequence

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.projection import Place, ProjectedRecord

__all__ = ["KafkaProjectionFeed"]

_ANSWER_S = 10.0
_END = KafkaError._PARTITION_EOF  # noqa: SLF001 -- its public name
_PASSES = {
    KafkaError._TRANSPORT,  # noqa: SLF001 -- its public name
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 -- its public name
    KafkaError._RESOLVE,  # noqa: SLF001 -- its public name
    KafkaError._TIMED_OUT,  # noqa: SLF001 -- its public name
}
"""What the client mends by itself: it goes on where it was."""


class KafkaProjectionFeed:
    """Implements `ports.flows.projection.ProjectionFeed`."""

    def __init__(self, client: Mapping[str, str], topics: ExecutionTopics) -> None:
        """`client`: properties of librdkafka that say where and as whom."""
        self._names = {each: topics.name(each) for each in (LogTopic.STATE, LogTopic.RESULTS)}
        self._login = KafkaLogin.of(client, topics)
        self._topics = {name: each for each, name in self._names.items()}
        self._reader = Consumer(
            {
                **client,
                "group.id": topics.group,  # it joins nothing: it reads what it assigns itself
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "isolation.level": "read_committed",
                # Results are deleted after a week, and the state is compacted: what is gone is old.
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 100,
                "queued.max.messages.kbytes": 8192,
                "log_level": 0,
            }
        )

    def read_from(self, starts: Mapping[Place, int | None]) -> None:
        """Read these partitions and no others."""
        places = [
            TopicPartition(self._names[topic], number, OFFSET_BEGINNING if at is None else at)
            for (topic, number), at in starts.items()
        ]
        try:
            self._reader.assign(places)
        except KafkaException as error:
            raise self._login.meaning_of(error, "reading for the projection") from error

    def read(self, limit: int, within_s: float) -> Sequence[ProjectedRecord]:
        """Return what comes next: all that is there once something is."""
        try:
            first = self._reader.poll(within_s)
            more = [] if first is None else self._reader.consume(limit - 1, 0)
        except KafkaException as error:
            raise self._login.meaning_of(error, "reading for the projection") from error
        messages = [] if first is None else [first, *more]
        return [record for each in messages if (record := self._read(each)) is not None]

    def end(self, place: Place) -> int:
        """Return the offset behind the last committed record."""
        topic, number = place
        try:
            where = TopicPartition(self._names[topic], number)
            return self._reader.get_watermark_offsets(where, _ANSWER_S, cached=False)[1]
        except KafkaException as error:
            raise self._login.meaning_of(error, "looking for the end of the projection") from error

    def close(self) -> None:
        """Give the connection up."""
        self._reader.close()

    def _read(self, message: Message) -> ProjectedRecord | None:
        error, offset = message.error(), message.offset() or 0
        if error is not None and error.code() in _PASSES:
            return None
        if error is not None and error.code() != _END:
            raise self._login.meaning_of(KafkaException(error), "reading for the projection")
        place = (self._topics[message.topic() or ""], message.partition() or 0)
        if error is not None:
            return ProjectedRecord(place, offset, is_end=True)
        key = (message.key() or b"").decode(errors="replace")
        return ProjectedRecord(place, offset, key, message.value())
