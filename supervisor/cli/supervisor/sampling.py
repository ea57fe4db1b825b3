"""Sampling of a topic's newest records by a consumer that joins no group and commits nothing."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.values.errors import StreamUnavailable
from supervisor.core.values.field_types import nearest

_ASK_S = 8.0
_POLL_S = 0.5


@dataclass(frozen=True)
class TopicSample:
    """A sample: the values that are not null, and the topic's number of partitions."""

    values: tuple[bytes, ...]
    partitions: int


def sample_topic(servers: str, topic: str, *, records: int, within: timedelta) -> TopicSample:
    """Return up to `records` of the newest records, spread over the partitions.

    Raises:
        StreamUnavailable: the broker does not answer.
        CommandFailed: the topic does not exist, is empty, or yields no record in time.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"tidegate-init-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )
    try:
        partitions = _partitions(consumer, servers, topic)
        places = [_place(consumer, topic, p, records // len(partitions) + 1) for p in partitions]
        wanted = [place for place in places if place is not None]
        if not wanted:
            raise CommandFailed(
                f"the topic {topic} is empty", "send it some records first, or write a spec by hand"
            )
        consumer.assign(wanted)
        values = _read(consumer, len(wanted), records, within)
        if not values:
            raise CommandFailed(
                f"no record of {topic} came within {within.total_seconds():g} s",
                "its records may belong to open transactions; --within waits longer",
            )
        return TopicSample(tuple(values), len(partitions))
    except KafkaException as error:
        raise _unavailable(error, servers) from error
    finally:
        consumer.close()


def _partitions(consumer: Consumer, servers: str, topic: str) -> list[int]:
    # All topics are requested, because a request for one by name would create it on some brokers.
    topics: Mapping[str, object] = consumer.list_topics(timeout=_ASK_S).topics
    if topic not in topics:
        known = [name for name in topics if not name.startswith("__")]
        meant = nearest(topic, known)
        hint = f"did you mean {meant}?" if meant else f"it has: {', '.join(sorted(known)[:20])}"
        raise CommandFailed(
            f"the broker {servers} has no topic {topic}", hint if known else "it has no topic yet"
        )
    return sorted(consumer.list_topics(topic, timeout=_ASK_S).topics[topic].partitions)


def _place(consumer: Consumer, topic: str, partition: int, records: int) -> TopicPartition | None:
    """Return the offset of the oldest record to sample in a partition; None: it is empty."""
    place = TopicPartition(topic, partition)
    low, high = consumer.get_watermark_offsets(place, timeout=_ASK_S)
    return None if low >= high else TopicPartition(topic, partition, max(low, high - records))


def _read(consumer: Consumer, partitions: int, records: int, within: timedelta) -> list[bytes]:
    deadline = time.monotonic() + within.total_seconds()
    values: list[bytes] = []
    ended: set[int | None] = set()
    while len(values) < records and len(ended) < partitions and time.monotonic() < deadline:
        for message in consumer.consume(records - len(values), _POLL_S):
            if (error := message.error()) is None:
                values += _value(message)
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 -- its public name
                ended.add(message.partition())
            elif not error.retriable():
                raise KafkaException(error)
    return values


def _value(message: Message) -> list[bytes]:
    value = message.value()
    return [] if value is None else [value]


def _unavailable(error: KafkaException, servers: str) -> StreamUnavailable:
    first = error.args[0] if error.args else error
    text = first.str() if isinstance(first, KafkaError) else str(first)
    return StreamUnavailable(
        f"the broker {servers} does not answer: {text}. Is the address right, and reachable from "
        "here? Brokers that need a password are named in a spec written by hand."
    )
