"""The databases of reports: a SQLite file and PostgreSQL, migrated and empty."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.adapters.reports.database import migrate_reports
from supervisor.ports.reports.logs import LogStore
from tests.conformance.reports.log_stores import ON_POSTGRES, ON_SQLITE, LogStores
from tests.conformance.reports.segment_world import SegmentWorld
from tests.environment.postgres import Server

_POSTGRES = pytest.param("postgresql", marks=pytest.mark.pg)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, to be copied."""
    file = tmp_path_factory.mktemp("reports") / "reports.db"
    migrate_reports(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: Server) -> Iterator[str]:
    """The name of a migrated database, to be copied."""
    with postgres_server.database() as url:
        migrate_reports(url)
        yield url.rpartition("/")[2]


@pytest.fixture
def reports_sqlite_url(migrated_file: Path, tmp_path: Path) -> str:
    """A fresh database of reports on SQLite."""
    return f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'reports.db')}"


@pytest.fixture
def reports_postgresql_url(postgres_server: Server, migrated_postgres: str) -> Iterator[str]:
    """A fresh database of reports on PostgreSQL."""
    with postgres_server.database(migrated_postgres) as url:
        yield url


@pytest.fixture(params=["sqlite", _POSTGRES])
def reports_url(request: pytest.FixtureRequest) -> str:
    """A fresh database of reports of each kind."""
    return str(request.getfixturevalue(f"reports_{request.param}_url"))


@pytest.fixture(
    params=[*ON_SQLITE, *(pytest.param(each, marks=pytest.mark.pg) for each in ON_POSTGRES)]
)
def log_stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LogStores]:
    """An empty log store of each kind."""
    database = "postgresql" if request.param in ON_POSTGRES else "sqlite"
    url = str(request.getfixturevalue(f"reports_{database}_url"))
    stores = LogStores(request.param, url, tmp_path / "logs")
    yield stores
    stores.close()


@pytest.fixture
def log_store(log_stores: LogStores) -> LogStore:
    """The same, by its port alone."""
    return log_stores.open()


@pytest.fixture
def segments(tmp_path: Path, reports_sqlite_url: str) -> Iterator[SegmentWorld]:
    """An empty store of segments."""
    world = SegmentWorld(tmp_path, reports_sqlite_url)
    yield world
    world.close()
