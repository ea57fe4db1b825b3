"""The database of reports itself: its schema, its outages, and what it refuses."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from stat import S_IMODE

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.engine import make_url

from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.files import FileReports
from supervisor.adapters.reports.schema import REPORT_TABLES
from supervisor.adapters.reports.sql import SqlReports
from supervisor.core.reports.status import StoreOutcome
from supervisor.database.migrations import Migrations
from supervisor.metadata.migrate import migrate
from supervisor.ports.reports.reports import ReportQuery
from supervisor.ports.store_problems import ContentRefused, StoreAway, StoreRefuses
from tests.conformance.metadata.databases import execute
from tests.conformance.reports.report_stores import HASTY, NOON, RESULT, SECOND, report
from tests.environment.postgres import Server

STORED = StoreOutcome.STORED


@pytest.fixture
def hasty(reports_url: str) -> Iterator[SqlReports]:
    """A store that waits for nobody for long."""
    store = SqlReports(ReportDatabase(reports_url, HASTY))
    yield store
    store.close()


def test_the_migrations_build_what_the_code_expects(reports_url: str) -> None:
    database = ReportDatabase(reports_url)
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, REPORT_TABLES) == []
        inspector = inspect(connection)
        for table in REPORT_TABLES.sorted_tables:
            named = {index["name"] for index in inspector.get_indexes(table.name)}
            assert {index.name for index in table.indexes} == named
    database.close()


def test_a_step_back_and_forth_keeps_what_is_stored(reports_url: str) -> None:
    """Goal: rows of the schema before have no size and no time of storing, and are listed."""
    store = SqlReports(ReportDatabase(reports_url))
    store.put_many([report("old")])
    store.close()
    scripts = Config()
    scripts.set_main_option("script_location", str(Migrations("reports", 0).scripts()))
    database = ReportDatabase(reports_url)
    with database.writing() as connection:
        scripts.attributes["connection"] = connection
        command.downgrade(scripts, "0001")
    database.close()
    migrate_reports(reports_url)
    store = SqlReports(ReportDatabase(reports_url))
    store.put_many([report("new", NOON + SECOND)])
    new, old = store.page(ReportQuery(), 10).lines
    assert (old.subject, old.size_bytes, old.stored_at, old.error) == ("old", None, None, "")
    assert new.size_bytes is not None
    store.close()


def test_processes_that_start_at_once_migrate_once(database_url: str) -> None:
    """Goal: on PostgreSQL it lives beside the metadata, whose tables are not seen."""
    url = database_url.replace("tidegate.db", "reports.db")
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(migrate_reports, url) for _ in range(2)]:
            done.result(timeout=120)
    migrate_reports(url)
    migrate(database_url)
    store = SqlReports(ReportDatabase(url))
    assert [*store.put_many([report()])] == [STORED]
    store.close()


def test_a_newer_schema_is_refused_and_left_alone(reports_url: str, hasty: SqlReports) -> None:
    newest = stored_version(reports_url)
    _execute(reports_url, "UPDATE alembic_version SET version_num = '9999'")
    for use in (hasty.ping, lambda: migrate_reports(reports_url)):
        with pytest.raises(StoreRefuses, match=r"9999.* start the version that migrated it"):
            use()
    known = f"UPDATE alembic_version SET version_num = '{newest}'"  # noqa: S608 -- our own
    _execute(reports_url, known)
    assert [*hasty.put_many([report()])] == [STORED]


def test_a_database_without_a_schema_is_refused_until_it_has_one(database_url: str) -> None:
    """Goal: on SQLite no empty file is left behind by who only looked."""
    url = database_url.replace("tidegate.db", "reports.db")
    store = SqlReports(ReportDatabase(url, HASTY))
    with pytest.raises(StoreRefuses, match="start a persister"):
        store.put_many([report()])
    if url.startswith("sqlite"):
        assert not Path(make_url(url).database or "").exists()
    migrate_reports(url)
    assert [*store.put_many([report()])] == [STORED]
    store.close()


def test_an_older_schema_is_refused_until_it_is_migrated(
    reports_url: str, hasty: SqlReports
) -> None:
    _execute(reports_url, "UPDATE alembic_version SET version_num = '0000'")
    with pytest.raises(StoreRefuses, match="which upgrades it"):
        hasty.ping()


def test_a_number_that_no_column_holds_is_bad_content(hasty: SqlReports) -> None:
    """Goal: told from an outage by the class of the error alone."""
    with pytest.raises(ContentRefused):
        hasty.put_many([report("good"), report().model_copy(update={"seq": 2**63})])
    assert hasty.list(ReportQuery(), 10) == []


def test_a_table_that_another_process_holds_is_away_for_now(
    reports_url: str, hasty: SqlReports
) -> None:
    assert [*hasty.put_many([report("before")])] == [STORED]
    other = _holding(reports_url)
    with closing(other):
        for use in (hasty.ping, lambda: hasty.put_many([report()])):
            with pytest.raises(StoreAway):
                use()
        other.rollback()
    assert [*hasty.put_many([report()])] == [STORED]
    hasty.ping()


@pytest.mark.pg
def test_a_server_that_ends_its_sessions_and_comes_back_is_used_again(
    reports_postgresql_url: str, postgres_server: Server
) -> None:
    """Source: P7."""
    store = SqlReports(ReportDatabase(reports_postgresql_url, HASTY))
    assert [*store.put_many([report("before")])] == [STORED]
    postgres_server.stop()
    try:
        with pytest.raises(StoreAway):
            store.put_many([report("while")])
    finally:
        postgres_server.start()
    assert [*store.put_many([report("while"), report("before")])] == [STORED, StoreOutcome.CONFLICT]
    store.close()


@pytest.mark.pg
def test_a_user_without_rights_is_refused_with_what_to_grant(reports_postgresql_url: str) -> None:
    name = "reader_of_" + reports_postgresql_url.rpartition("/")[2]
    execute(reports_postgresql_url, f"CREATE ROLE {name} LOGIN")
    execute(reports_postgresql_url, f"GRANT USAGE ON SCHEMA reports TO {name}")
    execute(reports_postgresql_url, f"GRANT SELECT ON ALL TABLES IN SCHEMA reports TO {name}")
    url = make_url(reports_postgresql_url).set(username=name).render_as_string()
    store = SqlReports(ReportDatabase(url, HASTY))
    assert store.list(ReportQuery(), 10) == []
    for use in (store.ping, lambda: store.put_many([report()])):
        with pytest.raises(StoreRefuses, match="grant"):
            use()
    store.close()
    execute(reports_postgresql_url, f"DROP OWNED BY {name}")
    execute(reports_postgresql_url, f"DROP ROLE {name}")


@pytest.mark.pg
def test_a_user_who_may_not_create_the_schema_is_refused_with_what_to_grant(
    postgresql_url: str,
) -> None:
    name = "guest_of_" + postgresql_url.rpartition("/")[2]
    execute(postgresql_url, f"CREATE ROLE {name} LOGIN")
    url = make_url(postgresql_url).set(username=name).render_as_string()
    with pytest.raises(StoreRefuses, match="CREATE on the database"):
        migrate_reports(url)
    execute(postgresql_url, f"CREATE SCHEMA reports AUTHORIZATION {name}")
    migrate_reports(url)
    store = SqlReports(ReportDatabase(url, HASTY))
    assert [*store.put_many([report()])] == [STORED]
    store.close()
    execute(postgresql_url, f"DROP OWNED BY {name}")
    execute(postgresql_url, f"DROP ROLE {name}")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "reports.db"
    file.write_text("no database " * 1_000)
    store = SqlReports(ReportDatabase(f"sqlite:///{file}", HASTY))
    with pytest.raises(StoreRefuses, match="another file"):
        store.ping()
    store.close()


def test_a_server_that_is_not_there_is_away() -> None:
    url = "postgresql://postgres@127.0.0.1:1/nothing"
    with pytest.raises(StoreAway):
        migrate_reports(url)
    with pytest.raises(StoreAway):
        SqlReports(ReportDatabase(url, HASTY)).ping()


def test_only_its_owner_reads_what_is_stored(tmp_path: Path) -> None:
    """Goal: reports quote records and errors."""
    migrate_reports(f"sqlite:///{tmp_path / 'reports.db'}")
    with closing(FileReports(tmp_path / "files")) as files:
        files.put_many([report("a", supervisor="s"), report("b")])
        files.delete_of_supervisor("s", NOON + SECOND, 10)
    stored = [tmp_path / "reports.db", *(tmp_path / "files").iterdir()]
    assert len(stored) == 3
    assert {S_IMODE(file.stat().st_mode) for file in stored} == {0o600}


def test_the_rest_of_a_batch_that_a_crash_cut_short_is_cut_off(tmp_path: Path) -> None:
    _put(tmp_path, "a")
    file = next(tmp_path.glob("*.jsonl"))
    whole = file.read_bytes()
    _put(tmp_path, "b", "c")
    written = file.read_bytes()
    for end in range(len(whole), len(written)):
        file.write_bytes(written[:end])
        assert _stored(tmp_path) == {"a"}
    file.write_bytes(whole + written[len(whole) :].replace(b'"at"', b'"aT"'))
    assert _stored(tmp_path) == {"a"}
    _put(tmp_path, "d")
    assert file.read_bytes().startswith(whole)
    assert _stored(tmp_path) == {"a", "d"}


def test_a_process_sees_what_others_wrote_replaced_and_removed(tmp_path: Path) -> None:
    with closing(FileReports(tmp_path)) as one, closing(FileReports(tmp_path)) as other:
        for _ in range(5):  # the inodes of files that went are used again
            one.put_many([report("a", supervisor="s"), report("b")])
            assert len(other.list(ReportQuery(), 10)) == 2
            assert one.delete_of_supervisor("s", NOON + SECOND, 10) == 1
            assert [each.subject for each in other.list(ReportQuery(), 10)] == ["b"]
            assert other.delete_older_than(RESULT, NOON + SECOND, 10) == 1
            assert one.list(ReportQuery(), 10) == []


def _holding(url: str) -> sqlite3.Connection | psycopg.Connection[tuple[object, ...]]:
    """Return a connection whose transaction holds the table."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        return connection
    postgres = psycopg.connect(url)
    postgres.execute("LOCK TABLE reports.reports IN ACCESS EXCLUSIVE MODE")
    return postgres


def stored_version(url: str) -> str:
    """Return the revision of the stored schema."""
    database = ReportDatabase(url)
    with database.reading() as connection:
        version: str = connection.execute(
            text("SELECT version_num FROM alembic_version")
        ).scalar_one()
    database.close()
    return version


def _execute(url: str, statement: str) -> None:
    on_sqlite = url.startswith("sqlite")
    execute(url if on_sqlite else f"{url}?options=-csearch_path%3Dreports", statement)


def _put(folder: Path, *names: str) -> None:
    with closing(FileReports(folder)) as store:
        assert {*store.put_many([report(name) for name in names])} == {STORED}


def _stored(folder: Path) -> set[str]:
    with closing(FileReports(folder)) as store:
        return {each.subject for each in store.list(ReportQuery(), 10)}
