"""What Kafka's consumers are told to do for a range."""

from datetime import timedelta

from tasks.ingest.source import read_options
from tasks.offsets import TopicPartition


def options(partitions: int, **client: str) -> dict[str, str]:
    start = {TopicPartition("clicks", number): 0 for number in range(partitions)}
    ends = dict.fromkeys(start, 10)
    poll = timedelta(seconds=30)
    return read_options(start, ends, client=client, group_id="task", poll_timeout=poll)


def test_batches_of_a_task_differ_in_what_they_read_alone() -> None:
    """Goal: consumers are kept; the connector fails a batch that asks for one in another way."""
    one, many = options(1), options(40)

    assert one.keys() == many.keys()
    assert {name for name in one if one[name] != many[name]} == {
        *("assign", "startingOffsets", "endingOffsets"),
    }


def test_a_spec_may_say_how_much_is_polled() -> None:
    assert options(1, **{"max.poll.records": "7"})["kafka.max.poll.records"] == "7"
