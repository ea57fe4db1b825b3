"""What every test shares: the property tests' profiles, one broker, one PostgreSQL, the order."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from supervisor.dev.broker import Broker
from tests.brokers import start_test_broker
from tests.postgres import Server, postgres

settings.register_profile("dev", max_examples=30, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the folders together, cheap ones first; within a folder the order stays random.

    Else the Spark of one folder would live on while another folder's processes start theirs.
    """
    heavy = ("runtime", "dev", "ingest", "integration")

    def weight(item: pytest.Item) -> int:
        folder = Path(str(item.path)).parent.name
        return heavy.index(folder) + 1 if folder in heavy else 0

    def folder_of(item: pytest.Item) -> tuple[int, str]:
        return weight(item), str(item.path.parent)

    items.sort(key=folder_of)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One real broker for all tests; each has topics of its own."""
    with start_test_broker(tmp_path_factory.mktemp("kafka")) as started:
        yield started


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One real PostgreSQL for all tests; each has a database of its own."""
    with postgres() as server:
        yield server


@pytest.fixture
def postgresql_database(postgres_server: Server) -> Iterator[str]:
    """The URL of an empty database."""
    with postgres_server.database() as url:
        yield url
