"""How far a group is behind in each of its topics, by clients of its own.

A consumer that polls answers no other thread in time, and a member knows its own partitions alone.
The committed offsets come by a consumer that joins no group: asked by an admin client, librdkafka
ends the process where the group's coordinator is not known yet (confluent-kafka-javascript#374).
"""

import re
import time
from collections.abc import Mapping
from concurrent.futures import Future

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    ListOffsetsResultInfo,
    OffsetSpec,
)

from supervisor.ports.reports.feed import TopicLag
from supervisor.ports.store_problems import StoreAway

__all__ = ["GroupLag"]

_WITHIN_S = 5.0
_AGES_WITHIN_S = 2.0
"""To read the oldest record of each partition that is behind."""
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class GroupLag:
    """The lag of one group in the topics that match a pattern; thread-safe."""

    def __init__(self, client: Mapping[str, str], pattern: re.Pattern[str], group: str) -> None:
        """Prepare to ask; `client`: properties of librdkafka that say where and as whom."""
        self._pattern = pattern
        self._admin = AdminClient({**client, "log_level": "0"})
        self._reader = {
            **client,
            "group.id": group,
            "enable.auto.commit": "false",
            "auto.offset.reset": "earliest",
            "queued.max.messages.kbytes": "1024",
            "fetch.message.max.bytes": "65536",
            "log_level": "0",
        }

    def read(self) -> Mapping[str, TopicLag]:
        """Return topic -> lag.

        Raises:
            StoreAway: the brokers do not answer.
        """
        try:
            return self._read()
        except KafkaException as error:
            raise StoreAway(f"Kafka does not say how far it is: {error.args[0].str()}") from error
        except TimeoutError as error:
            raise StoreAway("Kafka does not say how far it is: no answer in time") from error

    def _read(self) -> Mapping[str, TopicLag]:
        topics = self._admin.list_topics(timeout=_WITHIN_S).topics
        places = [
            TopicPartition(topic, partition)
            for topic, about in topics.items()
            if self._pattern.fullmatch(topic)
            for partition in about.partitions
        ]
        if not places:
            return {}
        reader = Consumer(self._reader)
        try:
            committed = reader.committed(places, _WITHIN_S)
            first, ends = self._offsets(places, _EARLIEST), self._offsets(places, _LATEST)
            starts = {
                (each.topic, each.partition): max(each.offset, first[each.topic, each.partition])
                for each in committed
                if (each.topic, each.partition) in first.keys() & ends.keys()
            }
            late = {place: start for place, start in starts.items() if start < ends[place]}
            ages = _ages(reader, late)
        finally:
            reader.close()
        lags: dict[str, TopicLag] = {}
        for place in ((each.topic, each.partition) for each in committed):
            lags[place[0]] = _with(
                lags.get(place[0], TopicLag(0, 0, 0, 0.0)),
                behind=max(ends[place] - starts[place], 0) if place in starts else None,
                seconds=ages.get(place) if place in late or place not in starts else 0.0,
            )
        return lags

    def _offsets(
        self, places: list[TopicPartition], which: OffsetSpec
    ) -> dict[tuple[str, int], int]:
        """Return place -> offset, of those whose leader answers."""
        futures: Mapping[TopicPartition, Future[ListOffsetsResultInfo]] = self._admin.list_offsets(
            dict.fromkeys(places, which), request_timeout=_WITHIN_S
        )
        offsets = {}
        for place, future in futures.items():
            try:
                offsets[place.topic, place.partition] = future.result(_WITHIN_S + 1).offset
            except KafkaException:
                continue  # without a leader at present
        return offsets


def _with(lag: TopicLag, behind: int | None, seconds: float | None) -> TopicLag:
    """Return the lag of a topic with one more partition; None: it is not known of this one."""
    known = lag.seconds is not None and seconds is not None
    return TopicLag(
        lag.records + (behind or 0),
        lag.partitions + 1,
        lag.unknown + (behind is None),
        max(lag.seconds or 0.0, seconds or 0.0) if known else None,
    )


def _ages(
    reader: Consumer, starts: Mapping[tuple[str, int], int]
) -> Mapping[tuple[str, int], float]:
    """Return place -> seconds since its record at an offset; of those that come in time."""
    ages: dict[tuple[str, int], float] = {}
    if not starts:
        return ages
    deadline = time.monotonic() + _AGES_WITHIN_S
    reader.assign([TopicPartition(*place, start) for place, start in starts.items()])
    while len(ages) < len(starts) and (left := deadline - time.monotonic()) > 0:
        message = reader.poll(left)
        if message is None or message.error() is not None:
            continue
        topic, partition = message.topic(), message.partition()
        kind, at_ms = message.timestamp()
        if topic is None or partition is None or (topic, partition) in ages:
            continue
        reader.pause([TopicPartition(topic, partition)])  # its first record is enough
        if kind != TIMESTAMP_NOT_AVAILABLE:
            ages[topic, partition] = round(max(time.time() - at_ms / 1000, 0.0), 3)
    reader.unassign()
    return ages
