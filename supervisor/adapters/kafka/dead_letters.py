"""Dead letters in a topic of their own, each with its origin and the reason in headers."""

import threading
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.store_problems import StoreAway
from tasks.contract.kafka_client import Overheard
from tasks.reporting.sizes import TOPIC_BYTES

__all__ = ["KafkaDeadLetters"]

_ANSWERS_WITHIN_S = 10.0
_REASON_MAX = 1_000


class KafkaDeadLetters:
    """Implements `ports.reports.dead_letters.DeadLetters` by an idempotent producer."""

    def __init__(self, client: Mapping[str, str], topic: str, instance: str) -> None:
        """Prepare to produce; `client`: properties of librdkafka that say where and as whom."""
        self._overheard = Overheard()
        self._topic = topic
        self._lock = threading.Lock()
        self._producer = Producer(
            {
                **client,
                "client.id": f"{instance}-dead",
                "enable.idempotence": True,
                "acks": "all",
                "message.max.bytes": 16 * 1024 * 1024,
                "message.timeout.ms": int(_ANSWERS_WITHIN_S * 1000),
                "error_cb": self._overheard.hear,
                "log_level": 0,
            }
        )

    def put(self, letters: Sequence[DeadLetter]) -> None:
        """Return once the broker has acknowledged all; see the port."""
        errors: list[KafkaError | None] = []

        def answered(error: KafkaError | None, _: Message) -> None:
            errors.append(error)

        with self._lock:  # so that a flush waits for its own letters alone
            try:
                for each in letters:
                    self._producer.produce(
                        self._topic,
                        each.body[:TOPIC_BYTES],
                        each.key,
                        headers=_headers(each),
                        on_delivery=answered,
                    )
                self._producer.flush(_ANSWERS_WITHIN_S + 1)
            except (KafkaException, BufferError) as error:
                raise self._away(str(error)) from error
        bad = [error for error in errors if error is not None]
        if bad or len(errors) < len(letters):
            raise self._away(bad[0].str() if bad else "no acknowledgement in time")

    def close(self) -> None:
        """Give up what is under way: its records are read again."""
        self._producer.purge()
        self._producer.flush(0.0)

    def _away(self, reason: str) -> StoreAway:
        if (overheard := self._overheard.why()) is not None:
            reason = ": ".join(overheard)
        return StoreAway(f"topic {self._topic} takes no dead letters: {reason}")


def _headers(letter: DeadLetter) -> list[tuple[str, str | bytes | None]]:
    return [
        ("tidegate.topic", letter.topic),
        ("tidegate.partition", str(letter.partition)),
        ("tidegate.offset", str(letter.offset)),
        ("tidegate.reason", _reason(letter)),
    ]


def _reason(letter: DeadLetter) -> str:
    """Return why it is a dead letter; of what no topic takes whole, by HTTP alone, the start is."""
    size = len(letter.body)
    cut = f" (the first {TOPIC_BYTES} of its {size} bytes)" if size > TOPIC_BYTES else ""
    return f"{letter.reason[:_REASON_MAX]}{cut}"
