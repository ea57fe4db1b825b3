"""What Kafka's consumers are told to do for a range."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from tasks.ingest.source import read_options
from tasks.offsets import TopicPartition

POLLED, FETCHED = "kafka.max.poll.records", "kafka.max.partition.fetch.bytes"
NO_CLIENT = MappingProxyType[str, str]({})


def options(
    partitions: int, *, of: int = 1, client: Mapping[str, str] = NO_CLIENT
) -> dict[str, str]:
    start = {TopicPartition("clicks", number): 0 for number in range(partitions)}
    ends = dict.fromkeys(start, 10)
    poll = timedelta(seconds=30)
    return read_options(
        start, ends, client=client, group_id="task", poll_timeout=poll, partitions=of
    )


def test_batches_of_a_task_differ_in_what_they_read_alone() -> None:
    """Goal: consumers are kept; the connector fails a batch that asks for one in another way."""
    one, many = options(1, of=40), options(40, of=40)

    assert one.keys() == many.keys()
    assert {name for name in one if one[name] != many[name]} == {
        *("assign", "startingOffsets", "endingOffsets"),
    }


def test_a_spec_may_say_how_much_is_polled() -> None:
    assert options(1, client={"max.poll.records": "7"})[POLLED] == "7"


def test_many_partitions_hold_no_more_together_than_some() -> None:
    """Goal: the heap of a worker does not go by the number of partitions of its tasks."""
    some, many = options(1, of=32), options(1, of=200)

    assert some == options(1)
    for size in (POLLED, FETCHED):
        assert 31 * int(some[size]) <= 200 * int(many[size]) <= 32 * int(some[size])


def test_a_task_of_a_thousand_partitions_asks_a_broker_no_oftener_than_kafka_would() -> None:
    most = options(1, of=1_000)

    assert (most[POLLED], most[FETCHED]) == ("500", str(128 * 1024))
