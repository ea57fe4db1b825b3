"""The databases of executions: a SQLite file and PostgreSQL, migrated and empty."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.environment.executions import (
    executions_postgresql_url,
    executions_sqlite_url,
    migrated_executions_file,
    migrated_executions_postgres,
)
from tests.supervisor.core.crashes.scenarios.stored import Stored

__all__ = [
    "executions_postgresql_url",
    "executions_sqlite_url",
    "executions_url",
    "migrated_executions_file",
    "migrated_executions_postgres",
    "stored",
]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.pg)])
def executions_url(request: pytest.FixtureRequest) -> str:
    """A fresh database of executions of each kind."""
    return str(request.getfixturevalue(f"executions_{request.param}_url"))


@pytest.fixture
def stored(executions_url: str) -> Iterator[Stored]:
    """An engine over an empty database; flows that a test puts into `flows` can be started."""
    with closing(Stored(executions_url, {})) as engine:
        yield engine
