"""The databases that hear each story: a SQLite file and PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from tests.conformance.stories import LEASE_TTL, Leader, take_lease
from tests.environment.postgres import Server, postgres_server
from tests.sqlite_memory import empty_file

__all__ = ["postgres_server"]

_POSTGRES = pytest.param("postgresql", marks=pytest.mark.pg)


@pytest.fixture(scope="session")
def empty_postgres(postgres_server: Server) -> Iterator[str]:
    """The name of a migrated database, to be copied."""
    with postgres_server.database() as url:
        migrate(url)
        yield url.rpartition("/")[2]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A fresh SQLite database."""
    return f"sqlite:///{empty_file(tmp_path / 'tidegate.db')}"


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
    """The product's store on a database of each kind."""
    store = SqlStore(database_url, lease_ttl=LEASE_TTL)
    yield store
    store.close()


@pytest.fixture
def store(database: SqlStore) -> Store:
    """The same, by its port alone."""
    return database


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
