"""The intake over a real broker: commits, rebalances, retention, and members that die.

Slow: one test waits for the session of a static member that left, which is 6 s at least.
"""

import threading
from collections.abc import Mapping
from contextlib import ExitStack

import pytest

from supervisor.adapters.kafka.dead_letters import KafkaDeadLetters
from supervisor.adapters.kafka.kept_letters import KafkaKeptLetters
from supervisor.adapters.kafka.record_feed import KafkaFeed
from supervisor.adapters.kafka.report_topics import (
    LETTER_BYTES_MAX,
    ReportTopic,
    make_topics,
)
from supervisor.core.reports.flow import FlowBounds
from supervisor.core.reports.status import PersisterState
from supervisor.dev.broker import Broker
from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.reports.feed import TopicLag
from supervisor.ports.store_problems import StoreAway
from supervisor.reports.intake import IntakeOptions
from supervisor.reports.storing import Storing
from tasks.reporting.sizes import TOPIC_BYTES
from tests.environment.brokers import produce, read_records
from tests.supervisor.reports.groups import ReaderGroup
from tests.supervisor.reports.shelves import garbage, record
from tests.waiting import wait_until

pytestmark = pytest.mark.kafka


@pytest.fixture
def group(broker: Broker) -> ReaderGroup:
    return ReaderGroup(broker.bootstrap)


def _send(group: ReaderGroup, topic: str, names: Mapping[str, bytes] | list[str]) -> None:
    bodies = (
        {name: record(name).to_json().encode() for name in names}
        if isinstance(names, list)
        else names
    )
    produce(group.bootstrap, topic, list(bodies.values()), partition=0)


def _lag(feed: KafkaFeed) -> Mapping[str, TopicLag] | None:
    try:
        return feed.lag()
    except StoreAway:
        return None


def _names(first: int, number: int) -> list[str]:
    return [f"task-{each}" for each in range(first, first + number)]


def test_everything_is_stored_and_committed_and_no_lag_is_left(group: ReaderGroup) -> None:
    topic = group.topic()
    _send(group, topic, _names(0, 200))
    with group.persister().running() as persister:
        wait_until(lambda: len(group.stored()) == 200)
        wait_until(lambda: group.committed(topic) == 200)

        assert persister.feed.lag()[topic].records == 0
        assert persister.intake.status().lost_offsets == {}


def test_a_letter_that_no_topic_takes_whole_is_kept_by_its_beginning(group: ReaderGroup) -> None:
    """Goal: a record of HTTP that is too large must not hold up all others."""
    topic = f"{group.prefix}dead"
    client = {"bootstrap.servers": group.bootstrap}
    assert make_topics(client, [ReportTopic(topic, 1, 1, LETTER_BYTES_MAX)]) == {}
    letters = KafkaDeadLetters(client, topic, "p-1")
    letters.put([DeadLetter(None, b"x" * 3_000_000, "direct", 0, 0, "no JSON")])
    letters.close()

    [kept] = KafkaKeptLetters(client, topic).newest(None, None, 10)

    assert kept.letter.body == b"x" * TOPIC_BYTES
    assert kept.letter.reason == "no JSON (the first 2097152 of its 3000000 bytes)"


def test_the_lag_is_known_in_records_and_in_seconds(group: ReaderGroup) -> None:
    topic = group.topic(partitions=2)
    idle = group.topic("completed.idle")
    _send(group, topic, _names(0, 5))

    feed = group.persister().feed
    wait_until(lambda: _lag(feed) is not None)  # the broker looks for the group's coordinator
    lag = _lag(feed) or {}

    assert (lag[topic].records, lag[topic].partitions, lag[topic].unknown) == (5, 2, 0)
    assert lag[topic].seconds is not None
    assert (lag[idle].records, lag[idle].seconds) == (0, 0.0)


def test_a_topic_that_is_created_later_is_read_and_the_others_go_on(group: ReaderGroup) -> None:
    old = group.topic()
    with group.persister().running():
        _send(group, old, _names(0, 5))
        wait_until(lambda: len(group.stored()) == 5)
        new = group.topic("completed.w7")
        _send(group, new, _names(5, 5))
        _send(group, old, _names(10, 5))
        wait_until(lambda: len(group.stored()) == 15)


def test_a_bad_record_is_a_dead_letter_with_its_place_and_its_neighbours_are_stored(
    group: ReaderGroup,
) -> None:
    topic, dead = group.topic(), group.topic("dead.persister")
    letters = KafkaDeadLetters({"bootstrap.servers": group.bootstrap}, dead, "p-1")
    storing = Storing(group.shelves.reports, group.shelves.logs, letters)
    _send(group, topic, {"a": record("a").to_json().encode(), "bad": garbage()})
    _send(group, topic, ["b"])
    with group.persister(storing=storing).running():
        wait_until(lambda: group.committed(topic) == 3)
    letters.close()

    assert group.stored() == {"a", "b"}
    ((letter, _),) = read_records(group.bootstrap, dead).values()
    assert letter.value == garbage()
    about = dict(letter.headers)
    assert about["tidegate.topic"] == topic.encode()
    assert about["tidegate.offset"] == b"1"
    assert about["tidegate.reason"] is not None
    assert b"version" in about["tidegate.reason"]


def test_a_commit_never_passes_a_record_that_is_not_stored(group: ReaderGroup) -> None:
    topic = group.topic()
    shelves = group.shelves
    with group.persister().running() as persister:
        wait_until(lambda: persister.intake.status().partitions == 1)
        shelves.reports.weather.lasting = StoreAway("connection refused")
        _send(group, topic, _names(0, 3))
        wait_until(lambda: persister.pipeline.meters.counts().failed_tries > 1)
        assert group.committed(topic) <= 0
    assert group.committed(topic) <= 0, "nor does its end"

    shelves.reports.weather.lasting = None
    with group.persister().running():
        wait_until(lambda: group.committed(topic) == 3)
    assert group.stored() == set(_names(0, 3))


def test_what_retention_deleted_before_a_start_is_counted_exactly(group: ReaderGroup) -> None:
    topic = group.topic()
    _send(group, topic, _names(0, 10))
    with group.persister().running():
        wait_until(lambda: group.committed(topic) == 10)
    _send(group, topic, _names(10, 20))
    group.delete_below(topic, 17)

    with group.persister().running() as persister:
        wait_until(lambda: group.committed(topic) == 30)
        assert persister.intake.status().lost_offsets == {topic: 7}
    assert group.stored() == {*_names(0, 10), *_names(17, 13)}


def test_what_retention_deletes_while_a_partition_pauses_is_counted_exactly(
    group: ReaderGroup,
) -> None:
    topic = group.topic()
    weather = group.shelves.reports.weather
    options = IntakeOptions(FlowBounds(records=4), records=4, poll_s=0.02, commit_s=0.1)
    persister = group.persister(options=options)
    with persister.running():
        wait_until(lambda: persister.intake.status().partitions == 1)
        weather.gate = threading.Event()
        _send(group, topic, _names(0, 4))
        wait_until(lambda: persister.intake.status().paused == 1)
        _send(group, topic, _names(4, 26))
        group.delete_below(topic, 20)
        weather.gate.set()
        wait_until(lambda: group.committed(topic) == 30)
        lost = persister.intake.status().lost_offsets.get(topic, 0)

    # What the client had read ahead is stored; of all else not one is missing without a count.
    assert len(group.stored()) + lost == 30


def test_a_group_that_begins_late_counts_nothing_as_lost(group: ReaderGroup) -> None:
    topic = group.topic()
    _send(group, topic, _names(0, 10))
    group.delete_below(topic, 4)
    with group.persister().running() as persister:
        wait_until(lambda: group.committed(topic) == 10)
        assert persister.intake.status().lost_offsets == {}


def test_at_its_bound_it_pauses_and_later_takes_the_rest(group: ReaderGroup) -> None:
    topic = group.topic()
    weather = group.shelves.reports.weather
    options = IntakeOptions(FlowBounds(records=20), records=10, poll_s=0.02, commit_s=0.1)
    with group.persister(options=options).running() as persister:
        wait_until(lambda: persister.intake.status().partitions == 1)
        weather.gate = threading.Event()
        _send(group, topic, _names(0, 300))
        wait_until(lambda: persister.intake.status().paused == 1)
        assert persister.pipeline.status().in_flight.records < 40

        weather.gate.set()
        wait_until(lambda: group.committed(topic) == 300)
    assert len(group.stored()) == 300


def test_a_persister_that_is_stopped_reads_nothing_and_stays_in_the_group(
    group: ReaderGroup,
) -> None:
    topic = group.topic()
    with group.persister().running() as persister:
        wait_until(lambda: persister.pipeline.status().status.state is PersisterState.RUNNING)
        persister.pipeline.pause("by an operator")
        wait_until(lambda: persister.intake.status().paused == 1)
        _send(group, topic, _names(0, 5))
        wait_until(lambda: persister.feed.lag()[topic].records == 5)
        assert group.stored() == set()

        persister.pipeline.resume()
        wait_until(lambda: group.committed(topic) == 5)


@pytest.mark.long
def test_one_of_two_persisters_takes_what_the_other_leaves(group: ReaderGroup) -> None:
    topic = group.topic(partitions=4)
    with ExitStack() as stack:
        one = stack.enter_context(group.persister("p-1").running())
        wait_until(lambda: one.intake.status().partitions == 4)
        with group.persister("p-2").running() as two:
            wait_until(lambda: two.intake.status().partitions == 2)
            wait_until(lambda: one.intake.status().partitions == 2)
            _spread(group, topic, 0)
            wait_until(lambda: len(group.stored()) == 40)
        wait_until(lambda: one.intake.status().partitions == 4)
        _spread(group, topic, 40)
        wait_until(lambda: len(group.stored()) == 80)
        wait_until(lambda: [group.committed(topic, p) for p in range(4)] == [20] * 4)


def test_two_processes_with_one_name_are_refused(group: ReaderGroup) -> None:
    group.topic()
    first = group.persister("same")
    with first.running():
        wait_until(lambda: first.intake.status().partitions == 1)
        with group.persister("same").running():
            wait_until(lambda: not first.intake.is_running())
            assert "TIDEGATE_REPORTS_INSTANCE" in first.intake.status().trouble
            assert first.pipeline.status().status.state is PersisterState.STOPPED


def _spread(group: ReaderGroup, topic: str, first: int) -> None:
    for partition in range(4):
        names = _names(first + 10 * partition, 10)
        bodies = [record(name).to_json().encode() for name in names]
        produce(group.bootstrap, topic, bodies, partition=partition)
