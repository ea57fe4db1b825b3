"""All tests of this folder share a Spark and a broker; each test has topics of its own."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tasks.ingest.engine import SparkEngine
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import create_topic
from tests.environment.registries import FakeRegistry, fake_registry

_numbers = count(1)


@pytest.fixture
def new_topic(broker: Broker) -> Callable[[int], str]:
    """Make a topic with so many partitions."""

    def make(partitions: int) -> str:
        topic = f"ingest-{next(_numbers)}"
        create_topic(broker.bootstrap, topic, partitions=partitions)
        return topic

    return make


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    """A registry of schemas that is empty."""
    with fake_registry() as found:
        yield found


@pytest.fixture
def engine(spark: SparkRuntime, tmp_path: Path) -> SparkEngine:
    """An engine whose warehouse is `tmp_path`."""
    return SparkEngine(spark, str(tmp_path), lambda secret: f"no {secret.environment}")
