"""Each story of the queues is heard by every backing: in memory, SQLite, PostgreSQL."""

import pytest

from supervisor.ports import Store
from tests.conformance.conftest import (
    database_url,
    empty_postgres,
    empty_sqlite,
    postgresql_url,
    sqlite_url,
    store,
)
from tests.eventqueue.desk import Desk

__all__ = [
    "database_url",
    "empty_postgres",
    "empty_sqlite",
    "postgresql_url",
    "sqlite_url",
    "store",
]


@pytest.fixture
def desk(store: Store) -> Desk:
    """A leader's queues under a clock that stands."""
    return Desk(store)
