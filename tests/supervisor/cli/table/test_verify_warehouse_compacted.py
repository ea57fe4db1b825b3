"""`tidegate verify --files` where files are compacted."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from supervisor.core.model.rows import TaskStatus
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.ids import compaction_id
from supervisor.core.values.intervals import Interval
from supervisor.ports.store import Transaction
from tests.conformance.stories import CLICKS, HOUR, NOON, take_lease
from tests.sqlite_memory import empty_file
from tests.supervisor.api.world import a_world
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord
from tests.supervisor.cli.table.warehouses import TABLE, Warehouse, folder_of

ID = compaction_id(TABLE, ["a", "b"], 1)
PART = f"{folder_of(ID)}/part-0.parquet"
COMPACTION = Compaction(
    ID, TABLE, CLICKS, Interval(NOON, NOON + HOUR), ("a", "b"), (), (), "a story", NOON
)


@pytest.fixture
def warehouse(tmp_path: Path, server: Overlord) -> Iterator[Warehouse]:
    """A task that published one file, and the compaction of it, which runs."""
    root = tmp_path / "warehouse"
    root.mkdir()
    file = empty_file(tmp_path / "migrated.db")
    with a_world(tmp_path, file, leads=False) as world:
        created = Warehouse(root, world, take_lease(world.store))
        server.ask = created.answer
        created.change(lambda tx: tx.compactions.add(COMPACTION))
        yield created


def summary(tidegate: Tidegate, warehouse: Warehouse) -> tuple[int, str]:
    ended = tidegate("verify", "--files", "--warehouse", str(warehouse.root))
    return ended.code, ended.out.splitlines()[-1]


def test_what_a_compaction_writes_or_has_left_is_no_orphan(
    tidegate: Tidegate, warehouse: Warehouse
) -> None:
    warehouse.write(PART, b"half a file")
    running = summary(tidegate, warehouse)

    warehouse.change(lambda tx: tx.compactions.end(ID, TaskStatus.FAILED, "a story", NOON))
    ended = summary(tidegate, warehouse)
    warehouse.change(lambda tx: tx.compactions.folder_deleted(ID, NOON))
    settled = summary(tidegate, warehouse)

    assert running == (0, "0 files, 0 B: as recorded; 1 being written, 0 pending, 0 kept")
    assert ended == (0, "0 files, 0 B: as recorded; 0 being written, 1 pending, 0 kept")
    assert (settled[0], "1 orphan" in settled[1]) == (1, True)


def test_a_compacted_file_and_what_it_replaced_are_compared(
    tidegate: Tidegate, warehouse: Warehouse
) -> None:
    """Goal: both are there by right until the time of grace is over."""
    warehouse.published()
    content = warehouse.write(PART, b"all rows").read_bytes()

    def swap(tx: Transaction) -> None:
        [old] = tx.segments.of_data_source(TABLE)
        facts = {"path": PART, "size_bytes": len(content), "sha256": _sha256(content)}
        file = old.file.model_copy(update=facts)
        new = replace(old, id=f"{ID}/0", compaction_id=ID, file=file)
        tx.segments.replace([old.id], new, NOON)
        tx.compactions.end(ID, TaskStatus.SUCCESS, "done", NOON)
        tx.compactions.folder_deleted(ID, NOON)

    warehouse.change(swap)
    whole = summary(tidegate, warehouse)
    (warehouse.root / PART).write_bytes(b"all rowz")

    ended = tidegate("verify", "--files", "--warehouse", str(warehouse.root), "-o", "json")

    assert whole == (0, "2 files, 27 B: as recorded; 0 being written, 0 pending, 0 kept")
    verdict = ended.json()
    assert isinstance(verdict, dict)
    [found] = verdict["findings"]
    assert (found["kind"], found["path"], found["taskId"]) == ("damaged", PART, ID)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
