"""One cluster for all tests that only use it; whoever disturbs processes has its own."""

from collections.abc import Iterator

import pytest

from tests.integration.cluster import Cluster, running


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One overlord and one worker; each test has a table of its own, and ends its supervisors."""
    with running(Cluster(tmp_path_factory.mktemp("cluster"))) as started:
        yield started
