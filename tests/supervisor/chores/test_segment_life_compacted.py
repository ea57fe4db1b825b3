"""The end of a compacted file's life, and of the files in whose place it came."""

from dataclasses import replace

import pytest

from supervisor.chores.segments import SEGMENTS, UNUSED, SegmentSelection
from supervisor.core.model.rows import Segment
from supervisor.core.queue.events import QueuedEvent, QueueName, container_of
from supervisor.core.tables.compaction import Compaction, Share
from supervisor.core.values.ids import compaction_id
from supervisor.core.values.intervals import Interval
from supervisor.ports.store import Store
from tests.conformance.stories import CLICKS, HOUR
from tests.supervisor.chores.tables import DAY, DELAY, GRACE, TABLE, Tables
from tests.supervisor.core.snapshots import NOON

ALL = SegmentSelection()


@pytest.fixture
def tables(store: Store) -> Tables:
    return Tables(store)


def compact(tables: Tables, *inputs: Segment) -> Segment:
    """Put one file in the place of others, whose end is then queued as it is for any."""
    newest, now = inputs[-1], tables.clock.now()
    table = newest.data_source
    name = compaction_id(table, [each.id for each in inputs], 1)
    path = f"{table}/data/{name}/part-0.parquet"
    file = newest.file.model_copy(update={"path": path, "rows": 10 * len(inputs)})
    compacted = replace(newest, id=f"{name}/0", compaction_id=name, file=file)
    shares = tuple(Share(each.generation_id, 10, each.file.spans) for each in inputs)
    with tables.store.leading(tables.term) as tx:
        ids = tuple(each.id for each in inputs)
        within = Interval(NOON - HOUR, NOON)
        row = Compaction(name, table, CLICKS, within, ids, (), shares, "a story", now)
        tx.compactions.add(row)
        queue = QueueName(container_of(CLICKS), SEGMENTS)
        for each in tx.segments.replace(ids, compacted, now):
            event = QueuedEvent(UNUSED, each.id, {"unusedAt": now.isoformat()})
            tx.events.add(queue, event, tables.segments.config, now)
    tables.warehouse.write(path)
    return compacted


def test_the_files_that_were_replaced_go_after_the_grace_time(tables: Tables) -> None:
    """Goal: queries that run on the old list end in peace."""
    first, second = [*tables.publish(), *tables.publish()]
    compacted = compact(tables, first, second)
    tables.pass_time(GRACE - DAY)
    assert tables.holds(first, second, compacted) == [True, True, True]

    tables.pass_time(2 * DAY)
    tables.pass_time(DELAY)

    assert tables.holds(first, second, compacted) == [False, False, True]
    assert tables.of_table() == [compacted.id]


def test_nobody_puts_a_replaced_file_back(tables: Tables) -> None:
    first, second = [*tables.publish(), *tables.publish()]
    compacted = compact(tables, first, second)
    life = tables.segments

    assert life.mark_used(TABLE, SegmentSelection(ids=[first.id]), "me") == 0
    assert life.mark_unused(TABLE, ALL, "me") == 1
    assert tables.of_table() == []
    assert life.mark_used(TABLE, ALL, "me") == 1

    assert tables.of_table() == [compacted.id]


def test_a_compacted_file_is_deleted_from_the_folder_of_its_compaction(tables: Tables) -> None:
    first, second = [*tables.publish(), *tables.publish()]
    compacted = compact(tables, first, second)
    tables.segments.mark_unused(TABLE, ALL, "me")

    tables.pass_time(GRACE)
    tables.pass_time(DELAY)

    assert tables.holds(compacted) == [False]
    assert not tables.warehouse.holds(f"{TABLE}/data/{compacted.written_by}")
    with tables.store.reading() as tx:
        assert tx.events.failed(QueueName(container_of(CLICKS), "segment-files"), 10) == []


def test_a_compacted_file_of_an_errors_table_is_deleted_from_its_own_table(tables: Tables) -> None:
    """Goal: a compaction writes into its table's folder, unlike a task with bad records."""
    first, second = [*tables.publish(errors=True), *tables.publish(errors=True)]
    compacted = compact(tables, first, second)
    tables.segments.mark_unused(compacted.data_source, ALL, "me")

    tables.pass_time(GRACE)
    tables.pass_time(DELAY)

    assert tables.holds(first, second, compacted) == [False, False, False]
    with tables.store.reading() as tx:
        assert tx.events.failed(QueueName(container_of(CLICKS), "segment-files"), 10) == []
