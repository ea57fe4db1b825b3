"""How far a group is behind in each of its topics, by clients of its own.

A consumer that polls answers no other thread in time, and a member knows its own partitions alone.
The committed offsets come by a consumer that joins no group: asked by an admin client, librdkafka
ends the process where the group's coordinator is not known yet (confluent-kafka-javascript#374).
"""

import re
from collections.abc import Mapping
from concurrent.futures import Future

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    ListOffsetsResultInfo,
    OffsetSpec,
)

from supervisor.ports.reports.feed import TopicLag
from supervisor.ports.reports.problems import StoreAway

__all__ = ["GroupLag"]

_WITHIN_S = 5.0
_EARLIEST = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class GroupLag:
    """The lag of one group in the topics that match a pattern; thread-safe."""

    def __init__(self, client: Mapping[str, str], pattern: re.Pattern[str], group: str) -> None:
        """Prepare to ask; `client`: properties of librdkafka that say where and as whom."""
        self._pattern = pattern
        self._admin = AdminClient({**client, "log_level": "0"})
        self._reader = {**client, "group.id": group, "log_level": "0"}

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
        committed = self._committed(places)
        first, ends = self._offsets(places, _EARLIEST), self._offsets(places, _LATEST)
        lags: dict[str, TopicLag] = {}
        for each in committed:
            place = (each.topic, each.partition)
            known = place in first and place in ends
            behind = max(ends[place] - max(each.offset, first[place]), 0) if known else 0
            before = lags.get(each.topic, TopicLag(0, 0))
            lags[each.topic] = TopicLag(
                before.records + behind, before.partitions + 1, before.unknown + (not known)
            )
        return lags

    def _committed(self, places: list[TopicPartition]) -> list[TopicPartition]:
        reader = Consumer(self._reader)
        try:
            return reader.committed(places, _WITHIN_S)
        finally:
            reader.close()

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
