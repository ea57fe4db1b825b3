"""Topics of records by Kafka's consumer groups: a pattern, cooperative assignment, exact starts.

    committed                     start
    within what the topic has ─►  committed
    none yet                  ─►  the earliest record
    deleted by retention      ─►  the earliest record, and what is lost is counted
    beyond the topic's end    ─►  the earliest record: the topic was deleted and created again

The client would go to the earliest record by itself and say nothing, so it is set to an error.  A
partition after that error takes no seek: it is given back and assigned anew.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import structlog
from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from supervisor.adapters.kafka.group_lag import GroupLag
from supervisor.ports.reports.feed import (
    FeedEvents,
    FeedPartition,
    FeedRecord,
    TopicLag,
)
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from tasks.contract.kafka_client import Overheard

__all__ = ["FeedOptions", "KafkaFeed"]

log = structlog.get_logger()

_ASKS_WITHIN_S = 5.0
_AUTO_OFFSET_RESET, _FATAL, _TIMED_OUT = -140, -150, -185
"""Codes of librdkafka's own errors of these names."""
_OUT_OF_RANGE = {_AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}


@dataclass(frozen=True)
class FeedOptions:
    """Where to read, as whom, and how much ahead."""

    client: Mapping[str, str]
    """Properties of librdkafka that say where and as whom."""
    pattern: str
    """A regular expression for whole names of topics, without its `^`."""
    group: str
    instance: str
    """The name of this process; it keeps its partitions when it is back within the session."""
    session_s: float = 10.0
    refresh_s: float = 5.0
    """How soon a new topic is seen."""
    ahead_kbytes: int = 8 * 1024
    """What the client reads ahead, beyond what was taken."""

    def properties(self) -> dict[str, object]:
        """Return the properties of a consumer that commits nothing by itself."""
        return {
            "client.id": self.instance,
            "group.id": self.group,
            "group.instance.id": self.instance,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": int(self.session_s * 1000),
            "topic.metadata.refresh.interval.ms": int(self.refresh_s * 1000),
            "queued.max.messages.kbytes": self.ahead_kbytes,
            "log_level": 0,
            **self.client,
        }


class KafkaFeed:
    """Implements `ports.reports.feed.Feed`."""

    def __init__(self, options: FeedOptions) -> None:
        """Prepare; `open` connects."""
        self._options = options
        self._lag = GroupLag(options.client, re.compile(options.pattern), options.group)
        self._overheard = Overheard()
        self._consumer: Consumer | None = None
        self._events: FeedEvents | None = None
        self.trouble = ""

    def open(self, events: FeedEvents) -> None:
        """Join the group; see the port."""
        self._events = events
        properties = {**self._options.properties(), "error_cb": self._overheard.hear}
        try:
            self._consumer = Consumer(properties)
        except KafkaException as error:
            raise StoreRefuses(f"Kafka's client refuses its properties: {error}") from error
        self._consumer.subscribe(
            [f"^{self._options.pattern}$"],
            on_assign=self._assigned,
            on_revoke=self._revoked,
            on_lost=self._lost,
        )

    def take(self, most: int, within_s: float) -> Sequence[FeedRecord]:
        """Return what has come; see the port."""
        try:
            messages = self._open().consume(most, within_s)
        except KafkaException as error:
            raise self._problem(error.args[0]) from error
        records = []
        for message in messages:
            if (trouble := message.error()) is not None:
                self._heed(message, trouble)
            else:
                records.append(_record_of(message))
        if records:
            self.trouble = ""
        elif (overheard := self._overheard.why()) is not None:
            self.trouble = ": ".join(overheard)
        return records

    def pause(self, places: Collection[FeedPartition]) -> None:
        """Take nothing of these; see the port."""
        self._open().pause([TopicPartition(*place) for place in places])

    def resume(self, places: Collection[FeedPartition]) -> None:
        """Take records of these again; see the port."""
        self._open().resume([TopicPartition(*place) for place in places])

    def commit(self, offsets: Mapping[FeedPartition, int]) -> bool:
        """Commit, and wait for the answer; see the port."""
        wanted = [TopicPartition(*place, offset) for place, offset in offsets.items()]
        try:
            answers = self._open().commit(offsets=wanted, asynchronous=False)
        except KafkaException as error:
            # A rebalance under way, or brokers that are away: the tracker keeps the offsets.
            self.trouble = f"offsets are not committed: {error.args[0].str()}"
            return False
        return not any(each.error for each in answers or ())

    def lag(self) -> Mapping[str, TopicLag]:
        """Return how far the group is behind; see the port."""
        return self._lag.read()

    def close(self) -> None:
        """Close the consumer; a static member keeps its place until the session ends."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _open(self) -> Consumer:
        if self._consumer is None:
            raise StoreRefuses("the feed is closed")
        return self._consumer

    def _ends(self, place: TopicPartition) -> tuple[int, int]:
        """Return the earliest offset and the next one to be written.

        Raises:
            KafkaException: the brokers do not say.
        """
        ends = self._open().get_watermark_offsets(
            TopicPartition(place.topic, place.partition), timeout=_ASKS_WITHIN_S, cached=False
        )
        if ends is None:
            raise KafkaException(KafkaError(_TIMED_OUT))
        return ends

    def _assigned(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        lost: dict[FeedPartition, int] = {}
        try:
            committed = consumer.committed(places, _ASKS_WITHIN_S)
            starts = [self._start(place, lost) for place in committed]
        except KafkaException as error:
            # Where the broker has no such offset, the error comes once more, with the records.
            log.warning("offsets of reports are not known yet", why=error.args[0].str())
            starts, lost = places, {}
        consumer.incremental_assign(starts)
        self._announce([FeedPartition(each.topic, each.partition) for each in places], lost)

    def _announce(self, places: Sequence[FeedPartition], lost: Mapping[FeedPartition, int]) -> None:
        if self._events is not None:
            self._events.assigned(places)
            for place, number in lost.items():
                self._events.skipped(place, number)

    def _start(self, committed: TopicPartition, lost: dict[FeedPartition, int]) -> TopicPartition:
        """Return where to begin, and note what can never be read.

        Raises:
            KafkaException: the brokers do not say.
        """
        low, high = self._ends(committed)
        offset = committed.offset
        if not low <= offset <= high:
            if 0 <= offset < low:
                lost[FeedPartition(committed.topic, committed.partition)] = low - offset
            offset = low
        return TopicPartition(committed.topic, committed.partition, offset)

    def _revoked(self, _: Consumer, places: list[TopicPartition]) -> None:
        if self._events is not None:
            self._events.revoked([FeedPartition(each.topic, each.partition) for each in places])

    def _lost(self, _: Consumer, places: list[TopicPartition]) -> None:
        if self._events is not None:
            self._events.lost([FeedPartition(each.topic, each.partition) for each in places])

    def _heed(self, message: Message, error: KafkaError) -> None:
        """Act upon an error that came among the records.

        Raises:
            StoreRefuses: no call can succeed any more.
        """
        if error.fatal() or error.code() == _FATAL:
            raise self._problem(error)
        topic, partition = message.topic(), message.partition()
        if error.code() in _OUT_OF_RANGE and topic is not None and partition is not None:
            self._begin_anew(TopicPartition(topic, partition))
        else:
            self.trouble = error.str()

    def _begin_anew(self, place: TopicPartition) -> None:
        """Go on with a partition whose next record is gone."""
        consumer = self._open()
        try:
            (at,) = consumer.position([place])
            if at.offset == OFFSET_INVALID or at.offset < 0:
                (at,) = consumer.committed([place], _ASKS_WITHIN_S)
            lost: dict[FeedPartition, int] = {}
            start = self._start(at, lost)
            consumer.incremental_unassign([place])
            consumer.incremental_assign([start])
        except KafkaException as error:
            self.trouble = f"{place.topic}[{place.partition}] is not read: {error.args[0].str()}"
            return
        if self._events is not None:
            for each, number in lost.items():
                self._events.skipped(each, number)

    def _problem(self, error: KafkaError) -> StoreAway | StoreRefuses:
        if error.fatal() or error.code() == _FATAL:
            return StoreRefuses(
                f"Kafka takes no further call of this process: {error.str()}. Each persister needs "
                f"a name of its own: this one is {self._options.instance}, by "
                "TIDEGATE_REPORTS_INSTANCE. Then start it again"
            )
        return StoreAway(error.str())


def _record_of(message: Message) -> FeedRecord:
    place = FeedPartition(str(message.topic()), _number(message.partition()))
    return FeedRecord(
        place, _number(message.offset()), _bytes(message.key()), _bytes(message.value()) or b""
    )


def _number(value: int | None) -> int:
    """Return what a message without an error always has."""
    assert value is not None
    return value


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
