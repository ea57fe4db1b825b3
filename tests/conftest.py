"""What every test shares: the property tests' profiles, one broker, one PostgreSQL, the order."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from supervisor.dev.broker import Broker
from tests.brokers import start_test_broker
from tests.postgres import Server, postgres

settings.register_profile("dev", max_examples=30, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


_HEAVY = ("runtime", "dev", "ingest", "integration")
"""Folders that start processes of their own, in this order."""


@pytest.hookimpl(tryfirst=True)  # xdist reads the mark
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the folders together; where two processes share the tests, one gets the JVMs.

    Else the Spark of one folder would live on while another folder's processes start theirs.
    Within a folder the order stays random.  The longest lane comes first.
    """
    for item in items:
        item.add_marker(pytest.mark.xdist_group("jvm" if _needs_jvm(item) else str(item.path)))
    items.sort(key=_place)


def _needs_jvm(item: pytest.Item) -> bool:
    marked = any(item.get_closest_marker(name) for name in ("kafka", "spark"))
    return marked or item.path.parent.name in _HEAVY


def _place(item: pytest.Item) -> tuple[bool, int, str]:
    folder = item.path.parent.name
    weight = _HEAVY.index(folder) + 1 if folder in _HEAVY else 0
    return not _needs_jvm(item), weight, str(item.path.parent)


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
