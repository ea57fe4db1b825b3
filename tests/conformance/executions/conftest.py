"""The databases of executions: a SQLite file and PostgreSQL, migrated and empty."""

import pytest

from tests.environment.executions import (
    executions_postgresql_url,
    executions_sqlite_url,
    migrated_executions_file,
    migrated_executions_postgres,
)

__all__ = [
    "executions_postgresql_url",
    "executions_sqlite_url",
    "executions_url",
    "migrated_executions_file",
    "migrated_executions_postgres",
]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.pg)])
def executions_url(request: pytest.FixtureRequest) -> str:
    """A fresh database of executions of each kind."""
    return str(request.getfixturevalue(f"executions_{request.param}_url"))
