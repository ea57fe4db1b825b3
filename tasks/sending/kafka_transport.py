"""Records by Kafka: idempotent, acknowledged by all replicas, one answer per batch.

A batch counts as sent when the broker has acknowledged each of its records.  A broker refuses a
record together with those that the client has packed beside it: so each of them is sent again,
alone.  One that is larger than its topic takes is sent as records that fit, and the log says how
the topic is made to take it whole.  What is refused for good all the same is left out and counted.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import structlog
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from tasks.contract.kafka_client import Overheard
from tasks.reporting.record import BadRecord, read_record
from tasks.reporting.sizes import (
    ENVELOPE_BYTES,
    SMALL_TOPIC,
    TOPIC_BYTES,
    RecordLimits,
    larger_command,
    split,
)
from tasks.runtime.topic_limits import message_bytes_max
from tasks.sending.transport import Outgoing, TransportAway

__all__ = ["KafkaTransport"]

log = structlog.get_logger()

QUEUE_KBYTES = 16 * 1024
"""Of the client, for what is under way."""
RECORD_BYTES_MAX = 16 * 1024 * 1024
"""The client's own limit, above all of ours: the topic's limit decides."""
OVERHEAD_BYTES = 1024
"""More than a topic counts around a record: its key, and the head of its batch."""
_ANSWERS_WITHIN_S = 30.0
_KNOWN_FOR_S = 60.0
_REFUSED = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG, KafkaError.INVALID_RECORD}


class KafkaTransport:
    """One producer for one topic; implements `Transport`."""

    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        client_id: str,
        answers_within_s: float = _ANSWERS_WITHIN_S,
    ) -> None:
        """Prepare to produce; `client`: properties of librdkafka that say where and as whom."""
        self._overheard = Overheard()
        self._topic = topic
        self._within_s = answers_within_s
        self.refused_total = 0
        """Records that the broker refused for good."""
        self._producer: Producer | None = None
        self._client = client
        self._known: int | None = None
        self._known_until = -1.0
        self._warned_of = -1
        """The topic's limit that the log has named."""
        self._properties = {
            **client,
            "client.id": client_id,
            "enable.idempotence": True,
            "acks": "all",
            "compression.type": "lz4",
            "linger.ms": 50,
            "queue.buffering.max.kbytes": QUEUE_KBYTES,
            "message.max.bytes": RECORD_BYTES_MAX,
            "message.timeout.ms": int(answers_within_s * 1000),
            "error_cb": self._overheard.hear,
            "log_level": 0,
        }

    def send(self, batch: Sequence[Outgoing]) -> None:
        """Produce a batch, and wait for its acknowledgements.

        Raises:
            TransportAway: not each record was acknowledged; the text says what is away.
        """
        refused = self._sent(batch)
        if len(batch) > 1:
            refused = [each for one in refused for each in self._sent([one])]
        for each in refused:
            if not self._sent_in_part(each):
                self.refused_total += 1

    def close(self) -> None:
        """Give up what is under way: it is sent again after the next start."""
        if self._producer is not None:
            self._producer.purge()
            self._producer.flush(0.0)
            self._producer = None

    def _sent_in_part(self, refused: Outgoing) -> bool:
        """Send records that fit in place of one that was refused; False: those are refused too.

        Raises:
            TransportAway: as `send`.
        """
        known, size = self._topic_bytes(), len(refused.body) + OVERHEAD_BYTES
        if known is None or known < size:
            self._warn(known, size)
        for record_bytes in _sizes(size, known):
            parts = _parts(refused, RecordLimits(record_bytes))
            if parts and not any(self._sent([each]) for each in parts):
                return True
        return False

    def _topic_bytes(self) -> int | None:
        """Return the topic's limit, as of the last minute; None: nobody says it."""
        now = time.monotonic()
        if now > self._known_until:
            admin = AdminClient({**self._client, "log_level": "0"})
            self._known = message_bytes_max(admin, [self._topic]).get(self._topic)
            self._known_until = now + _KNOWN_FOR_S
        return self._known

    def _warn(self, known: int | None, size: int) -> None:
        if self._warned_of != (known or 0):
            self._warned_of = known or 0
            log.warning(
                SMALL_TOPIC,
                topic=self._topic,
                takes="unknown" if known is None else f"{known} bytes",
                command=larger_command(self._topic, max(TOPIC_BYTES, size)),
            )

    def _sent(self, batch: Sequence[Outgoing]) -> list[Outgoing]:
        """Produce records and wait for the acknowledgements; return those that were refused.

        Raises:
            TransportAway: as `send`.
        """
        deadline = time.monotonic() + self._within_s + 1
        if self._producer is None:
            self._producer = Producer(self._properties)
        try:
            answers = self._produce(self._producer, batch, deadline)
        except KafkaException as error:
            self.close()
            raise self._away(error.args[0]) from error
        errors = [error for _, error in answers if error is not None]
        lasting = [error for error in errors if error.code() not in _REFUSED]
        if lasting or len(answers) < len(batch):
            # What is under way may arrive all the same, as a repeat; a new producer begins anew.
            self.close()
            raise self._away(lasting[0] if lasting else None)
        return [each for each, error in answers if error is not None]

    def _produce(
        self, producer: Producer, batch: Sequence[Outgoing], deadline: float
    ) -> list[tuple[Outgoing, KafkaError | None]]:
        """Return the records with the answers that came in time; None: it is acknowledged."""
        answers: list[tuple[Outgoing, KafkaError | None]] = []

        def note(each: Outgoing, error: KafkaError | None, _: Message) -> None:
            answers.append((each, error))

        for each in batch:
            while True:
                try:
                    producer.produce(
                        self._topic, each.body, each.key, on_delivery=partial(note, each)
                    )
                except BufferError:
                    producer.poll(0.1)
                    if time.monotonic() > deadline:
                        return answers
                except KafkaException as error:
                    if error.args[0].code() not in _REFUSED:
                        raise
                    answers.append((each, error.args[0]))
                    break
                else:
                    break
        producer.flush(max(deadline - time.monotonic(), 0.0))
        return answers

    def _away(self, error: KafkaError | None) -> TransportAway:
        if (overheard := self._overheard.why()) is not None:
            text, advice = overheard
            return TransportAway(f"{text}: {advice}")
        reason = "no acknowledgement in time" if error is None else error.str()
        return TransportAway(
            f"topic {self._topic} takes no reports: {reason}. Check that the topic exists, which a "
            "persister makes at its start, and that this process may write to it"
        )


def _sizes(size: int, known: int | None) -> Iterator[int]:
    """Yield how large records may be that are tried in place of a larger one, in bytes.

    `size`: what the topic counts of that one.  `known`: the topic's limit; None: it does not say.
    """
    smaller = size // 2 if known is None or known >= size else known - OVERHEAD_BYTES
    while smaller > ENVELOPE_BYTES:
        yield smaller
        smaller //= 2


def _parts(refused: Outgoing, limits: RecordLimits) -> list[Outgoing]:
    """Return records that fit in place of one that does not; none: it is not to be divided."""
    try:
        record = read_record(refused.body)
    except BadRecord:
        return []
    return [Outgoing(refused.key, each.to_json().encode()) for each in split(record, limits)]
