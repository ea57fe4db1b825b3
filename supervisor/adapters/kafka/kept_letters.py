"""Dead letters of a topic, read by clients that join no group: one for each call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import NamedTuple

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.reports.kept_letters import KeptLetter, LetterExtent, LetterPlace
from supervisor.ports.store_problems import StoreAway

__all__ = ["KafkaKeptLetters", "LetterOrigin"]

_WITHIN_S = 10.0
_COUNTED_AT_ONCE = 500
_END, _MISSING = KafkaError._PARTITION_EOF, KafkaError.UNKNOWN_TOPIC_OR_PART  # noqa: SLF001


class LetterOrigin(NamedTuple):
    """Where a letter was read, and why it is one."""

    topic: str
    partition: int
    offset: int
    reason: str


def _of_report(headers: Mapping[str, str]) -> LetterOrigin:
    return LetterOrigin(
        headers.get("tidegate.topic", ""),
        _number(headers.get("tidegate.partition", "")),
        _number(headers.get("tidegate.offset", "")),
        headers.get("tidegate.reason", "it does not say why"),
    )


class _CountedLetters(NamedTuple):
    """The letters of a partition before `end`."""

    end: int
    offsets: Sequence[int]


class KafkaKeptLetters:
    """Implements `ports.reports.kept_letters.KeptLetters`."""

    def __init__(
        self,
        client: Mapping[str, str],
        topic: str,
        origin_of: Callable[[Mapping[str, str]], LetterOrigin] = _of_report,
        *,
        in_transactions: bool = False,
    ) -> None:
        """Prepare to read; `client`: properties of librdkafka that say where and as whom.

        `origin_of`: reads the headers of a letter.  `in_transactions`: the end of each transaction
        is an offset without a letter, so that letters are counted one by one, each once.
        """
        self._in_transactions = in_transactions
        self._counted: dict[int, _CountedLetters] = {}
        self._topic = topic
        self._origin_of = origin_of
        self._properties: Mapping[str, object] = {
            **client,
            "group.id": f"{topic}-reader",  # never joined, and nothing is committed
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "queued.max.messages.kbytes": 4 * 1024,
            "log_level": 0,
        }

    @property
    def source(self) -> str:
        """The topic."""
        return f"topic {self._topic}"

    def newest(
        self, before: LetterPlace | None, partition: int | None, limit: int
    ) -> Sequence[KeptLetter]:
        """Return letters, the newest first; see the port."""
        letters: list[KeptLetter] = []
        with self._reading() as consumer:
            for each, (low, high) in self._bounds(consumer):
                if partition not in {None, each} or (before and each > before.partition):
                    continue
                end = min(high, before.offset) if before and each == before.partition else high
                start = max(low, end - (limit - len(letters)))
                letters += reversed(self._between(consumer, each, start, end))
                if len(letters) >= limit:
                    break
        return letters

    def get(self, place: LetterPlace) -> KeptLetter | None:
        """Return one letter; see the port."""
        with self._reading() as consumer:
            low, high = dict(self._bounds(consumer)).get(place.partition, (0, 0))
            if not low <= place.offset < high:
                return None
            letters = self._between(consumer, place.partition, place.offset, place.offset + 1)
        return letters[0] if letters else None

    def extents(self) -> Sequence[LetterExtent]:
        """Return what each partition has; see the port."""
        with self._reading() as consumer:
            return [
                LetterExtent(each, low, self._number_of(consumer, each, low, high))
                for each, (low, high) in self._bounds(consumer)
            ]

    def _number_of(self, consumer: Consumer, partition: int, low: int, high: int) -> int:
        if not self._in_transactions:
            return high - low
        counted = self._counted.get(partition, _CountedLetters(low, ()))
        if counted.end > high:  # the topic was made anew
            counted = _CountedLetters(low, ())
        offsets = [each for each in counted.offsets if each >= low]
        for start in range(max(low, counted.end), high, _COUNTED_AT_ONCE):
            end = min(start + _COUNTED_AT_ONCE, high)
            letters = self._between(consumer, partition, start, end)
            offsets += [each.place.offset for each in letters]
        self._counted[partition] = _CountedLetters(high, offsets)  # two threads write the same
        return len(offsets)

    @contextmanager
    def _reading(self) -> Iterator[Consumer]:
        consumer = Consumer(dict(self._properties))
        try:
            yield consumer
        except KafkaException as error:
            why = error.args[0].str()
            raise StoreAway(f"{self.source} cannot be read: {why}") from error
        finally:
            consumer.close()

    def _bounds(self, consumer: Consumer) -> Sequence[tuple[int, tuple[int, int]]]:
        """Return partition -> first offset and end, the highest partition first."""
        about = consumer.list_topics(self._topic, _WITHIN_S).topics[self._topic]
        if about.error is not None:
            if about.error.code() == _MISSING:
                return []  # the first letter makes it, or an administrator
            raise KafkaException(about.error)
        bounds = []
        for each in sorted(about.partitions, reverse=True):
            place = TopicPartition(self._topic, each)
            ends = consumer.get_watermark_offsets(place, timeout=_WITHIN_S, cached=False)
            if ends is None:
                raise StoreAway(f"{self.source} does not say how much it has")
            bounds.append((each, ends))
        return bounds

    def _between(
        self, consumer: Consumer, partition: int, start: int, end: int
    ) -> Sequence[KeptLetter]:
        """Return the letters from `start` on, before `end`."""
        if start >= end:
            return []
        letters: list[KeptLetter] = []
        deadline = monotonic() + _WITHIN_S
        consumer.assign([TopicPartition(self._topic, partition, start)])
        while (left := deadline - monotonic()) > 0:
            for message in consumer.consume(end - start, min(left, 0.2)):
                if (trouble := message.error()) is not None:
                    if trouble.code() == _END:
                        return letters
                    raise KafkaException(trouble)
                kept = self._kept(message)
                if kept.place.offset < end:
                    letters.append(kept)
                if kept.place.offset >= end - 1:
                    return letters
        raise StoreAway(f"{self.source} cannot be read: its letters did not come in time")

    def _kept(self, message: Message) -> KeptLetter:
        kind, at_ms = message.timestamp()
        given: object = message.headers() or []
        headers = {name: _text(value) for name, value in given} if isinstance(given, list) else {}
        origin = self._origin_of(headers)
        return KeptLetter(
            LetterPlace(_at(message.partition()), _at(message.offset())),
            None if kind == TIMESTAMP_NOT_AVAILABLE else datetime.fromtimestamp(at_ms / 1000, UTC),
            DeadLetter(
                key=_bytes(message.key()),
                body=_bytes(message.value()) or b"",
                topic=origin.topic,
                partition=origin.partition,
                offset=origin.offset,
                reason=origin.reason,
            ),
        )


def _at(value: int | None) -> int:
    """Return what a message without an error always has."""
    assert value is not None
    return value


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""


def _number(text: str) -> int:
    """Return a number of a header; -1: somebody else wrote the letter."""
    return int(text) if text.isascii() and text.isdigit() else -1
