"""Inputs for the owners of partitions: written to the history, each known to be there."""

from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from supervisor.adapters.executions.kafka.rights import KafkaLogin
from supervisor.adapters.executions.kafka.topics import RECORD_BYTES_MAX, ExecutionTopics
from supervisor.ports.flows.execution_log import LogAway, LogTooLarge, LogTopic

__all__ = ["HistorySender"]

_WITHIN_S = 30.0


class HistorySender:
    """Sends without a transaction: what is sent twice changes nothing the second time.

    Safe to use from many threads.
    """

    def __init__(self, client: Mapping[str, str], topics: ExecutionTopics) -> None:
        """`client`: properties of librdkafka that say where and as whom; nothing is opened yet."""
        self._history = topics.name(LogTopic.HISTORY)
        self._login = KafkaLogin.of(client, topics)
        self._producer = Producer(
            {
                **client,
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.max.bytes": RECORD_BYTES_MAX,
                "delivery.timeout.ms": int(_WITHIN_S * 1000),
                "log_level": 0,
            }
        )

    def send(self, partition: int, key: str, value: bytes) -> None:
        """Write an input, and return when it is there.

        Raises:
            LogTooLarge: it is larger than Kafka takes.
            LogAway, LogRefuses: it may not be there.
        """
        answers: list[KafkaError | None] = []

        def note(error: KafkaError | None, _: Message) -> None:
            answers.append(error)

        doing = f"sending an input of {key}"
        try:
            self._producer.produce(self._history, value, key.encode(), partition, on_delivery=note)
            self._producer.flush(_WITHIN_S)
        except BufferError:
            raise LogAway(f"{doing}: too many wait already") from None
        except KafkaException as error:
            raise self._meaning_of(error, doing) from error
        if not answers:
            raise LogAway(f"{doing}: no answer within {_WITHIN_S:.0f} s")
        if (refused := answers[0]) is not None:
            raise self._meaning_of(KafkaException(refused), doing)

    def _meaning_of(self, error: KafkaException, doing: str) -> Exception:
        if error.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
            return LogTooLarge(f"{doing}: {error.args[0].str()}")
        return self._login.meaning_of(error, doing)
