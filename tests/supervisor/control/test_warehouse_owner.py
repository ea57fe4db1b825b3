"""A warehouse belongs to one metadata database; another one deletes nothing in it."""

from pathlib import Path

import pytest

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.app.server import open_store
from supervisor.chores.sweep import Sweep
from supervisor.control.warehouse_owner import require_mounted, take_possession
from supervisor.core.values.errors import StorageUnavailable
from supervisor.ports.store import Store
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import Settings
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.scenarios.publishers import first
from tests.supervisor.world import ENDINGS, World
from tests.supervisor.yard import NOBODYS, MemoryYard

FOLDER = f"clicks/data/{NOBODYS}"


def name_of(store: Store) -> str:
    with store.reading() as tx:
        return tx.installation.name()


def test_a_new_warehouse_is_marked_and_stays_ours(store: Store) -> None:
    warehouse = MemoryWarehouse()
    for _ in range(2):
        take_possession(store, warehouse)
        assert warehouse.owner() == name_of(store)
        require_mounted(warehouse, store)


def test_a_warehouse_from_before_the_markers_is_known_by_its_tasks(world: World) -> None:
    """Goal: an upgrade goes on with what it has."""
    _, replica = first(world)
    yard = MemoryYard(world, MemoryWarehouse())
    yard.files.make_folder(FOLDER)
    yard.files.make_folder(yard.folder(replica))

    take_possession(world.store, yard.files)

    assert yard.files.owner() == name_of(world.store)


def test_files_of_tasks_that_nobody_knows_are_another_databases(world: World) -> None:
    """Goal: a fresh database over an old warehouse starts nothing, and marks nothing."""
    warehouse = MemoryWarehouse()
    warehouse.write(f"{FOLDER}/part-0.parquet")

    with pytest.raises(SetupProblem, match="never heard of"):
        take_possession(world.store, warehouse)

    assert warehouse.owner() is None


def test_a_marked_warehouse_is_not_taken_over(store: Store) -> None:
    warehouse = MemoryWarehouse()
    warehouse.mark("another database")

    with pytest.raises(SetupProblem, match="belongs to metadata database another database"):
        take_possession(store, warehouse)

    assert warehouse.owner() == "another database"


@pytest.mark.parametrize("owner", [None, "another database"])
def test_in_a_warehouse_that_is_not_ours_nothing_is_swept(world: World, owner: str | None) -> None:
    """Goal: also if it was exchanged, or unmounted, while the overlord runs."""
    warehouse = MemoryWarehouse()
    file = warehouse.write(f"{FOLDER}/part-0.parquet")
    if owner is not None:
        warehouse.mark(owner)

    with pytest.raises(StorageUnavailable, match="is it mounted"):
        Sweep(world.store, warehouse, world.clock, world.leadership.term, ENDINGS).run_once()

    assert warehouse.holds(file)
    with world.store.reading() as tx:
        assert tx.events.all() == []


def test_two_databases_have_two_names(tmp_path: Path) -> None:

    names = set()
    for each in ("a", "b"):
        store = open_store(Settings(data_dir=tmp_path / each))
        names |= {name_of(store), name_of(store)}
        store.close()
    assert len(names) == 2
    assert name_of(SqliteInMemory()) not in names


def test_a_marker_is_replaced_whole(tmp_path: Path) -> None:
    warehouse = LocalWarehouse(tmp_path)
    warehouse.mark("one")
    warehouse.mark("two")
    assert [each.name for each in tmp_path.iterdir()] == [".tidegate-warehouse"]
    assert warehouse.owner() == "two"
