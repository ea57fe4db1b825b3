"""One partition of the topics of executions, for its owner: fence, restore, read, write."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.kafka.transactions import PartitionProducer, meaning_of
from supervisor.core.executions.records import StateRecord
from supervisor.ports.flows.execution_log import (
    LogAway,
    LogEntry,
    LogRecord,
    LogRefuses,
    LogTopic,
)

__all__ = ["KafkaPartitionLog", "PartitionWriter"]

_ANSWER_S = 30.0
_QUIET_S = 60.0
"""A restore that gets no record for this long is given up."""
_AT_ONCE = 1_000
_END, _GONE = KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET  # noqa: SLF001
_PASSES = {
    KafkaError._TRANSPORT,  # noqa: SLF001 -- its public name
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 -- its public name
    KafkaError._RESOLVE,  # noqa: SLF001 -- its public name
    KafkaError._TIMED_OUT,  # noqa: SLF001 -- its public name
}
"""What the client mends by itself: it goes on where it was."""


class PartitionWriter(Protocol):
    """The producer of a partition."""

    def fence(self) -> None:
        """See `PartitionProducer.fence`."""
        ...

    def write(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """See `PartitionProducer.write`."""
        ...

    def close(self) -> None:
        """See `PartitionProducer.close`."""
        ...


class KafkaPartitionLog:
    """Implements `execution_log.PartitionLog`: one producer and one consumer of its own."""

    def __init__(
        self,
        client: Mapping[str, str],
        topics: ExecutionTopics,
        partition: int,
        writer: Callable[[Mapping[str, str], str], PartitionWriter] = PartitionProducer,
    ) -> None:
        """`client`: properties of librdkafka that say where and as whom; nothing is opened yet."""
        self._client = client
        self._topics = topics
        self._partition = partition
        self._new_writer = writer
        self._names = {each: topics.name(each) for each in LogTopic}
        self._writer: PartitionWriter | None = None
        self._reader: Consumer | None = None
        self._behind: int | None = None
        self._end_seen: int | None = None

    def take_over(self) -> Sequence[StateRecord]:
        """Fence, then read the state up to where it ended after that; see the port."""
        self.close()
        self._writer = self._new_writer(
            self._client, self._topics.transactional_id(self._partition)
        )
        self._writer.fence()
        self._reader = self._new_reader()
        try:
            return self._restore(self._reader)
        except KafkaException as error:
            raise meaning_of(error, f"restoring partition {self._partition}") from error

    def read_from(self, offset: int | None) -> None:
        """Let `read` begin there."""
        start = OFFSET_BEGINNING if offset is None else offset
        self._open_reader().assign(
            [TopicPartition(self._names[LogTopic.HISTORY], self._partition, start)]
        )

    def read(self, limit: int, within_s: float) -> Sequence[LogRecord]:
        """Return the next inputs."""
        try:
            messages = self._open_reader().consume(limit, within_s)
        except KafkaException as error:
            raise meaning_of(error, f"reading partition {self._partition}") from error
        if messages:
            self._behind = self._behind_of(messages[-1])
            last = messages[-1]
            self._end_seen = None if self._is_record(last) else self._end_at(last) or None
        return [
            LogRecord(message.offset() or 0, message.key() or b"", message.value())
            for message in messages
            if self._is_record(message)
        ]

    def behind(self) -> int | None:
        """Return how many offsets lie behind what was read last; the ends of transactions too."""
        return self._behind

    def end_seen(self) -> int | None:
        """Return where the history ended when its end was reached; see the port."""
        return self._end_seen

    def write(self, entries: Sequence[LogEntry]) -> None:
        """Write all in one transaction."""
        if self._writer is None:
            raise LogAway(f"partition {self._partition} is not taken over")
        self._writer.write(entries, self._names)

    def close(self) -> None:
        """Give both connections up."""
        if self._writer is not None:
            self._writer.close()
        if self._reader is not None:
            self._reader.close()
        self._writer = self._reader = None

    def _new_reader(self) -> Consumer:
        return Consumer(
            {
                **self._client,
                "group.id": self._topics.group,  # it joins nothing: it reads what it assigns itself
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "isolation.level": "read_committed",
                # A position that is gone is a loss of inputs: nobody may step over it.
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 100,
                "queued.max.messages.kbytes": 8192,
                "log_level": 0,
            }
        )

    def _open_reader(self) -> Consumer:
        if self._reader is None:
            raise LogAway(f"partition {self._partition} is not taken over")
        return self._reader

    def _restore(self, reader: Consumer) -> Sequence[StateRecord]:
        place = TopicPartition(self._names[LogTopic.STATE], self._partition, OFFSET_BEGINNING)
        low, end = reader.get_watermark_offsets(place, _ANSWER_S, cached=False)
        newest: dict[bytes, bytes | None] = {}
        reader.assign([place])
        reached, quiet_since = low, time.monotonic()
        while reached < end:
            messages = reader.consume(_AT_ONCE, 0.5)
            if messages:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > _QUIET_S:
                raise LogAway(f"the state of partition {self._partition} ends before {end}")
            for message in messages:
                reached = max(reached, self._end_at(message))
                if message.error() is None and (message.offset() or 0) < end:
                    newest[message.key() or b""] = message.value()
        return [
            StateRecord(key.decode(errors="replace"), value)
            for key, value in newest.items()
            if value is not None
        ]

    def _behind_of(self, last: Message) -> int | None:
        """Return how far a message is from the end, as its answer said."""
        if last.error() is not None:
            return 0 if self._end_at(last) else self._behind
        place = TopicPartition(self._names[LogTopic.HISTORY], self._partition)
        _, end = self._open_reader().get_watermark_offsets(place, cached=True)
        return max(0, end - (last.offset() or 0) - 1)

    def _end_at(self, message: Message) -> int:
        """Return up to where everything is read; what ends a partition may be no record."""
        if self._is_record(message):
            return (message.offset() or 0) + 1
        error = message.error()
        is_end = error is not None and error.code() == _END
        return (message.offset() or 0) if is_end else 0

    def _is_record(self, message: Message) -> bool:
        """Whether it is a record; an error that the client does not mend is raised."""
        error = message.error()
        if error is None:
            return True
        if error.code() == _END or error.code() in _PASSES:
            return False
        if error.code() == _GONE:
            raise LogRefuses(
                f"the history of partition {self._partition} does not go back to where its state "
                f"stands: {error.str()}"
            )
        raise meaning_of(KafkaException(error), f"reading partition {self._partition}")
