"""One real broker for all integration tests; each test has topics of its own."""

from collections.abc import Iterator

import pytest

from supervisor.dev.broker import Broker
from tests.brokers import start_test_broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that lives as long as the session."""
    with start_test_broker(tmp_path_factory.mktemp("kafka")) as started:
        yield started
