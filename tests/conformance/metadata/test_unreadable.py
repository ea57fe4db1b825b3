"""Rows of a newer release: what cannot be read here stops nothing that can be."""

from datetime import timedelta

import pytest

from supervisor.chores.task_output import keeps_files
from supervisor.control.export_outbox import follow
from supervisor.control.tables import known_tables
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.rows import GenerationState, SpecVersion, TaskStatus
from supervisor.core.tables.compaction import Compaction
from supervisor.core.tables.exports import Export
from supervisor.core.values.errors import SpecUnreadable, UnknownWord
from supervisor.core.values.export_formats import ExportFormat
from supervisor.core.values.intervals import Interval
from supervisor.metadata.store import SqlStore
from supervisor.services.access.ownership import Ownership, newest_table
from tests.conformance.metadata.databases import execute
from tests.conformance.stories import CLICKS, NOON, P0, Leader, attempt, opening, take_lease
from tests.supervisor.core.snapshots import spec


@pytest.fixture
def leader(database: SqlStore) -> Leader:
    """A real database in the hands of a leader."""
    return Leader(database, take_lease(database))


def _stored(leader: Leader, url: str, table: str = CLICKS) -> None:
    """Store a readable spec, and one of a newer release, of the same table."""
    sound_spec = spec()
    with leader.writes() as tx:
        tx.specs.append("newer", sound_spec, NOON, "")
        tx.specs.append("sound", sound_spec, NOON, "")
    document = sound_spec.to_json().replace('"dataSource":"clicks"', f'"dataSource":"{table}"')
    document = document.replace("{", '{"ofTheFuture":1,', 1)
    update = "UPDATE supervisor_specs SET spec = '{}', release = '0.9.0' WHERE supervisor_id = '{}'"
    execute(url, update.format(document, "newer"))


def test_each_version_names_the_release_that_wrote_it(leader: Leader) -> None:
    with leader.writes() as tx:
        written = tx.specs.append("clicks", spec(), NOON, "")
        assert tx.specs.newest("clicks") == written
    assert written.release


def test_a_list_holds_the_reason_in_the_place_of_what_cannot_be_read(
    leader: Leader, database_url: str
) -> None:
    _stored(leader, database_url)
    with leader.reads() as tx:
        unreadable, sound = tx.specs.newest_or_unreadable()
    assert isinstance(unreadable, SpecUnreadable)
    assert isinstance(sound, SpecVersion)
    found = (unreadable.supervisor_id, unreadable.version, unreadable.release)
    assert found == ("newer", 1, "0.9.0")
    assert unreadable.data_source == "clicks"


def test_its_number_and_its_table_are_known_without_reading_it(
    leader: Leader, database_url: str
) -> None:
    """Goal: it is woken, listed and guarded like every other supervisor."""
    _stored(leader, database_url)
    with leader.reads() as tx:
        assert [(head.supervisor_id, head.version) for head in tx.specs.heads()] == [
            ("newer", 1),
            ("sound", 1),
        ]
        assert tx.specs.tables() == {"newer": "clicks", "sound": "clicks"}
        versions = tx.specs.versions([("newer", 1), ("sound", 1)])
    assert isinstance(versions["newer", 1], SpecUnreadable)
    assert isinstance(versions["sound", 1], SpecVersion)


@pytest.mark.parametrize("document", ['{"type":"kafka"}', '{"dataSchema":{"dataSource":5}}', "[]"])
def test_a_table_at_another_place_is_known_to_the_newer_release_alone(
    leader: Leader, database_url: str, document: str
) -> None:
    """Goal: nobody is taken for allowed, or for not allowed, by a guess."""
    _stored(leader, database_url)
    update = "UPDATE supervisor_specs SET spec = '{}' WHERE supervisor_id = 'newer'"
    execute(database_url, update.format(document))
    with leader.reads() as tx:
        assert tx.specs.tables() == {"newer": None, "sound": "clicks"}
        assert tx.specs.tables_of("newer") == [None]
        assert known_tables(tx) == {"clicks"}
        with pytest.raises(SpecUnreadable):
            newest_table(tx, "newer")
    with leader.writes() as tx:
        assert tx.specs.append("newer", None, NOON, "").version == 2


def test_one_row_is_the_reason_where_it_cannot_be_read(leader: Leader, database_url: str) -> None:
    """Goal: what may follow it is judged by its number, its time, and what is known of it."""
    _stored(leader, database_url)
    with leader.writes() as tx:
        newest = tx.specs.newest_stored("newer")
        assert isinstance(newest, SpecUnreadable)
        assert (newest.version, newest.created_at) == (1, NOON)
        assert (newest.facts.topic, newest.facts.bounds) == ("clicks", None)
        assert newest.facts.rolls_up is False
        added = tx.specs.append("newer", None, NOON, "", after=1)
        assert tx.specs.newest_stored("newer") == added
        assert tx.specs.newest_stored("unused") is None
        history = tx.specs.versions([("newer", 2), ("newer", 1)])
    assert {number: each.version for (_, number), each in history.items()} == {2: 2, 1: 1}
    assert isinstance(history["newer", 1], SpecUnreadable)
    assert Ownership(leader.store).ever_of_supervisor("newer") == {"clicks"}


def test_no_export_is_switched_off_by_another_spec_of_the_table(
    leader: Leader, database_url: str
) -> None:
    """Goal: the spec that cannot be read may be the one that asks for it."""
    _stored(leader, database_url)
    with leader.writes() as tx:
        tx.exports.put(Export("clicks", ExportFormat.DELTA, enabled=True))
        follow(tx, "clicks", NOON)
        export = tx.exports.get("clicks", ExportFormat.DELTA)
    assert export is not None
    assert export.enabled


def test_a_spec_of_another_table_keeps_no_export_on(leader: Leader, database_url: str) -> None:
    _stored(leader, database_url, table="views")
    with leader.writes() as tx:
        tx.exports.put(Export("clicks", ExportFormat.DELTA, enabled=True))
        follow(tx, "clicks", NOON)
        export = tx.exports.get("clicks", ExportFormat.DELTA)
    assert export is not None
    assert not export.enabled


def test_its_table_is_known(leader: Leader, database_url: str) -> None:
    _stored(leader, database_url, table="views")
    with leader.reads() as tx:
        assert known_tables(tx) == {"clicks", "views"}


def test_a_kind_of_happening_of_a_newer_release_hides_no_other(
    leader: Leader, database_url: str
) -> None:
    """Goal: who follows the events misses none of those that this release knows."""
    with leader.writes() as tx:
        for name in ("a", "b", "c"):
            tx.happenings.record(LifecycleEvent(NOON, EventKind.OFFSETS_RESET, name, {}))
    execute(database_url, "UPDATE happenings SET kind = 'of-the-future' WHERE supervisor_id = 'b'")
    with leader.reads() as tx:
        kinds = [each.happening.kind for each in tx.happenings.after(0, 10)]
    assert kinds[-3:] == [
        EventKind.OFFSETS_RESET,
        EventKind.UNKNOWN,
        EventKind.OFFSETS_RESET,
    ]


def test_a_state_of_a_newer_release_is_an_error_that_names_it(
    leader: Leader, database_url: str
) -> None:
    """Goal: what decides cannot guess; it says why, and is tried again, as by a later leader."""
    leader.opens(opening("g1", 1, {P0: 0}))
    execute(database_url, "UPDATE generations SET state = 'OF_THE_FUTURE'")
    with leader.reads() as tx, pytest.raises(UnknownWord, match="OF_THE_FUTURE"):
        tx.generations.get("g1")
    with leader.reads() as tx:
        assert tx.generations.rows_of(["g1"])["g1"].state is GenerationState.UNKNOWN


def test_an_ended_task_of_a_newer_release_is_found_among_no_others(
    leader: Leader, database_url: str
) -> None:
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.writes() as tx:
        for number, name in enumerate(("a", "b", "c")):
            tx.tasks.start(attempt(name, replica=number))
    execute(database_url, "UPDATE tasks SET status = 'OF_THE_FUTURE' WHERE id = 'b'")
    execute(database_url, "UPDATE tasks SET outcome = 'of-the-future' WHERE id = 'c'")

    with leader.reads() as tx:
        assert [each.id for each in tx.tasks.find(status=TaskStatus.UNKNOWN)] == ["b"]
        assert [each.id for each in tx.tasks.find(status=TaskStatus.RUNNING)] == ["c", "a"]
        rows = tx.tasks.rows_of(["a", "b", "c"])
    assert not keeps_files(rows["a"])
    for name in ("b", "c"):
        assert rows[name].status is TaskStatus.UNKNOWN
        assert "of-the-future" in rows[name].reason.lower().replace("_", "-")
        assert keeps_files(rows[name])


def test_a_compaction_of_a_newer_release_is_left_alone(leader: Leader, database_url: str) -> None:
    with leader.writes() as tx:
        hour = Interval(NOON, NOON + timedelta(hours=1))
        tx.compactions.add(
            Compaction("c1", "table", CLICKS, hour, (), (), (), reason="", created_at=NOON)
        )
    execute(database_url, "UPDATE compactions SET status = 'OF_THE_FUTURE'")
    with leader.reads() as tx:
        [row] = tx.compactions.live()
        assert row == tx.compactions.page(10)[0][1]
    assert row.status is TaskStatus.UNKNOWN
    assert not row.live
    assert "OF_THE_FUTURE" in row.detail
    assert keeps_files(row)


def test_an_export_of_a_newer_release_is_its_own_business(
    leader: Leader, database_url: str
) -> None:
    with leader.writes() as tx:
        tx.exports.put(Export("clicks", ExportFormat.DELTA, enabled=True))
        tx.exports.put(Export("views", ExportFormat.DELTA, enabled=True))
    execute(database_url, "UPDATE exports SET format = 'x' WHERE data_source = 'clicks'")
    with leader.reads() as tx:
        assert [each.data_source for each in tx.exports.all()] == ["views"]
        assert tx.exports.of("clicks") == []
