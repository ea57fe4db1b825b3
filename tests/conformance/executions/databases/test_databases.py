"""The databases of executions themselves: their schema, and one that is not there."""

from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.schema import EXECUTION_TABLES
from supervisor.ports.store_problems import StoreMissing


def test_the_migrations_build_the_tables(executions_url: str) -> None:
    with closing(ExecutionDatabase(executions_url)) as database, database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, EXECUTION_TABLES) == []
        inspector = inspect(connection)
        for table in EXECUTION_TABLES.sorted_tables:
            named = {index["name"] for index in inspector.get_indexes(table.name)}
            assert {index.name for index in table.indexes} == named


def test_a_second_migration_changes_nothing(executions_url: str) -> None:
    migrate_executions(executions_url)
    with closing(ExecutionDatabase(executions_url)) as database, database.reading() as connection:
        assert inspect(connection).has_table("executions")


def test_one_that_nobody_has_made_names_the_setting(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'none.db'}"
    with closing(ExecutionDatabase(url)) as database:
        with pytest.raises(StoreMissing, match="TIDEGATE_EXECUTIONS_URL"), database.reading():
            pass
        assert not (tmp_path / "none.db").exists()
