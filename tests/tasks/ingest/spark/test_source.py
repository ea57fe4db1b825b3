"""What Kafka's consumers are told to do for a range."""

import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

import pytest

from tasks.contract.offsets import TopicPartition
from tasks.ingest.spark.source import read_options

POLLED, FETCHED = "kafka.max.poll.records", "kafka.max.partition.fetch.bytes"
NO_CLIENT = MappingProxyType[str, str]({})


GROUP = "kafka.group.id"


def options(
    partitions: int,
    *,
    of: int = 1,
    client: Mapping[str, str] = NO_CLIENT,
    poll: timedelta = timedelta(seconds=30),
) -> dict[str, str]:
    start = {TopicPartition("clicks", number): 0 for number in range(partitions)}
    ends = dict.fromkeys(start, 10)
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


def test_a_group_has_one_set_of_properties_and_another_set_another_group() -> None:
    """Goal: the connector refuses a group's second set with a text that shows both passwords."""
    sets = (
        options(1, client={"sasl.jaas.config": "first"}),
        options(1, client={"sasl.jaas.config": "second"}),
        options(1, client={"ssl.key.password": "first"}),
        options(1, client={"sasl.jaas.config": "first"}, poll=timedelta(seconds=29)),
        options(1, client={"sasl.jaas.config": "first"}, of=40),
        options(1),
    )

    groups = [each[GROUP] for each in sets]
    assert len(set(groups)) == len(groups)
    assert all(group.startswith("task-") for group in groups), "rights are given by the beginning"
    assert options(40, client={"sasl.jaas.config": "first"})[GROUP] == groups[0]


@pytest.mark.process
def test_a_groups_name_is_not_known_from_its_password() -> None:
    """Goal: who sees the names of groups cannot try passwords against them."""
    program = (
        "from tests.tasks.ingest.spark.test_source import GROUP, options\n"
        "print(options(1, client={'sasl.jaas.config': 'guessed'})[GROUP])"
    )
    elsewhere = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, timeout=60, check=True
    )

    here = options(1, client={"sasl.jaas.config": "guessed"})[GROUP]
    assert elsewhere.stdout.strip().startswith("task-")
    assert elsewhere.stdout.strip() != here


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
