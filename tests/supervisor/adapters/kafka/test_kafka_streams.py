"""What the overlord knows of topics: a real broker, topics that come, go and come again."""

import socket
from collections.abc import Iterator
from datetime import timedelta

import pytest
from confluent_kafka.admin import AdminClient

from supervisor.adapters.kafka.streams import FRESH_FOR_S, GONE_AFTER, THREADS, KafkaStreams
from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.planning.observed import StreamState, StreamTrouble
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.dev.broker import Broker
from tasks.contract.connection_policy import ConnectionPolicy
from tasks.contract.offsets import TopicPartition
from tasks.kafka.stream import environment_secret
from tests.environment.brokers import create_topic, produce
from tests.integration.overlords import silent_broker
from tests.supervisor.core.snapshots import NOON
from tests.supervisor.core.snapshots import spec as spec_of_clicks
from tests.waiting import wait_until

pytestmark = pytest.mark.kafka
A, B = "looked-at-a", "looked-at-b"
BEFORE_S = 20.0
"""For a broker to have done what it was asked for."""


class Watcher:
    """Looks again and again, by a clock that moves only here."""

    def __init__(self, bootstrap: str) -> None:
        self.clock = ManualClock(NOON)
        self.news = 0
        self.streams = KafkaStreams(self.clock, environment_secret, self._heard)
        one = spec_of_clicks()
        update = {
            "topic": None,
            "topic_pattern": "looked-at-[ab]",
            "consumer_properties": {"bootstrap.servers": bootstrap},
        }
        self.spec: SupervisorSpec = one.model_copy(
            update={"io_config": one.io_config.model_copy(update=update)}
        )

    def _heard(self, _: str) -> None:
        self.news += 1

    def look(self) -> StreamState:
        """One look, to its end."""
        self.clock.advance(timedelta(seconds=10 * FRESH_FOR_S))
        self.streams.state("clicks", self.spec)
        watched = self.streams._watched["clicks"]
        assert watched.looked is not None
        assert watched.looked.wait(BEFORE_S), "the look did not end"
        return watched.state


@pytest.fixture
def watcher(broker: Broker) -> Iterator[Watcher]:
    watching = Watcher(broker.bootstrap)
    yield watching
    watching.streams.stop()


def test_a_rule_that_is_newer_than_the_spec_forbids_the_look(broker: Broker) -> None:
    """Goal: nothing is sent to a broker that the operator has since forbidden, and it shows."""
    watching = Watcher(broker.bootstrap)
    watching.streams.stop()
    watching.streams = KafkaStreams(
        watching.clock, environment_secret, lambda _: None, ConnectionPolicy(("elsewhere:9092",))
    )

    seen = watching.look()

    assert (seen.trouble, seen.topic_ids) == (StreamTrouble.REFUSED, {})
    assert broker.bootstrap in seen.detail
    watching.streams.stop()


def delete(broker: Broker, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.delete_topics([topic])[topic].result(BEFORE_S)
    wait_until(lambda: topic not in admin.list_topics(timeout=5).topics, BEFORE_S)


def test_a_topic_of_a_pattern_counts_as_gone_after_some_looks(
    broker: Broker, watcher: Watcher
) -> None:
    """Goal: a broker that has just started and knows few topics changes no layout."""
    create_topic(broker.bootstrap, A, partitions=1)
    create_topic(broker.bootstrap, B, partitions=2)
    produce(broker.bootstrap, B, [b"x"] * 4)
    whole = watcher.look()
    assert set(whole.topic_ids) == {A, B}
    assert whole.stable == {
        TopicPartition(A, 0): 0,
        TopicPartition(B, 0): 2,
        TopicPartition(B, 1): 2,
    }

    delete(broker, B)
    for _ in range(GONE_AFTER - 1):
        doubted = watcher.look()
        assert doubted.trouble is StreamTrouble.NO_TOPIC
        assert B in doubted.detail
        assert (doubted.topic_ids, doubted.stable) == (whole.topic_ids, whole.stable)
    believed = watcher.look()

    assert (believed.trouble, believed.failures) == (None, 0)
    assert set(believed.topic_ids) == {A}
    assert set(believed.stable) == {TopicPartition(A, 0)}

    create_topic(broker.bootstrap, B, partitions=1)
    before = watcher.news
    again = watcher.look()
    assert again.topic_ids[A] == whole.topic_ids[A]
    assert again.topic_ids[B] != whole.topic_ids[B]
    assert watcher.news == before + 1

    delete(broker, A)
    delete(broker, B)
    for _ in range(2 * GONE_AFTER):
        nothing = watcher.look()
        assert nothing.trouble is StreamTrouble.NO_TOPIC
        assert "no topic on" in nothing.detail
        assert "terminate the supervisor and give it anew with another" in nothing.detail
        assert nothing.topic_ids == again.topic_ids


def test_brokers_that_are_silent_delay_the_looks_of_nobody_else(
    broker: Broker, watcher: Watcher
) -> None:
    """Goal: one supervisor's trouble is its own (R11), also if many share it."""
    create_topic(broker.bootstrap, A, partitions=1)
    with silent_broker() as address:
        lost = Watcher(address)
        lost.streams = watcher.streams
        for number in range(3 * THREADS):
            watcher.streams.state(f"lost {number}", lost.spec)

        assert set(watcher.look().topic_ids) == {A}

    ended = [w for name, w in watcher.streams._watched.items() if name != "clicks" and w.looked]
    assert len(ended) == 3 * THREADS
    assert not all(w.looked is not None and w.looked.is_set() for w in ended)
    delete(broker, A)


def test_many_silent_brokers_delay_the_looks_of_nobody_else(
    broker: Broker, watcher: Watcher
) -> None:
    """Source: 150 supervisors, each with a silent broker of its own: others waited for 50 s."""
    create_topic(broker.bootstrap, A, partitions=1)
    before = watcher.look()
    with socket.socket() as listening:
        listening.bind(("0.0.0.0", 0))  # noqa: S104 -- every address of loopback
        listening.listen(64)  # the system completes the connections; nobody accepts them
        port = listening.getsockname()[1]
        for number in range(150):
            lost = Watcher(f"127.1.{number}.1:{port}")
            watcher.streams.state(f"lost {number}", lost.spec)
            lost.streams.stop()

        seen = watcher.look()

    assert (seen.trouble, seen.topic_ids) == (None, before.topic_ids)
    still = [w for name, w in watcher.streams._watched.items() if name != "clicks" and w.looked]
    assert not all(w.looked is not None and w.looked.is_set() for w in still)
    delete(broker, A)


def test_what_is_known_is_asked_again_only_when_it_is_old(broker: Broker, watcher: Watcher) -> None:
    """Goal: a pass in each second costs the broker nothing."""
    create_topic(broker.bootstrap, A, partitions=1)
    first = watcher.look()

    produce(broker.bootstrap, A, [b"x"])
    assert watcher.streams.state("clicks", watcher.spec) is first

    news = watcher.news
    assert watcher.look().latest == {TopicPartition(A, 0): 1}
    assert watcher.news == news, "growing offsets wake nobody"
    delete(broker, A)
