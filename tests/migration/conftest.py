"""Empty databases of both kinds, not yet migrated."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environment.postgres import Server, postgres_server

__all__ = ["postgres_server"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.pg)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table; SQLite's file is not there yet."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'data' / 'tidegate.db'}"
        return
    server: Server = request.getfixturevalue("postgres_server")
    with server.database() as database:
        yield database
