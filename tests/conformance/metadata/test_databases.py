"""What only a real database can do: be busy, be away, hold what it cannot read."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from supervisor.core.values.errors import MetadataBusy, MetadataUnavailable, SpecUnreadable
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from tests.conformance.metadata.databases import execute
from tests.conformance.stories import (
    CLICKS,
    IDS,
    LEASE_TTL,
    NOON,
    P0,
    P1,
    TOPIC_ID,
    Leader,
    attempt,
    opening,
    publication,
    segment,
    take_lease,
)

SOON = timedelta(seconds=0.8)
"""A lease so short that a wait for the database ends within a test."""


@pytest.fixture
def leader(database: Store) -> Leader:
    """A leader on a real database."""
    return Leader(database, take_lease(database))


@pytest.fixture
def hasty(database_url: str) -> Iterator[SqlStore]:
    """A second process, which waits for nobody for long, with a single connection."""
    store = SqlStore(database_url, lease_ttl=SOON, pool_size=1)
    yield store
    store.close()


def test_a_row_that_another_writer_holds_makes_the_database_busy(
    leader: Leader, hasty: SqlStore
) -> None:
    with leader.writes() as tx:
        tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 0})
    with leader.writes() as tx:
        tx.offsets.advance(CLICKS, {P0: 0}, {P0: 1}, IDS)
        with pytest.raises(MetadataBusy), hasty.leading(leader.term) as other:
            other.offsets.advance(CLICKS, {P0: 0}, {P0: 2}, IDS)
    assert leader.committed() == {P0: 1}


def test_processes_that_read_and_then_write_wait_their_turn(sqlite_url: str) -> None:
    """Goal: no "database is locked" among writers that SQLite can line up.

    Source: faults.md F8.
    """
    stores = [SqlStore(sqlite_url, lease_ttl=5 * LEASE_TTL) for _ in range(4)]
    term = take_lease(stores[0])

    def append(store: SqlStore) -> None:
        for _ in range(5):
            with store.leading(term) as tx:
                tx.specs.append(CLICKS, None, NOON, "")

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(append, store) for store in stores]:
            done.result(timeout=60)
    with stores[0].reading() as tx:
        newest = tx.specs.newest(CLICKS)
    assert newest is not None
    assert newest.version == 20
    for store in stores:
        store.close()


def test_an_exhausted_pool_is_busy_and_recovers(leader: Leader, hasty: SqlStore) -> None:
    with hasty.reading() as tx:
        tx.tasks.active()
        with pytest.raises(MetadataBusy), hasty.reading():
            pass
    with hasty.leading(leader.term) as tx:
        tx.specs.append(CLICKS, None, NOON, "")


@pytest.mark.pg
def test_writers_that_wait_for_each_other_are_not_left_waiting(postgresql_leader: Leader) -> None:
    """Goal: a deadlock or a lock timeout is MetadataBusy; the other transaction commits."""
    with postgresql_leader.writes() as tx:
        tx.offsets.initialise(CLICKS, TOPIC_ID, {P0: 0, P1: 0})
    with postgresql_leader.writes() as first:
        first.offsets.advance(CLICKS, {P1: 0}, {P1: 1}, IDS)
        with pytest.raises(MetadataBusy), postgresql_leader.writes() as second:
            second.offsets.advance(CLICKS, {P0: 0, P1: 0}, {P0: 2, P1: 2}, IDS)
    assert postgresql_leader.committed() == {P0: 0, P1: 1}


@pytest.mark.pg
def test_a_leader_that_sleeps_inside_a_transaction_loses_it(postgresql_url: str) -> None:
    """Goal: rule P1: a frozen holder of the term's share lock does not block a takeover for ever.

    The candidate waits for the lock longer than the leader may be idle.
    """
    sleepy = SqlStore(postgresql_url, lease_ttl=SOON)
    term = take_lease(sleepy, "sleepy")
    patient = SqlStore(postgresql_url, lease_ttl=LEASE_TTL)

    def sleep_inside_a_transaction() -> None:
        with sleepy.leading(term) as tx:
            tx.specs.append(CLICKS, None, NOON, "")
            assert take_lease(patient, "patient") == term + 1  # waits until that is cut off

    with pytest.raises((MetadataBusy, MetadataUnavailable)):
        sleep_inside_a_transaction()
    with patient.reading() as tx:
        assert tx.specs.newest(CLICKS) is None
    sleepy.close()
    patient.close()


@pytest.mark.pg
def test_connections_that_the_server_has_closed_are_replaced(
    postgresql_url: str, postgresql_leader: Leader
) -> None:
    """Goal: a restart of PostgreSQL costs no request after it (F9)."""
    with postgresql_leader.reads() as tx:
        tx.tasks.active()
    execute(
        postgresql_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'tidegate' AND datname = current_database()",
    )
    with postgresql_leader.writes() as tx:
        tx.specs.append(CLICKS, None, NOON, "")


@pytest.mark.parametrize(
    "url",
    ["sqlite:////nowhere/at/all.db", "postgresql://postgres:hunter2@127.0.0.1:1/nothing"],
    ids=["sqlite", "postgresql"],
)
def test_a_database_that_cannot_be_reached_is_unavailable(url: str) -> None:
    store = SqlStore(url, lease_ttl=LEASE_TTL)
    with pytest.raises(MetadataUnavailable) as away, store.reading():
        pass
    assert "hunter2" not in str(away.value)
    store.close()


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database at all, but a text" * 50)
    store = SqlStore(f"sqlite:///{tmp_path / 'text.db'}", lease_ttl=LEASE_TTL)
    with pytest.raises(MetadataUnavailable), store.reading() as tx:
        tx.tasks.active()
    store.close()


@pytest.mark.parametrize(
    "url", ["mysql://h/d", "sqlite://", "sqlite:///:memory:", "no url", "secret@nonsense"]
)
def test_a_url_that_names_no_lasting_database_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="metadata") as refused:
        SqlStore(url, lease_ttl=LEASE_TTL)
    assert "secret" not in str(refused.value)


def test_a_spec_that_cannot_be_read_stops_its_supervisor_alone(
    leader: Leader, database_url: str
) -> None:
    """Source: faults.md F11."""
    with leader.writes() as tx:
        for supervisor_id in ("broken", "sound"):
            tx.specs.append(supervisor_id, None, NOON, "")
    execute(
        database_url,
        """UPDATE supervisor_specs SET spec = '{"type": "kafka"}' WHERE supervisor_id = 'broken'""",
    )
    with leader.reads() as tx:
        assert [v.supervisor_id for v in tx.specs.all_newest()] == ["sound"]
        with pytest.raises(SpecUnreadable) as invalid:
            tx.specs.newest("broken")
    assert any(error.pointer == "/dataSchema" for error in invalid.value.errors)


def test_text_that_a_database_cannot_hold_is_stored_without_it(leader: Leader) -> None:
    """Goal: a worker's error message with bytes of a record in it settles its task all the same."""
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1"))
        tx.tasks.end("t1", attempt("t1").status.FAILED, "bad \0 record \ud83d", NOON)
    assert leader.task("t1").reason == "bad \N{REPLACEMENT CHARACTER} record ?"


def test_times_keep_their_moment_and_their_microseconds(leader: Leader) -> None:
    """Goal: from the first to the last year that a record may name, in whatever zone."""
    leader.opens(opening("g1", 1, {P0: 0}))
    east = timezone(timedelta(hours=14))
    moments = {
        "a": datetime(1, 1, 1, tzinfo=UTC),
        "b": datetime(2026, 1, 1, 3, 4, 5, 678901, tzinfo=east),
        "c": datetime(9999, 12, 31, 22, 30, tzinfo=UTC),
    }
    with leader.writes() as tx:
        tx.tasks.start(attempt("t1"))
        tx.segments.add(publication(), [segment(path, at) for path, at in moments.items()])
    with leader.reads() as tx:
        found = tx.segments.of_data_source("table")
    assert {s.file.path: s.file.interval_start for s in found} == moments
    assert {s.file.interval_start.tzinfo for s in found} == {UTC}
