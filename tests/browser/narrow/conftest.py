"""The processes of `tests/browser/rows`, with a topic of their own: long tests run last."""

import pytest

from supervisor.dev.broker import Broker
from tests.browser.rows.conftest import Published, cluster, overlord, publish_twice
from tests.integration.cluster import Cluster

__all__ = ["cluster", "overlord"]


@pytest.fixture(scope="package")
def published(cluster: Cluster, broker: Broker) -> Published:
    """The supervisor `guests`, after two handoffs."""
    return publish_twice(cluster, broker, "guests")
