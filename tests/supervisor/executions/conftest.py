"""An engine over a SQLite file, for runners."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.environment.executions import executions_sqlite_url, migrated_executions_file
from tests.supervisor.core.crashes.scenarios.stored import Stored

__all__ = ["executions_sqlite_url", "migrated_executions_file", "stored"]


@pytest.fixture
def stored(executions_sqlite_url: str) -> Iterator[Stored]:
    """An engine over an empty database."""
    with closing(Stored(executions_sqlite_url, {})) as engine:
        yield engine
