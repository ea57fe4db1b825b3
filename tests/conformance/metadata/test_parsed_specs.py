"""A stored spec is parsed once per process, and read as its row is now."""

import json
from threading import Thread

import pytest

from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SpecUnreadable
from supervisor.metadata.parsed_specs import ParsedSpecs
from supervisor.metadata.store import SqlStore
from tests.conformance.metadata.databases import execute
from tests.conformance.stories import CLICKS, NOON, Leader, take_lease
from tests.supervisor.core.snapshots import spec

_CHANGE = "UPDATE supervisor_specs SET spec = '{}'"


@pytest.fixture
def leader(database: SqlStore) -> Leader:
    """A real database in the hands of a leader."""
    return Leader(database, take_lease(database))


def _spec_of(leader: Leader, version: int = 1) -> SupervisorSpec:
    with leader.reads() as tx:
        stored = tx.specs.version(CLICKS, version)
    assert stored is not None
    assert stored.spec is not None
    return stored.spec


def test_every_reader_of_a_version_has_the_same_spec(leader: Leader) -> None:
    """Goal: the cost of a spec is that of its first reader, however many read it, and how."""
    with leader.writes() as tx:
        tx.specs.append(CLICKS, spec(), NOON, "")
        tx.specs.append(CLICKS, spec(suspended=True), NOON, "")
    first = _spec_of(leader, 2)

    with leader.reads() as tx:
        read = [tx.specs.newest(CLICKS), tx.specs.newest_stored(CLICKS), *tx.specs.all_newest()]
        read += [tx.specs.version(CLICKS, 2), tx.specs.history(CLICKS)[0]]
    with leader.writes() as tx:
        read.append(tx.specs.newest(CLICKS))

    assert first == spec(suspended=True)
    assert all(getattr(each, "spec", None) is first for each in read)


def test_a_version_number_that_is_given_again_has_its_own_spec(leader: Leader) -> None:
    """Goal: an id that was forgotten and is used again, at the same moment of a clock."""
    with leader.writes() as tx:
        tx.specs.append(CLICKS, spec(task_count=1), NOON, "")
    assert _spec_of(leader) == spec(task_count=1)

    with leader.writes() as tx:
        tx.specs.forget(CLICKS, 1)
        tx.specs.append(CLICKS, spec(task_count=2), NOON, "")

    assert _spec_of(leader) == spec(task_count=2)


def test_a_spec_that_was_rolled_back_is_not_read(leader: Leader) -> None:
    """Goal: what a transaction has read of its own writes is nothing that others read."""

    def crashed() -> None:
        with leader.writes() as tx:
            tx.specs.append(CLICKS, spec(task_count=1), NOON, "")
            assert tx.specs.newest(CLICKS) is not None
            raise KeyError

    with pytest.raises(KeyError):
        crashed()
    with leader.writes() as tx:
        tx.specs.append(CLICKS, spec(task_count=2), NOON, "")

    assert _spec_of(leader) == spec(task_count=2)


def test_a_row_that_was_changed_by_hand_is_read_as_it_is_now(
    leader: Leader, database_url: str
) -> None:
    """Goal: a restored database, or a repair, needs no restart of the overlord."""
    with leader.writes() as tx:
        tx.specs.append(CLICKS, spec(), NOON, "")
    assert _spec_of(leader) == spec()
    sound = spec().to_json()

    execute(database_url, _CHANGE.format(sound.replace("{", '{"ofTheFuture":1,', 1)))
    for _ in range(2):
        with leader.reads() as tx, pytest.raises(SpecUnreadable, match="ofTheFuture"):
            tx.specs.newest(CLICKS)
    execute(database_url, _CHANGE.format(sound))

    assert _spec_of(leader) == spec()


def _texts(count: int) -> list[str]:
    documents = [spec(task_count=number + 1).model_dump(mode="json") for number in range(count)]
    return [json.dumps(document) for document in documents]


def test_the_specs_that_were_used_last_are_kept_within_the_bound() -> None:
    first, second, third = _texts(3)
    parsed = ParsedSpecs(characters_max=len(first) + len(second))
    kept, dropped = parsed.parse(first), parsed.parse(second)
    parsed.parse(first)

    parsed.parse(third)

    assert parsed.parse(first) is kept
    again = parsed.parse(second)
    assert again == dropped
    assert again is not dropped


def test_a_spec_beyond_the_bound_is_read_all_the_same() -> None:
    [text] = _texts(1)
    parsed = ParsedSpecs(characters_max=10)

    assert parsed.parse(text) == parsed.parse(text) == spec(task_count=1)


def test_readers_at_the_same_time_have_one_spec() -> None:
    """Goal: a costly spec that all passes and requests need is not parsed by each of them."""
    [text] = _texts(1)
    parsed = ParsedSpecs()
    read: list[object] = []
    threads = [Thread(target=lambda: read.append(parsed.parse(text))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(read) == 8
    assert len({id(each) for each in read}) == 1
