"""One of three brokers dies, and comes back: leaders move, and nobody has to do anything.

Source: faults E1.

Slow: three brokers start, and one dies.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from pydantic import JsonValue

from supervisor.adapters.kafka.reading import ReportingAdminClient
from supervisor.adapters.secrets import read_secret
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.offsets import Offsets
from tasks.kafka.stream import KafkaStream
from tasks.ports import StreamTimeout
from tests.environment.brokers import create_topic
from tests.environment.three_brokers import three_brokers
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, ids_in_topic, spec, streaming
from tests.supervisor.core.snapshots import spec as spec_of_clicks
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.long]

TOPIC = "led-by-another"
_LOOK = timedelta(seconds=2)


class _Looks:
    """Both planes' ways to ask for offsets, with clients that knew the brokers before."""

    def __init__(self, bootstrap: str) -> None:
        self._stream = KafkaStream(timeout_s=_LOOK.total_seconds(), patience_s=0.0)
        self._client = KafkaClient(bootstrap_servers=bootstrap)
        self._reading = ReportingAdminClient(self._client, read_secret)
        properties: dict[str, JsonValue] = {"bootstrap.servers": bootstrap}
        update = {"topic": TOPIC, "consumer_properties": properties}
        self._source = spec_of_clicks().io_config.model_copy(update=update)
        self.seen: list[int] = []

    def answer(self) -> bool:
        """Look each way; an offset that is told is kept, whatever it is."""
        looked = [self._answers(look) for look in (self._of_worker, self._of_overlord)]
        return all(looked)

    def _answers(self, look: Callable[[], Iterable[Offsets]]) -> bool:
        try:
            self.seen += [offset for offsets in look() for offset in offsets.values()]
        except (StreamTimeout, KafkaException, TimeoutError):
            return False
        return True

    def _of_worker(self) -> tuple[Offsets, ...]:
        view = self._stream.look(self._client, [(TOPIC, number) for number in range(3)])
        return view.earliest, view.stable

    def _of_overlord(self) -> tuple[Offsets, ...]:
        state = self._reading.read(self._source, _LOOK.total_seconds)
        return state.earliest, state.latest, state.stable


def _publishes_twice(cluster: Cluster) -> None:
    """The second range was opened, and so read, after this was called."""
    before = len(cluster.publications(TOPIC))
    wait_until(lambda: len(cluster.publications(TOPIC)) > before + 1)


def test_a_broker_that_dies_costs_no_record_no_task_and_no_hand(tmp_path: Path) -> None:
    """Goal: with two of three left lag goes back to 0, and the third changes nothing either."""
    with (
        three_brokers(tmp_path / "brokers") as three,
        running(Cluster(tmp_path / "cluster", light=True)) as cluster,
    ):
        create_topic(three.bootstrap, TOPIC, partitions=3)
        with streaming(three.bootstrap, TOPIC, rate_per_s=100):
            cluster.apply(spec(three.bootstrap, TOPIC, task_duration="PT5S"))
            wait_until(lambda: bool(cluster.publications(TOPIC)))
            led = three.leader(TOPIC, 0)
            looks = _Looks(three.bootstrap)
            wait_until(looks.answer)
            three.kill(led)
            wait_until(looks.answer)
            wait_until(lambda: three.leader(TOPIC, 0) not in {led, -1})
            _publishes_twice(cluster)
            of_two = cluster.status(TOPIC)
            three.start(led)
            _publishes_twice(cluster)
        ends = ends_of(three.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        in_table = ids_in_files(cluster.files(TOPIC))
        in_topic = ids_in_topic(three.bootstrap, TOPIC)
        failed = [task for task in cluster.tasks(TOPIC) if task["status"] == "FAILED"]

    assert min(looks.seen) >= 0, "no answer was taken for an offset"
    assert of_two["healthy"] is True
    assert in_table == in_topic
    assert failed == []
