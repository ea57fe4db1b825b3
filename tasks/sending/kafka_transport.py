"""Records by Kafka: idempotent, acknowledged by all replicas, one answer per batch.

A batch counts as sent when the broker has acknowledged each of its records.  What it refuses for
good, as a record that is larger than the topic takes, is left out and counted: the senders cut
records to the topic's limit, so that happens only after the limit was lowered.  A broker refuses a
record together with those that the client has packed beside it: so each of them is sent again,
alone.
"""

import time
from collections.abc import Mapping, Sequence
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tasks.contract.kafka_client import Overheard
from tasks.sending.transport import Outgoing, TransportAway

__all__ = ["KafkaTransport"]

QUEUE_KBYTES = 16 * 1024
"""Of the client, for what is under way."""
RECORD_BYTES_MAX = 16 * 1024 * 1024
"""The client's own limit, above all of ours: the topic's limit decides."""
_ANSWERS_WITHIN_S = 30.0
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
        self.refused_total += len(refused)

    def close(self) -> None:
        """Give up what is under way: it is sent again after the next start."""
        if self._producer is not None:
            self._producer.purge()
            self._producer.flush(0.0)
            self._producer = None

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
