"""The transactional producer of one partition, and what each of its errors means.

retriable            the same call again, until its time is over
abortable            abort: nothing is written, and the same may be written again
fenced               another owner has begun: this producer writes nothing more
fatal, or neither    nobody knows what is written: a new producer finds out by fencing this one
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from supervisor.adapters.executions.kafka.reaching import reach
from supervisor.adapters.executions.kafka.rights import FENCED, REFUSED, KafkaLogin
from supervisor.adapters.executions.kafka.topics import RECORD_BYTES_MAX
from supervisor.ports.flows.execution_log import (
    LogAborted,
    LogAway,
    LogEntry,
    LogFenced,
    LogTooLarge,
    LogTopic,
)
from tasks.contract.kafka_client import Overheard

__all__ = ["TRANSACTION_S", "PartitionProducer"]

TRANSACTION_S = 10.0
"""The broker aborts what is open for longer, below the time in which a dead owner is noticed."""
_ANSWER_S = 30.0
"""For a call that may be repeated, all in all."""
_CALL_S = 10.0
_TOO_LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}


class PartitionProducer:
    """Writes transactions under one transactional id, for one thread."""

    def __init__(self, client: Mapping[str, str], transactional_id: str, login: KafkaLogin) -> None:
        """Connect to nothing yet; `client`: properties of librdkafka that say where and as whom.

        `login`: of the same client, for what is said when a right is missing.
        """
        self._id = transactional_id
        self._meaning_of = login.meaning_of
        self._refused: list[KafkaError] = []
        self._heard = Overheard()
        self._producer = Producer(
            {
                **client,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": int(TRANSACTION_S * 1000),
                "compression.type": "lz4",
                "message.max.bytes": RECORD_BYTES_MAX,
                "error_cb": self._heard.hear,
                "log_level": 0,
            }
        )

    def fence(self) -> None:
        """End what any other producer of this id has open, and let it write nothing more.

        Raises:
            LogFenced: a third one has done the same at the same time.
            LogAway, LogRefuses: it could not be done.
        """
        doing = f"taking over {self._id}"
        reach(self._producer)
        try:
            self._repeat(self._producer.init_transactions)
        except KafkaException as error:
            with suppress(KafkaException):  # a fatal one is raised here again
                self._producer.poll(0)  # what it has reported
            raise self._meaning_of(error, doing, self._heard) from error

    def write(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """Write all in one transaction; `topics`: topic of the port -> its name.

        Raises:
            LogAborted, LogTooLarge: nothing is written.
            LogFenced, LogAway, LogRefuses: see the port.
        """
        try:
            self._begin(entries, topics)
            self.commit()
        except KafkaException as error:
            raise self._end(error) from error

    def write_aborted(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """Write all in one transaction, and abort it: what hung in its partitions goes with it.

        Raises:
            LogFenced, LogAway, LogRefuses: see the port.
        """
        try:
            self._begin(entries, topics)
            if self._producer.flush(_ANSWER_S):  # an abort tells those that have a record alone
                raise LogAway(f"{self._id}: nothing is taken for {_ANSWER_S:.0f} s")
            self._repeat(self._producer.abort_transaction)
        except KafkaException as error:
            raise self._meaning_of(error, f"aborting with {self._id}") from error

    def commit(self) -> None:
        """Commit what is produced."""
        self._repeat(self._producer.commit_transaction)

    def close(self) -> None:
        """Give the producer up; an open transaction is left to the next owner, who ends it."""
        self._producer.purge(in_queue=True, in_flight=True, blocking=False)

    def _begin(self, entries: Sequence[LogEntry], topics: Mapping[LogTopic, str]) -> None:
        """Begin a transaction of these."""
        self._refused.clear()
        self._producer.begin_transaction()
        for entry in entries:
            self._produce(entry, topics[entry.topic])

    def _produce(self, entry: LogEntry, topic: str) -> None:
        until = time.monotonic() + _ANSWER_S
        while True:
            try:
                self._producer.produce(
                    topic,
                    entry.value,
                    entry.key,
                    entry.partition,
                    on_delivery=self._note,
                    headers=dict(entry.headers) or None,
                )
            except BufferError:  # the local queue is full: it empties while we wait
                if time.monotonic() > until:
                    raise LogAway(f"{topic}: nothing is taken for {_ANSWER_S:.0f} s") from None
                self._producer.poll(0.1)
            else:
                self._producer.poll(0)
                return

    def _note(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._refused.append(error)

    def _end(self, error: KafkaException) -> Exception:
        """Abort if that is what the error asks for; return what it means."""
        reason = error.args[0]
        codes = {reason.code(), *(each.code() for each in self._refused)}
        if codes & FENCED:
            return LogFenced(f"{self._id}: {reason.str()}")
        too_large = bool(codes & _TOO_LARGE)
        if reason.fatal() or not (reason.txn_requires_abort() or too_large):
            return self._meaning_of(error, f"writing with {self._id}")
        try:
            self._repeat(self._producer.abort_transaction)
        except KafkaException as worse:
            return self._meaning_of(worse, f"aborting a transaction of {self._id}")
        if too_large:
            return LogTooLarge(f"{self._id}: {reason.str()}")
        if codes & REFUSED:
            return self._meaning_of(error, f"writing with {self._id}")
        return LogAborted(f"{self._id}: {reason.str()}")

    def _repeat(self, call: Callable[[float], object]) -> None:
        """Make a call again for as long as Kafka says that this may help."""
        until = time.monotonic() + _ANSWER_S
        while True:
            try:
                call(_CALL_S)
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > until:
                    raise
            else:
                return
