"""What every test shares: the property tests' profiles, one broker, one PostgreSQL, the order."""

import os
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

from supervisor.dev.broker import Broker
from tests.brokers import start_test_broker
from tests.postgres import Server, postgres

settings.register_profile("dev", max_examples=30, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


_HEAVY = ("runtime", "dev", "ingest", "integration", "chaos")
"""Folders that start processes of their own, in this order."""
_HEAVY_TOO = ("tasks/test_stream.py", "cli/test_kafka.py")
"""Files elsewhere that need a broker."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the folders together, what needs a JVM last: then it has the machine for itself.

    Else the Spark of one folder would live on while another folder's processes start theirs.
    Within a folder the order stays random.
    """
    items.sort(key=lambda item: _place(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Share files out; all that need a JVM go to one process, after the rest."""
    return _Lanes(config, log)


class _Lanes(LoadScopeScheduling):  # type: ignore[misc] # untyped: Any
    """Two processes share the tests by file, and the whole lane of JVMs counts as one file."""

    def _split_scope(self, nodeid: str) -> str:
        return "jvm" if _needs_jvm(nodeid) else nodeid.split("::", 1)[0]


def _needs_jvm(nodeid: str) -> bool:
    path = PurePosixPath(nodeid.split("::", 1)[0])
    return path.parent.name in _HEAVY or str(path).endswith(_HEAVY_TOO)


def _place(nodeid: str) -> tuple[bool, int, str]:
    folder = PurePosixPath(nodeid.split("::", 1)[0]).parent
    weight = _HEAVY.index(folder.name) + 1 if folder.name in _HEAVY else 0
    return _needs_jvm(nodeid), weight, str(folder)


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
