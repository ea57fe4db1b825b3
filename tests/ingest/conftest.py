"""One Spark for all tests of this folder; each test has topics of its own."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from supervisor.dev.broker import Broker
from tasks.ingest.engine import SparkEngine
from tasks.spark_session import SparkRuntime
from tests.brokers import create_topic
from tests.sparks import start_test_spark


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkRuntime]:
    with start_test_spark(tmp_path_factory.mktemp("spark")) as runtime:
        yield runtime


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
def engine(spark: SparkRuntime, tmp_path: Path) -> SparkEngine:
    """An engine whose warehouse is `tmp_path`."""
    return SparkEngine(spark, str(tmp_path), lambda secret: f"no {secret.environment}")
