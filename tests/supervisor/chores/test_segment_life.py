"""The end of a segment's life: out of its table, back again, or deleted after the grace time."""

from pathlib import Path

import pytest

from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.chores.segments import (
    CONDEMNED,
    PER_TRANSACTION,
    SEGMENT_FILES,
    SEGMENTS,
    UNUSED,
    SegmentFiles,
    SegmentSelection,
    SegmentsUnused,
)
from supervisor.core.model.listed_segments import SegmentWindow
from supervisor.core.queue.events import QueuedEvent, QueueName, container_of
from supervisor.core.values.errors import (
    DataSourceNotFound,
    LeaseLost,
    StorageUnavailable,
    TooManyOutstandingBytes,
)
from supervisor.core.values.intervals import Interval
from supervisor.eventqueue.handling import Context, EventDone, Fail
from supervisor.ports.store import Store
from tests.conformance.stories import CLICKS, HOUR
from tests.supervisor.chores.tables import DAY, DELAY, GRACE, TABLE, Tables
from tests.supervisor.core.snapshots import NOON
from tests.supervisor.yard import owned

ALL = SegmentSelection()


@pytest.fixture
def tables(store: Store) -> Tables:
    return Tables(store)


def mark_unused(tables: Tables, selection: SegmentSelection = ALL) -> int:
    return tables.segments.mark_unused(TABLE, selection, "me")


def mark_used(tables: Tables, selection: SegmentSelection = ALL) -> int:
    return tables.segments.mark_used(TABLE, selection, "me")


def context(tables: Tables) -> Context:
    return Context(tables.store, tables.term, tables.clock.now(), lambda: False)


# -- marking ---------------------------------------------------------------------------------------


def test_an_unused_segment_leaves_its_table_at_once_and_its_file_stays(tables: Tables) -> None:
    files = tables.publish(3)

    assert mark_unused(tables, SegmentSelection(ids=[files[0].id, files[2].id, "unknown"])) == 2

    assert tables.of_table() == [files[1].id]
    assert tables.holds(*files) == [True, True, True]
    assert tables.queue(SEGMENTS).outstanding_events == 2


def test_an_interval_takes_the_segments_wholly_inside(tables: Tables) -> None:
    files = tables.publish(4)
    inside = Interval(NOON - 3 * HOUR, NOON - HOUR)

    assert mark_unused(tables, SegmentSelection(interval=inside)) == 2

    assert tables.of_table() == [files[0].id, files[3].id]


def test_marking_twice_changes_nothing_more(tables: Tables) -> None:
    tables.publish(2)

    assert (mark_unused(tables), mark_unused(tables)) == (2, 0)

    assert tables.queue(SEGMENTS).outstanding_events == 2
    assert [entry.action for entry in tables.audit()] == ["mark-unused"]


def test_every_mark_is_audited_with_what_it_took(tables: Tables) -> None:
    tables.publish(2)
    mark_unused(tables)
    mark_used(tables)

    entries = [(e.actor, e.action, e.subject, e.detail["segments"]) for e in tables.audit()]

    assert entries == [("me", "mark-unused", TABLE, "2"), ("me", "mark-used", TABLE, "2")]
    assert tables.audit()[0].detail["rows"] == "20"


def test_a_table_that_nobody_knows_is_refused(tables: Tables) -> None:
    with pytest.raises(DataSourceNotFound):
        mark_unused(tables)
    with pytest.raises(DataSourceNotFound):
        mark_used(tables)


def test_a_large_selection_takes_several_transactions(tables: Tables) -> None:
    """Goal: a transaction's length does not depend on how large a table is."""
    tables.publish(PER_TRANSACTION + 1)

    assert mark_unused(tables) == PER_TRANSACTION + 1

    assert [e.detail["segments"] for e in tables.audit()] == [str(PER_TRANSACTION), "1"]
    assert tables.queue(SEGMENTS).outstanding_events == PER_TRANSACTION + 1


def test_a_refused_event_leaves_the_segment_as_it_is(tables: Tables) -> None:
    """Goal: a mark without its event would be a file that nobody ever deletes."""
    tables.publish(2)
    others = tables.publish(1, "others")
    fill(tables, CLICKS)

    with pytest.raises(TooManyOutstandingBytes):
        mark_unused(tables)

    assert tables.of_table() == ["task-clicks-1/0", "task-clicks-1/1"]
    assert tables.queue(SEGMENTS, "others").outstanding_events == len(others)


def fill(tables: Tables, supervisor_id: str) -> None:
    """Let more wait in the queue of unused segments than it takes."""
    queue = QueueName(container_of(supervisor_id), SEGMENTS)
    large = QueuedEvent(UNUSED, "x", {"padding": "x" * 1_000_000})
    with tables.store.leading(tables.term) as tx:
        for _ in range(68):
            tx.events.add(queue, large, tables.segments.config, NOON, exempt=True)


def test_who_does_not_lead_marks_nothing(tables: Tables) -> None:
    tables.publish()
    tables.term += 1

    with pytest.raises(LeaseLost):
        mark_unused(tables)

    assert len(tables.of_table()) == 1


def test_a_mark_stops_once_it_is_not_wanted_any_more(tables: Tables) -> None:
    tables.publish()
    life = tables.segments

    assert life.mark_unused(TABLE, ALL, "me", still=lambda _: False) == 0

    assert len(tables.of_table()) == 1


# -- the grace time --------------------------------------------------------------------------------


def test_the_file_goes_when_the_grace_time_is_over_and_not_before(tables: Tables) -> None:
    gone, stays = tables.publish(2)
    mark_unused(tables, SegmentSelection(ids=[gone.id]))

    tables.pass_time(GRACE - HOUR)
    tables.pass_time(DELAY)
    assert tables.holds(gone, stays) == [True, True]

    tables.pass_time(HOUR)
    tables.pass_time(DELAY)
    assert tables.holds(gone, stays) == [False, True]
    [row], _ = tables.segments.page(TABLE, None, None, SegmentWindow(used=False))
    assert (row.id, row.deleted_at is not None) == (gone.id, True)


def test_a_segment_that_is_used_again_is_not_deleted(tables: Tables) -> None:
    [file] = tables.publish()
    mark_unused(tables)
    tables.pass_time(GRACE - HOUR)

    assert mark_used(tables) == 1
    tables.pass_time(GRACE)

    assert (tables.of_table(), tables.holds(file)) == ([file.id], [True])
    assert tables.queue(SEGMENTS).outstanding_events == 0


def test_a_second_mark_begins_a_new_grace_time(tables: Tables) -> None:
    """Goal: the event of the first mark finds another time on the row, and does nothing."""
    [file] = tables.publish()
    mark_unused(tables)
    tables.clock.advance(GRACE - DAY)
    mark_used(tables)
    mark_unused(tables)

    tables.pass_time(2 * DAY)
    tables.pass_time(DELAY)
    assert tables.holds(file) == [True]
    assert mark_used(tables) == 1
    mark_unused(tables)

    tables.pass_time(GRACE)
    tables.pass_time(DELAY)
    assert tables.holds(file) == [False]


def test_a_condemned_segment_is_never_put_back(tables: Tables) -> None:
    """Goal: its file may be going at this moment."""
    [file] = tables.publish()
    mark_unused(tables)
    tables.pass_time(GRACE)
    assert tables.holds(file) == [True]  # its file stands in the second queue

    assert mark_used(tables) == 0
    assert tables.of_table() == []


def test_a_crash_before_the_position_moved_condemns_nothing_twice(tables: Tables) -> None:
    """Goal: condemning is written with the position; a repeated batch finds neither."""
    [file] = tables.publish()
    mark_unused(tables)
    body = {"unusedAt": NOON.isoformat()}

    unused = SegmentsUnused(tables.files)
    handled = unused([QueuedEvent(UNUSED, file.id, body)], context(tables))

    assert handled.answers == [EventDone()]
    with tables.store.reading() as tx:
        found = tx.segments.get(file.id)
        assert found is not None
        assert found.deleted_at is None


def test_an_event_without_a_time_is_set_aside(tables: Tables) -> None:
    unused = SegmentsUnused(tables.files)

    for body in ({}, {"unusedAt": 7}, {"unusedAt": "noon"}, {"unusedAt": "2026-01-01T00:00:00"}):
        [answer] = unused([QueuedEvent(UNUSED, "x", body)], context(tables)).answers
        assert isinstance(answer, Fail)


# -- deleting --------------------------------------------------------------------------------------


def condemned(tables: Tables) -> None:
    mark_unused(tables)
    tables.pass_time(GRACE)


def test_a_file_that_is_gone_already_counts_as_deleted(tables: Tables) -> None:
    [file] = tables.publish()
    condemned(tables)
    tables.warehouse.delete_file(file.file.path)

    tables.pass_time(DELAY)

    assert tables.queue(SEGMENT_FILES).outstanding_events == 0


def test_a_deletion_that_is_repeated_succeeds(tables: Tables) -> None:
    [file] = tables.publish()
    condemned(tables)
    handler, event = SegmentFiles(tables.warehouse), QueuedEvent(CONDEMNED, file.id)

    for _ in range(2):
        assert handler([event], context(tables)).answers == [EventDone()]

    assert tables.holds(file) == [False]


def test_a_file_that_cannot_be_deleted_is_tried_again_and_then_set_aside(tables: Tables) -> None:
    bad, good = tables.publish(2)
    tables.warehouse.fail_deletions(bad.file.path, 3)
    condemned(tables)

    tables.pass_time(DELAY)
    assert tables.holds(bad, good) == [True, False]
    tables.pass_time(DELAY)
    tables.pass_time(DELAY)

    with tables.store.reading() as tx:
        [failed] = tx.events.failed(QueueName(container_of(CLICKS), SEGMENT_FILES), 9)
    assert failed.key == bad.id
    assert bad.file.path in failed.reason


def test_a_warehouse_that_is_down_uses_no_attempt_up(tables: Tables) -> None:
    [file] = tables.publish()
    condemned(tables)
    tables.warehouse.go_down()

    with pytest.raises(StorageUnavailable):
        SegmentFiles(tables.warehouse)([QueuedEvent(CONDEMNED, file.id)], context(tables))
    for _ in range(5):
        tables.pass_time(DELAY)
    tables.warehouse.come_back()
    tables.pass_time(DELAY)

    assert tables.holds(file) == [False]
    with tables.store.reading() as tx:
        assert tx.events.failed(None, 9) == []


@pytest.mark.parametrize("left", ["nothing", "an empty folder"])
def test_an_unmounted_warehouse_is_not_one_whose_files_are_gone(
    tables: Tables, tmp_path: Path, left: str
) -> None:
    """Goal: what lies where nobody looks now is still there once it is mounted again."""
    [file] = tables.publish()
    condemned(tables)
    place = tmp_path / "warehouse"
    if left == "an empty folder":
        place.mkdir()

    with pytest.raises(StorageUnavailable):
        SegmentFiles(LocalWarehouse(place))([QueuedEvent(CONDEMNED, file.id)], context(tables))


def test_a_deleted_files_empty_folder_goes_with_it_and_nothing_else_does(
    tables: Tables, tmp_path: Path
) -> None:
    gone, stays = tables.publish(2)
    mark_unused(tables, SegmentSelection(ids=[gone.id]))
    tables.pass_time(GRACE)
    for each in (gone, stays):
        place = tmp_path / each.file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"rows")
    handler = SegmentFiles(owned(LocalWarehouse(tmp_path), tables.store))

    assert handler([QueuedEvent(CONDEMNED, gone.id)], context(tables)).answers == [EventDone()]
    assert [p.name for p in (tmp_path / stays.file.path).parent.iterdir()] == ["1.parquet"]

    mark_unused(tables)
    tables.pass_time(GRACE)
    assert handler([QueuedEvent(CONDEMNED, stays.id)], context(tables)).answers == [EventDone()]
    assert list((tmp_path / TABLE / "data").iterdir()) == []


def test_a_segment_that_was_never_condemned_is_never_deleted(tables: Tables) -> None:
    """Goal: whatever stands in the queue, only the row decides."""
    [file] = tables.publish()
    mark_unused(tables)

    answers = SegmentFiles(tables.warehouse)(
        [
            QueuedEvent(CONDEMNED, file.id),
            QueuedEvent(CONDEMNED, "unknown"),
            QueuedEvent(UNUSED, file.id),
        ],
        context(tables),
    ).answers

    assert [type(answer) for answer in answers] == [Fail, Fail, Fail]
    assert tables.holds(file) == [True]


def test_a_path_outside_of_the_tasks_folder_is_never_deleted(tables: Tables) -> None:
    """Goal: a row that was tampered with deletes nothing of others."""
    [file] = tables.publish(path="table/data/of-another-task/{number}.parquet")
    condemned(tables)

    [answer] = SegmentFiles(tables.warehouse)(
        [QueuedEvent(CONDEMNED, file.id)], context(tables)
    ).answers

    assert isinstance(answer, Fail)
    assert tables.holds(file) == [True]


def test_other_supervisors_are_not_held_up(tables: Tables) -> None:
    """Goal: each supervisor has queues of its own; one stuck queue is nobody else's trouble."""
    [stuck] = tables.publish(1)
    [free] = tables.publish(1, "others")
    tables.warehouse.fail_deletions(stuck.file.path, 100)
    condemned(tables)

    tables.pass_time(DELAY)

    assert tables.holds(stuck, free) == [True, False]


def test_an_errors_file_lies_in_the_folder_of_its_task_and_is_deleted_there(
    tables: Tables,
) -> None:
    """Goal: marked by its own table, deleted from the folder of the table it stands beside."""
    rows, errors = tables.publish(), tables.publish(errors=True)

    marked = tables.segments.mark_unused(f"{TABLE}__errors", SegmentSelection(), "me")
    tables.pass_time(GRACE)
    tables.pass_time(DELAY)

    assert marked == 1
    assert tables.holds(*rows, *errors) == [True, False]
    assert tables.of_table() == [rows[0].id]
