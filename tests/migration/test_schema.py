"""Up from nothing, down to nothing, never past what this version knows.

Slow: each schema is migrated on both databases, by commands.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from stat import S_IMODE

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from supervisor.core.values.errors import MetadataUnavailable, SchemaTooNew
from supervisor.metadata.migrate import migrate, migrating, newest, scripts
from supervisor.metadata.schema.tables import METADATA
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import LEASE_TTL, take_lease
from tests.migration.command import alembic


def _tables(url: str) -> set[str]:
    with migrating(url) as connection:
        return set(inspect(connection).get_table_names())


def test_the_migrations_build_what_the_code_expects(url: str) -> None:
    """Goal: a table that the code changes and no migration does is found here."""
    migrate(url)
    with migrating(url) as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, METADATA) == []
        inspector = inspect(connection)
        for table in METADATA.sorted_tables:
            named = {index["name"] for index in inspector.get_indexes(table.name)}
            assert {index.name for index in table.indexes} <= named
            checks = {check["name"] for check in inspector.get_check_constraints(table.name)}
            # SQLite's reflection finds those with a name, as all of ours have.
            assert checks == {c.name for c in table.constraints if "ck_" in str(c.name)}


def test_the_newest_revision_is_the_head_of_the_migrations() -> None:
    """Goal: what is told by the names of files is what Alembic would find."""
    assert newest() == ScriptDirectory(str(scripts())).get_current_head()


@pytest.mark.process
def test_a_database_of_this_version_is_left_alone(url: str) -> None:
    """Goal: an overlord that starts again does not pay for loading Alembic."""
    migrate(url)
    code = (
        "import sys; from supervisor.metadata.migrate import migrate; "
        "migrate(sys.argv[1]); print('alembic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, url], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["False"]


def test_a_migrated_database_serves_a_leader(url: str) -> None:
    migrate(url)
    store = SqlStore(url, lease_ttl=LEASE_TTL)
    assert take_lease(store) == 1
    store.close()


def test_migrating_again_keeps_what_is_stored(url: str) -> None:
    migrate(url)
    store = SqlStore(url, lease_ttl=LEASE_TTL)
    take_lease(store)
    store.close()
    migrate(url)
    store = SqlStore(url, lease_ttl=LEASE_TTL)
    assert take_lease(store) == 2
    store.close()


@pytest.mark.process
def test_the_command_line_goes_up_and_back_to_nothing(url: str) -> None:
    """Goal: `alembic upgrade head` and `alembic downgrade base` in the repository."""
    alembic(url, "upgrade", "head")
    assert {table.name for table in METADATA.sorted_tables} < _tables(url)
    alembic(url, "downgrade", "base")
    assert _tables(url) == {"alembic_version"}
    migrate(url)
    assert "leader_term" in _tables(url)


def test_a_schema_of_a_newer_version_is_refused_and_left_alone(url: str) -> None:
    """Source: faults.md F10."""
    migrate(url)
    with migrating(url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match="9999"):
        migrate(url)
    with migrating(url) as connection:
        version = connection.execute(text("SELECT version_num FROM alembic_version"))
        assert version.scalar_one() == "9999"


@pytest.mark.process
def test_overlords_that_start_at_once_migrate_once(url: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        processes = [pool.submit(alembic, url, "upgrade", "head") for _ in range(2)]
        for process in processes:
            process.result(timeout=120)
    assert "leader_term" in _tables(url)


def test_a_migration_that_fails_leaves_no_trace(url: str) -> None:
    class BrokenMigrationError(Exception):
        pass

    def broken() -> None:
        with migrating(url) as connection:
            connection.execute(text("CREATE TABLE half (id INTEGER)"))
            raise BrokenMigrationError

    with pytest.raises(BrokenMigrationError):
        broken()
    assert _tables(url) == set()


def test_only_its_owner_reads_a_sqlite_file(tmp_path: Path) -> None:
    """Goal: the tokens of tasks are in it."""
    file = tmp_path / "tidegate.db"
    migrate(f"sqlite:///{file}")
    assert S_IMODE(file.stat().st_mode) == 0o600


def test_a_server_that_is_away_is_unavailable() -> None:
    with pytest.raises(MetadataUnavailable):
        migrate("postgresql://postgres@127.0.0.1:1/nothing")
