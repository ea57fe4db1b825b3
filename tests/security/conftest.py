"""One overlord for all attacks on it."""

from collections.abc import Iterator

import httpx
import pytest

from tests.integration.cluster import SUPERVISORS, Cluster
from tests.security.attacked import LISTS, left_behind


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An overlord alone: what is refused never comes to a worker."""
    folder = tmp_path_factory.mktemp("hostile") / "cluster"
    with Cluster(folder, more=LISTS) as started:
        started.start_overlord()
        yield started


@pytest.fixture
def nothing_happened(cluster: Cluster) -> Iterator[None]:
    """After each attack: no supervisor, no table, no file beside those of the overlord."""
    before = left_behind(cluster)
    yield
    assert cluster.http.get(SUPERVISORS).json() == []
    assert left_behind(cluster) == before
    assert cluster.http.get("/status/health").status_code == httpx.codes.OK
