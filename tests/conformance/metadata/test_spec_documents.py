"""Versions that differ by `suspended` alone are stored without a copy of the document."""

import json

import pytest

from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SpecUnreadable
from supervisor.metadata.store import SqlStore
from tests.conformance.metadata.databases import execute
from tests.conformance.stories import CLICKS, NOON, Leader, take_lease
from tests.supervisor.core.snapshots import spec

FLIPS = 50


@pytest.fixture
def leader(database: SqlStore) -> Leader:
    """A real database in the hands of a leader."""
    return Leader(database, take_lease(database))


def _large(kind: str = "a", size: int = 1_000_000) -> SupervisorSpec:
    """A spec whose document has about `size` characters, which no database can compress away."""
    words = "".join(f"{number * 7_919 % 1_000_003:06}" for number in range(size // 6))
    return spec().model_copy(update={"context": {kind: words}})


def _append(leader: Leader, document: SupervisorSpec | None, supervisor_id: str = CLICKS) -> None:
    with leader.writes() as tx:
        tx.specs.append(supervisor_id, document, NOON, "ada")


def _flipped(document: SupervisorSpec, *, suspended: bool) -> SupervisorSpec:
    return document.model_copy(update={"suspended": suspended})


def _stored_size(leader: Leader) -> int:
    """The characters of all stored documents."""
    with leader.reads() as tx:
        rows = tx.specs._db.exec_driver_sql(  # type: ignore[attr-defined]  # what is stored itself
            "SELECT sum(length(cast(spec AS text))) FROM supervisor_specs"
        )
        return int(rows.scalar_one())


def test_suspends_and_resumes_store_no_copy_and_each_version_is_read_whole(leader: Leader) -> None:
    """Goal: whoever may suspend a supervisor cannot fill the database."""
    large = _large()
    _append(leader, large)
    before = _stored_size(leader)
    for number in range(2 * FLIPS):
        _append(leader, _flipped(large, suspended=number % 2 == 0))

    assert _stored_size(leader) == before > 900_000
    last = 2 * FLIPS + 1
    wanted = [_flipped(large, suspended=suspended) for suspended in (True, False)]
    with leader.reads() as tx:
        for number in range(1, last + 1):
            version = tx.specs.version(CLICKS, number)
            assert version is not None
            assert version.spec == wanted[number % 2]
        history = tx.specs.history(CLICKS, limit=2)
        assert [(v.version, v.spec) for v in history] == [(last, wanted[1]), (last - 1, wanted[0])]
        assert tx.specs.newest(CLICKS) == history[0]
        assert tx.specs.all_newest() == history[:1]
        assert tx.specs.versions([(CLICKS, last - 1)]) == {(CLICKS, last - 1): history[1]}
        assert tx.specs.tables() == {CLICKS: "clicks"}
        assert tx.specs.tables_of(CLICKS, limit=2) == ["clicks", "clicks"]
        assert [head.terminated for head in tx.specs.heads()] == [False]


def test_a_document_that_changed_otherwise_is_stored(leader: Leader) -> None:
    """Goal: 1, 1.0 and true are equal in Python, and three documents."""
    first = _large(size=600).model_copy(update={"context": {"x": 1}})
    for value in (1, 1.0, True, 1):
        _append(leader, first.model_copy(update={"context": {"x": value}, "suspended": False}))

    with leader.reads() as tx:
        specs = [version.spec for version in tx.specs.history(CLICKS)]
    read = [json.loads(each.to_json())["context"]["x"] for each in specs if each is not None]
    assert [repr(each) for each in read] == ["1", "True", "1.0", "1"]


def test_a_spec_behind_a_tombstone_has_its_own_document(leader: Leader) -> None:
    _append(leader, spec())
    _append(leader, spec(suspended=True))
    _append(leader, None)
    _append(leader, spec())
    with leader.writes() as tx:
        tx.specs.forget(CLICKS, 3)

    with leader.reads() as tx:
        assert [(v.version, v.spec) for v in tx.specs.history(CLICKS)] == [(4, spec())]


def test_a_version_that_stays_keeps_the_document_of_one_that_is_forgotten(leader: Leader) -> None:
    for suspended in (False, True, False):
        _append(leader, spec(suspended=suspended))
    _append(leader, spec(suspended=True), "other")

    with leader.writes() as tx:
        tx.specs.forget(CLICKS, 1)
    _append(leader, spec(suspended=True))
    with leader.writes() as tx:
        tx.specs.forget(CLICKS, 2)

    with leader.reads() as tx:
        read = [(v.version, v.spec) for v in tx.specs.history(CLICKS)]
        assert tx.specs.version("other", 1) is not None
    assert read == [(4, spec(suspended=True)), (3, spec())]


def test_a_reference_to_nothing_is_no_tombstone(leader: Leader, database_url: str) -> None:
    """Goal: a row that somebody has deleted by hand does not end a supervisor."""
    _append(leader, spec())
    _append(leader, spec(suspended=True))
    execute(database_url, "DELETE FROM supervisor_specs WHERE version = 1")

    with leader.reads() as tx, pytest.raises(SpecUnreadable, match="document of version 1"):
        tx.specs.newest(CLICKS)
    with leader.reads() as tx:
        assert [head.terminated for head in tx.specs.heads()] == [False]
