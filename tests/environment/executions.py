"""Databases of executions, migrated and empty, as fixtures that a `conftest.py` imports."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.adapters.executions.database import migrate_executions
from tests.environment.postgres import Server

__all__ = [
    "executions_postgresql_url",
    "executions_sqlite_url",
    "migrated_executions_file",
    "migrated_executions_postgres",
]


@pytest.fixture(scope="session")
def migrated_executions_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, to be copied."""
    file = tmp_path_factory.mktemp("executions") / "executions.db"
    migrate_executions(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def migrated_executions_postgres(postgres_server: Server) -> Iterator[str]:
    """The name of a migrated database, to be copied."""
    with postgres_server.database() as url:
        migrate_executions(url)
        yield url.rpartition("/")[2]


@pytest.fixture
def executions_sqlite_url(migrated_executions_file: Path, tmp_path: Path) -> str:
    """A fresh database of executions on SQLite."""
    return f"sqlite:///{shutil.copy(migrated_executions_file, tmp_path / 'executions.db')}"


@pytest.fixture
def executions_postgresql_url(
    postgres_server: Server, migrated_executions_postgres: str
) -> Iterator[str]:
    """A fresh database of executions on PostgreSQL."""
    with postgres_server.database(migrated_executions_postgres) as url:
        yield url
