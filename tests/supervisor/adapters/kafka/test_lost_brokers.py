"""Brokers that end their connections are looked at without a pass."""

from pathlib import Path

import pytest

from supervisor.adapters.kafka.streams import KafkaStreams
from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.dev.topics import create_topic
from tasks.kafka.stream import environment_secret
from tests.environment.brokers import new_broker
from tests.supervisor.core.snapshots import NOON
from tests.supervisor.core.snapshots import spec as spec_of_clicks
from tests.waiting import wait_until

pytestmark = pytest.mark.kafka


def test_a_killed_broker_is_seen_without_another_pass(tmp_path: Path) -> None:
    news: list[str] = []
    clock = ManualClock(NOON)  # it stands still: no look is due by its age
    streams = KafkaStreams(clock, environment_secret, news.append)
    broker = new_broker(tmp_path)
    broker.start()
    try:
        create_topic(broker.bootstrap, "clicks", partitions=1)
        spec = _spec(broker.bootstrap)
        streams.state("clicks", spec)
        wait_until(lambda: _trouble(streams) is None)
        streams.listen()
        assert _is_resting(streams), "nothing was lost"
        seen = len(news)

        broker.kill()
        wait_until(lambda: _hears(streams))
        wait_until(lambda: _trouble(streams) is StreamTrouble.UNREACHABLE)

        assert news[seen:] == ["clicks"]
    finally:
        streams.stop()
        broker.stop()


def _spec(bootstrap: str) -> SupervisorSpec:
    one = spec_of_clicks()
    update = {"topic": "clicks", "consumer_properties": {"bootstrap.servers": bootstrap}}
    return one.model_copy(update={"io_config": one.io_config.model_copy(update=update)})


def _trouble(streams: KafkaStreams) -> StreamTrouble | None:
    state = streams.last("clicks")
    assert state is not None
    return state.trouble


def _is_resting(streams: KafkaStreams) -> bool:
    looked = streams._watched["clicks"].looked
    return looked is not None and looked.is_set()


def _hears(streams: KafkaStreams) -> bool:
    streams.listen()
    return not _is_resting(streams)
