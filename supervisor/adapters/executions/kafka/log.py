"""One partition of the topics of executions, for its owner: fence, restore, read, write."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Protocol

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaException,
    TopicPartition,
)

from supervisor.adapters.executions.kafka.reaching import reach
from supervisor.adapters.executions.kafka.reading import HistoryReading, end_at
from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.settling import HangingTransaction
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.kafka.transactions import PartitionProducer
from supervisor.core.executions.records import StateRecord
from supervisor.ports.flows.execution_log import (
    LogAway,
    LogEntry,
    LogRecord,
    LogTopic,
)

__all__ = ["KafkaPartitionLog", "PartitionWriter"]

_ANSWER_S = 30.0
_QUIET_S = 60.0
"""A restore that gets no record for this long is given up."""
_AT_ONCE = 1_000


class PartitionWriter(Protocol):
    """The producer of a partition."""

    def fence(self) -> None:
        """See `PartitionProducer.fence`."""
        ...

    def write(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """See `PartitionProducer.write`."""
        ...

    def write_aborted(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """See `PartitionProducer.write_aborted`."""
        ...

    def close(self) -> None:
        """See `PartitionProducer.close`."""
        ...


class KafkaPartitionLog:
    """Implements `execution_log.PartitionLog`: one producer and one consumer of its own.

    Another consumer looks for what hangs while it is taken over.
    """

    def __init__(
        self,
        client: Mapping[str, str],
        topics: ExecutionTopics,
        partition: int,
        writer: Callable[[Mapping[str, str], str, KafkaLogin], PartitionWriter] = PartitionProducer,
    ) -> None:
        """`client`: properties of librdkafka that say where and as whom; nothing is opened yet."""
        self._client = client
        self._topics = topics
        self._login = KafkaLogin.of(client, topics)
        self._partition = partition
        self._new_writer = writer
        self._names = {each: topics.name(each) for each in LogTopic}
        self._writer: PartitionWriter | None = None
        self._reader: Consumer | None = None
        self._reading: HistoryReading | None = None

    def take_over(self) -> Sequence[StateRecord]:
        """Fence, end what hangs, then read the state up to where it ends; see the port."""
        self.close()
        self._writer = self._new_writer(
            self._client, self._topics.transactional_id(self._partition), self._login
        )
        self._writer.fence()
        self._reader = self._new_reader("read_committed")
        try:
            self._end_what_hangs(self._writer, self._reader)
            return self._restore(self._reader)
        except KafkaException as error:
            raise self._login.meaning_of(error, f"restoring partition {self._partition}") from error

    def look(self) -> Sequence[StateRecord]:
        """Read the state up to where it ends, and fence nobody; nothing is taken over."""
        try:
            with closing(self._new_reader("read_committed")) as reader:
                return self._restore(reader)
        except KafkaException as error:
            raise self._login.meaning_of(error, f"reading partition {self._partition}") from error

    def read_from(self, offset: int | None) -> None:
        """Let `read` begin there."""
        if self._reader is None:
            raise LogAway(f"partition {self._partition} is not taken over")
        if self._reading is not None:
            self._reading.close()
        start = OFFSET_BEGINNING if offset is None else offset
        place = TopicPartition(self._names[LogTopic.HISTORY], self._partition, start)
        self._reading = HistoryReading(self._reader, place, self._login)

    def read(self, limit: int, within_s: float) -> Sequence[LogRecord]:
        """Return the next inputs."""
        if self._reading is None:
            raise LogAway(f"partition {self._partition} is not taken over")
        return self._reading.take(limit, within_s)

    def wake(self) -> None:
        """Let a read that waits return; see the port."""
        if (reading := self._reading) is not None:
            reading.wake()

    def behind(self) -> int | None:
        """Return how many offsets lie behind what was read last; the ends of transactions too."""
        reading = self._reading
        return None if reading is None else reading.behind()

    def end_seen(self) -> int | None:
        """Return where the history ended when its end was reached; see the port."""
        reading = self._reading
        return None if reading is None else reading.end_seen()

    def write(self, entries: Sequence[LogEntry]) -> None:
        """Write all in one transaction."""
        if self._writer is None:
            raise LogAway(f"partition {self._partition} is not taken over")
        self._writer.write(entries, self._names)

    def close(self) -> None:
        """Give both connections up."""
        if self._writer is not None:
            self._writer.close()
        if self._reading is not None:
            self._reading.close()
        if self._reader is not None:
            self._reader.close()
        self._writer = self._reader = self._reading = None

    def _end_what_hangs(self, writer: PartitionWriter, reader: Consumer) -> None:
        with closing(self._new_reader("read_uncommitted")) as everything:
            hanging = HangingTransaction(
                reader, everything, self._topics, self._partition, self._login
            )
            hanging.end(writer.write, writer.write_aborted)

    def _new_reader(self, isolation: str) -> Consumer:
        reader = Consumer(
            {
                **self._client,
                "group.id": self._topics.group,  # it joins nothing: it reads what it assigns itself
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "isolation.level": isolation,
                # A position that is gone is a loss of inputs: nobody may step over it.
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 100,
                "queued.max.messages.kbytes": 8192,
                "log_level": 0,
            }
        )
        reach(reader, self._names[LogTopic.HISTORY])
        return reader

    def _restore(self, reader: Consumer) -> Sequence[StateRecord]:
        place = TopicPartition(self._names[LogTopic.STATE], self._partition, OFFSET_BEGINNING)
        low, end = reader.get_watermark_offsets(place, _ANSWER_S, cached=False)
        newest: dict[bytes, bytes | None] = {}
        reader.assign([place])
        reached, quiet_since = low, time.monotonic()
        while reached < end:
            # `consume` with a time waits for all of its records, also where there are fewer.
            first = reader.poll(0.5)
            messages = [] if first is None else [first, *reader.consume(_AT_ONCE, 0)]
            if messages:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > _QUIET_S:
                raise LogAway(f"the state of partition {self._partition} ends before {end}")
            for message in messages:
                reached = max(reached, end_at(message, self._partition, self._login))
                if message.error() is None and (message.offset() or 0) < end:
                    newest[message.key() or b""] = message.value()
        return [
            StateRecord(key.decode(errors="replace"), value)
            for key, value in newest.items()
            if value is not None
        ]
