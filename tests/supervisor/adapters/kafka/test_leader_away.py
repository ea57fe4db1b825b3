"""A leader that is away: librdkafka's answer passes for an offset, and must not be taken for one.

Measured with confluent-kafka 2.16.1: when the leader of a partition was killed, `list_offsets`
ended at its deadline, for that partition with a result of -1001 and no error.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import cast

import pytest
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # in no __all__ of its stubs
    AdminClient,
    ListOffsetsResultInfo,
    OffsetSpec,
)

from supervisor.adapters.kafka import reading
from tasks.contract.offsets import TopicPartition
from tasks.kafka import stream

LED, LEADERLESS = TopicPartition("clicks", 0), TopicPartition("clicks", 1)
SPEC = OffsetSpec.latest()  # type: ignore[no-untyped-call]
DEADLINE = 1e12


class Answers:
    """An AdminClient that answers as measured."""

    def list_offsets(
        self, specs: Mapping[KafkaPartition, OffsetSpec], **_: object
    ) -> dict[KafkaPartition, "Future[ListOffsetsResultInfo]"]:
        """Answer for partition 0 alone."""
        futures = {}
        for partition in specs:
            futures[partition] = Future[ListOffsetsResultInfo]()
            offset = 7 if partition.partition == LED.partition else -1001
            futures[partition].set_result(ListOffsetsResultInfo(offset, -1, -1))
        return futures


ADMIN = cast("AdminClient", Answers())


def test_a_worker_takes_no_answer_for_no_offset() -> None:
    assert stream._offsets(ADMIN, [LED], SPEC, DEADLINE) == {LED: 7}

    with pytest.raises(stream.CutOff, match=f"{LEADERLESS}: its leader does not answer"):
        stream._offsets(ADMIN, [LED, LEADERLESS], SPEC, DEADLINE)


def test_an_overlord_takes_no_answer_for_no_offset() -> None:
    """Goal: a range that seems to lie above the end of its log might be reset."""
    partitions = [KafkaPartition(*each) for each in (LED, LEADERLESS)]
    assert reading._offsets(ADMIN, partitions[:1], SPEC, lambda: 1.0) == {LED: 7}

    with pytest.raises(TimeoutError, match=f"the leader of {LEADERLESS} does not answer"):
        reading._offsets(ADMIN, partitions, SPEC, lambda: 1.0)
