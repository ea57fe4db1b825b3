"""`tidegate verify --files` where a file is condemned and its deletion is still to come."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from supervisor.chores.segments import CONDEMNED, SEGMENT_FILES
from supervisor.core.queue.events import (
    FailedEvent,
    QueueConfig,
    QueuedEvent,
    QueueName,
    container_of,
)
from supervisor.ports.store import Transaction
from tests.conformance.stories import CLICKS, MINUTE, NOON, take_lease
from tests.sqlite_memory import empty_file
from tests.supervisor.api.world import a_world
from tests.supervisor.cli.conftest import Ended, Tidegate
from tests.supervisor.cli.overlord import Overlord
from tests.supervisor.cli.table.warehouses import TABLE, Warehouse

QUEUE = QueueName(container_of(CLICKS), SEGMENT_FILES)


@pytest.fixture
def warehouse(tmp_path: Path, server: Overlord) -> Iterator[Warehouse]:
    root = tmp_path / "warehouse"
    root.mkdir()
    file = empty_file(tmp_path / "migrated.db")
    with a_world(tmp_path, file, leads=False) as world:
        created = Warehouse(root, world, take_lease(world.store))
        server.ask = created.answer
        yield created


@pytest.fixture
def strict(tidegate: Tidegate, warehouse: Warehouse) -> Callable[[], Ended]:
    return lambda: tidegate("verify", "--files", "--strict", "--warehouse", str(warehouse.root))


def condemned(warehouse: Warehouse) -> Path:
    """Condemn the only segment there is, as the event queue does it; return its file."""
    with warehouse.world.store.reading() as tx:
        [segment] = tx.segments.of_data_source(TABLE)

    def condemn(tx: Transaction) -> None:
        tx.segments.mark_unused([segment.id], NOON)
        assert tx.segments.condemn(segment.id, NOON, NOON + MINUTE)
        tx.events.add(QUEUE, QueuedEvent(CONDEMNED, segment.id), QueueConfig(), NOON, exempt=True)

    warehouse.change(condemn)
    return warehouse.root / segment.file.path


def handled(tx: Transaction) -> None:
    """Move the queue's position behind its only event."""
    row = tx.events.find(QUEUE)
    assert row is not None
    tx.events.advance(row, 1, row.enqueued_bytes)


def test_a_condemned_file_is_no_orphan_before_its_deletion_is_done(
    strict: Callable[[], Ended], warehouse: Warehouse
) -> None:
    """Goal: an export may hold a deletion up for as long as it names the file."""
    warehouse.published()
    file = condemned(warehouse)
    content = file.read_bytes()
    waits = strict()
    file.unlink()
    deleted = strict()
    file.write_bytes(content)
    warehouse.change(handled)

    done = strict()

    summary = "0 files, 0 B: as recorded; 0 being written, {} pending, 0 kept"
    assert (waits.code, waits.out.splitlines()[-1]) == (0, summary.format(1))
    assert (deleted.code, deleted.out.splitlines()[-1]) == (0, summary.format(0))
    assert (done.code, "orphan" in done.out) == (1, True)


def test_a_file_whose_deletion_was_given_up_waits_for_somebody_to_retry_it(
    strict: Callable[[], Ended], warehouse: Warehouse
) -> None:
    warehouse.published()
    condemned(warehouse)

    def given_up(tx: Transaction) -> None:
        row = tx.events.find(QUEUE)
        assert row is not None
        [event] = tx.events.read(row.id, 0, 1)
        why = "a story"
        tx.events.set_aside(FailedEvent(QUEUE, 1, event.key, event.payload, why, NOON, NOON))
        handled(tx)

    warehouse.change(given_up)

    ended = strict()

    assert (ended.code, "1 pending" in ended.out) == (0, True)


def test_what_lies_beside_a_condemned_file_is_an_orphan(
    strict: Callable[[], Ended], warehouse: Warehouse
) -> None:
    """Goal: the one file is answered for, not its folder."""
    warehouse.published()
    beside = condemned(warehouse).with_name("part-1.parquet")
    beside.write_bytes(b"nobody's")

    ended = strict()

    assert ended.code == 1
    [_, finding, *_] = ended.out.splitlines()
    assert finding.split()[:2] == ["orphan", str(beside.relative_to(warehouse.root))]
    assert ended.out.splitlines()[-1].endswith("; 1 finding: 1 orphan")
