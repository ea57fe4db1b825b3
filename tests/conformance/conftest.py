"""The stores that hear each story: in memory, SQLite, PostgreSQL."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.adapters.memory import MemoryStore
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.ports import Store
from tests.conformance.stories import LEASE_TTL, Leader, take_lease
from tests.postgres import Server, postgres_server

__all__ = ["postgres_server"]

_POSTGRES = pytest.param("postgresql", marks=pytest.mark.pg)


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file, to be copied."""
    file = tmp_path_factory.mktemp("sqlite") / "empty.db"
    migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def empty_postgres(postgres_server: Server) -> Iterator[str]:
    """The name of a migrated database, to be copied."""
    with postgres_server.database() as url:
        migrate(url)
        yield url.rpartition("/")[2]


@pytest.fixture
def sqlite_url(empty_sqlite: Path, tmp_path: Path) -> str:
    """A fresh SQLite database."""
    return f"sqlite:///{shutil.copy(empty_sqlite, tmp_path / 'tidegate.db')}"


@pytest.fixture
def postgresql_url(postgres_server: Server, empty_postgres: str) -> Iterator[str]:
    """A fresh PostgreSQL database."""
    with postgres_server.database(empty_postgres) as url:
        yield url


@pytest.fixture(params=["sqlite", _POSTGRES])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh database of each kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def database(database_url: str) -> Iterator[SqlStore]:
    """A store on a real database, for what memory cannot show."""
    store = SqlStore(database_url, lease_ttl=LEASE_TTL)
    yield store
    store.close()


@pytest.fixture(params=["memory", "sqlite", _POSTGRES])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """Each implementation of the port."""
    if request.param == "memory":
        yield MemoryStore()
        return
    url = request.getfixturevalue(f"{request.param}_url")
    sql = SqlStore(url, lease_ttl=LEASE_TTL)
    yield sql
    sql.close()


@pytest.fixture
def leader(store: Store) -> Leader:
    """The store in the hands of a leader."""
    return Leader(store, take_lease(store))


@pytest.fixture
def postgresql_leader(postgresql_url: str) -> Iterator[Leader]:
    """A leader on PostgreSQL, where writers run side by side."""
    sql = SqlStore(postgresql_url, lease_ttl=LEASE_TTL)
    yield Leader(sql, take_lease(sql))
    sql.close()
