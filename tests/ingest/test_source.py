"""What Kafka's consumers are told to do for a range."""

from datetime import timedelta

import pytest

from tasks.ingest.source import read_options
from tasks.offsets import TopicPartition

POLLED = "kafka.max.poll.records"


def options(partitions: int, **client: str) -> dict[str, str]:
    start = {TopicPartition("clicks", number): 0 for number in range(partitions)}
    ends = dict.fromkeys(start, 10)
    poll = timedelta(seconds=30)
    return read_options(start, ends, client=client, group_id="task", poll_timeout=poll)


@pytest.mark.parametrize(
    ("partitions", "polled"), [(1, 10_000), (2, 8_000), (4, 4_000), (32, 500), (1_000, 500)]
)
def test_what_is_read_ahead_of_many_partitions_fits_a_heap(partitions: int, polled: int) -> None:
    """Goal: with 10,000 each, 64 partitions held 330 MB of a heap of 768, by small records."""
    assert options(partitions)[POLLED] == str(polled)


def test_a_spec_may_say_how_much_is_polled() -> None:
    assert options(1, **{"max.poll.records": "7"})[POLLED] == "7"
