"""The way back to the schema of an earlier release, which refuses to start on a newer one."""

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import inspect, text

from supervisor.core.values.errors import DowngradeRefused, LeaseLost
from supervisor.metadata.downgrading import downgrade, lost_by
from supervisor.metadata.migrate import migrate, migrating, newest, stored_revisions
from supervisor.metadata.store import SqlStore
from tests.conformance.stories import LEASE_TTL, NOON, take_lease
from tests.supervisor.core.snapshots import spec

EARLIER = "0013"
TTL = timedelta(milliseconds=300)


@pytest.fixture
def store(url: str) -> Iterator[SqlStore]:
    """A database of this release with a spec in it; its lease has a holder that is silent."""
    migrate(url)
    store = SqlStore(url, lease_ttl=LEASE_TTL)
    with store.leading(take_lease(store)) as tx:
        tx.specs.append("clicks", spec(), NOON, "ada")
    yield store
    store.close()


def _columns(url: str) -> set[str]:
    with migrating(url) as connection:
        found = inspect(connection).get_columns("supervisor_specs")
    return {str(column["name"]) for column in found}


def test_the_schema_goes_back_and_keeps_every_row_that_the_earlier_release_knows(
    url: str, store: SqlStore
) -> None:
    assert "release" in _columns(url)

    assert downgrade(url, EARLIER, lease_ttl=TTL)

    with migrating(url) as connection:
        assert stored_revisions(connection) == [EARLIER]
        rows = connection.execute(text("SELECT supervisor_id, author FROM supervisor_specs"))
        assert [tuple(row) for row in rows] == [("clicks", "ada")]
    assert "release" not in _columns(url)
    migrate(url)
    with store.reading() as tx:
        stored = tx.specs.newest("clicks")
    assert stored is not None
    assert (stored.spec, stored.release) == (spec(), None)


def test_it_is_refused_while_an_overlord_leads(url: str, store: SqlStore) -> None:
    """Goal: whoever renews its lease writes on; the schema is not taken from under it."""
    with store.reading() as tx:
        lease = tx.lease.read()
    assert lease is not None

    def renew(_: float) -> None:
        with store.writing() as tx:
            assert tx.lease.renew(lease.term, lease.holder)

    with pytest.raises(DowngradeRefused, match="stop every overlord"):
        downgrade(url, EARLIER, lease_ttl=timedelta(minutes=1), pause=renew)

    assert "release" in _columns(url)


def test_a_leader_that_was_only_silent_writes_nothing_any_more(url: str, store: SqlStore) -> None:
    """Goal: a process that was frozen does not write by a schema that is gone."""
    downgrade(url, EARLIER, lease_ttl=TTL)

    with pytest.raises(LeaseLost), store.leading(1) as tx:
        tx.specs.append("clicks", None, NOON, "")
    with store.reading() as tx:
        lease = tx.lease.read()
    assert lease is not None
    assert not lease.holder, "the next one need not wait"


def test_a_schema_that_is_that_already_stays(url: str, store: SqlStore) -> None:
    assert downgrade(url, EARLIER, lease_ttl=TTL)
    assert not downgrade(url, EARLIER, lease_ttl=TTL)
    assert store is not None


@pytest.mark.parametrize("to", ["0012", "base", "9999", ""])
def test_there_is_no_way_to_what_no_release_had(url: str, to: str) -> None:
    migrate(url)
    with pytest.raises(DowngradeRefused, match="no way back"):
        downgrade(url, to, lease_ttl=TTL)


def test_a_schema_of_yet_another_release_is_left_alone(url: str) -> None:
    migrate(url)
    with migrating(url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DowngradeRefused, match="9999"):
        downgrade(url, EARLIER, lease_ttl=TTL)


def test_each_version_gets_its_document_back(url: str, store: SqlStore) -> None:
    """Goal: the earlier release reads each version as this one does, and can forget any of them."""
    with store.leading(1) as tx:
        for suspended in (True, False, True):
            tx.specs.append("clicks", spec(suspended=suspended), NOON, "ada")
        tx.specs.append("clicks", None, NOON, "ada")
        tx.specs.append("orders", spec(suspended=True), NOON, "ada")

    assert downgrade(url, EARLIER, lease_ttl=TTL)

    with migrating(url) as connection:
        rows = connection.execute(
            text("SELECT cast(spec AS text) FROM supervisor_specs ORDER BY supervisor_id, version")
        )
        documents = [None if row[0] is None else json.loads(row[0]) for row in rows]
    whole = {each: spec(suspended=each).model_dump(mode="json") for each in (True, False)}
    assert documents == [whole[False], whole[True], whole[False], whole[True], None, whole[True]]
    migrate(url)
    with store.reading() as tx:
        assert [head.supervisor_id for head in tx.specs.awake()] == ["orders"]
        history = [version.spec for version in tx.specs.history("clicks")]
    assert history == [None, *(spec(suspended=each) for each in (True, False, True, False))]


def test_what_is_lost_is_named_step_by_step() -> None:
    archive, replays, events, reasons, last, history, between, first = lost_by(EARLIER)
    assert archive.startswith(f"{newest()}: how far the archive of events and audit is")
    assert replays.startswith("0020: what replays of bad records")
    assert events.startswith("0019: changes of states, specs and offsets")
    assert reasons == "0018: the reasons that people gave for their changes"
    assert last.startswith("0017: sessions of browsers")
    assert history.startswith("0016: what the deleted files")
    assert between.startswith("0015: which supervisors were submitted as tasks")
    assert first.startswith("0014: which release wrote")
