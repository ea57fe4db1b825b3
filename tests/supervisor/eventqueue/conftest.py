"""Each story of the queues is heard by a SQLite file and by PostgreSQL."""

import pytest

from supervisor.ports.store import Store
from tests.conformance.conftest import (
    database,
    database_url,
    empty_postgres,
    postgresql_url,
    sqlite_url,
    store,
)
from tests.supervisor.eventqueue.desk import Desk

__all__ = [
    "database",
    "database_url",
    "empty_postgres",
    "postgresql_url",
    "sqlite_url",
    "store",
]


@pytest.fixture
def desk(store: Store) -> Desk:
    """A leader's queues under a clock that stands."""
    return Desk(store)
