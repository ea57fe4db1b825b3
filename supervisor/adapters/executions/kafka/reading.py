"""The history of one partition, read ahead in a thread, so that whoever waits for it can be woken.

    consumer ─► thread ─► a few records ahead ─► take
                                   wake ─────────► ends a wait of take

A consumer of librdkafka waits for records and for nothing else.  The owner of a partition waits for
requests as well: it waits here, and what comes first wakes it.
"""

import threading
from collections import deque
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.ports.flows.execution_log import LogRecord, LogRefuses

__all__ = ["HistoryReading", "end_at"]

AHEAD_MAX = 500
"""While as many records lie here, no more are read."""
_AHEAD_BYTES_MAX = 8 * 1024 * 1024
"""The same, of their values: one may have 2 MiB."""
_POLL_S = 0.1
"""How long `close` may have to wait for the thread."""
_END, _GONE = KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET  # noqa: SLF001
_PASSES = {
    KafkaError._TRANSPORT,  # noqa: SLF001 -- its public name
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 -- its public name
    KafkaError._RESOLVE,  # noqa: SLF001 -- its public name
    KafkaError._TIMED_OUT,  # noqa: SLF001 -- its public name
}
"""What the client mends by itself: it goes on where it was."""


class HistoryReading:
    """Reads from a place on, from its making to `close`; the consumer is its own meanwhile."""

    def __init__(self, consumer: Consumer, place: TopicPartition, login: KafkaLogin) -> None:
        """Begin at once; nobody else uses the consumer before `close`.

        `login`: of the same consumer, for what is said when a right is missing.
        """
        self._consumer = consumer
        self._place = place
        self._login = login
        self._changed = threading.Condition()
        self._ahead: deque[LogRecord] = deque()
        self._ahead_bytes = 0
        self._behind: int | None = None
        self._end_seen: int | None = None
        self._error: Exception | None = None
        self._woken = False
        self._closing = False
        consumer.assign([place])
        name = f"executions-{place.partition}-history"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def take(self, limit: int, within_s: float) -> Sequence[LogRecord]:
        """Return what comes next as soon as something is there; nothing after the time or a `wake`.

        Raises:
            LogFenced, LogAway, LogRefuses: nothing more can be read.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._ahead or self._woken or self._error is not None, within_s
            )
            self._woken = False
            if self._error is not None and not self._ahead:
                raise self._error
            some = [self._ahead.popleft() for _ in range(min(limit, len(self._ahead)))]
            if some:
                self._ahead_bytes -= _size_bytes(some)
                self._changed.notify_all()
        return some

    def wake(self) -> None:
        """Let the `take` that waits, or the next one, return at once."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def behind(self) -> int | None:
        """Return how many offsets lie behind what was taken last; None: not known yet."""
        with self._changed:
            return None if self._behind is None else self._behind + len(self._ahead)

    def end_seen(self) -> int | None:
        """Return where the history ended, if all up to there was taken."""
        with self._changed:
            return None if self._ahead else self._end_seen

    def close(self) -> None:
        """Read no more; the consumer is its owner's again."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._has_room():
                first = self._consumer.poll(_POLL_S)
                if first is not None:
                    self._keep([first, *self._consumer.consume(AHEAD_MAX, 0)])
        except KafkaException as error:
            self._end(self._login.meaning_of(error, f"reading partition {self._place.partition}"))
        except Exception as error:  # noqa: BLE001 -- whoever takes gets it
            self._end(error)

    def _has_room(self) -> bool:
        """Wait until records can be kept; False: it is closing."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._closing
                    or (len(self._ahead) < AHEAD_MAX and self._ahead_bytes < _AHEAD_BYTES_MAX)
                )
            )
            return not self._closing

    def _keep(self, messages: Sequence[Message]) -> None:
        records = [
            LogRecord(message.offset() or 0, message.key() or b"", message.value())
            for message in messages
            if _is_record(message, self._place.partition, self._login)
        ]
        last = messages[-1]
        behind = self._behind_of(last)
        with self._changed:
            self._ahead.extend(records)
            self._ahead_bytes += _size_bytes(records)
            self._behind = behind
            self._end_seen = None if last.error() is None else self._end_at(last) or None
            if records:
                self._changed.notify_all()

    def _end(self, error: Exception) -> None:
        with self._changed:
            self._error = error
            self._changed.notify_all()

    def _behind_of(self, last: Message) -> int | None:
        """Return how far a message is from the end, as its answer said."""
        if last.error() is not None:
            return 0 if self._end_at(last) else self._behind
        _, end = self._consumer.get_watermark_offsets(self._place, cached=True)
        return max(0, end - (last.offset() or 0) - 1)

    def _end_at(self, last: Message) -> int:
        return end_at(last, self._place.partition, self._login)


def _size_bytes(records: Sequence[LogRecord]) -> int:
    return sum(len(one.value or b"") for one in records)


def end_at(message: Message, partition: int, login: KafkaLogin) -> int:
    """Return up to where everything is read: what ends a partition may be no record; 0: unknown.

    Raises:
        LogFenced, LogAway, LogRefuses: the message is an error that the client does not mend.
    """
    if _is_record(message, partition, login):
        return (message.offset() or 0) + 1
    error = message.error()
    is_end = error is not None and error.code() == _END
    return (message.offset() or 0) if is_end else 0


def _is_record(message: Message, partition: int, login: KafkaLogin) -> bool:
    """Whether it is a record; an error that the client does not mend is raised."""
    error = message.error()
    if error is None:
        return True
    if error.code() == _END or error.code() in _PASSES:
        return False
    if error.code() == _GONE:
        raise LogRefuses(
            f"the history of partition {partition} does not go back to where its state stands: "
            f"{error.str()}"
        )
    raise login.meaning_of(KafkaException(error), f"reading partition {partition}")
