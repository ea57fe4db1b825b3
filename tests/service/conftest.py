"""The stores that the middle layer is tested on: in memory, and SQLite as it ships."""

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.adapters.memory import MemoryStore
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.ports import Store
from tests.core.snapshots import spec
from tests.service.publishers import fix_a_range
from tests.service.world import World


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A metadata database without rows, to be copied."""
    file = tmp_path_factory.mktemp("migrated") / "metadata.db"
    migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, migrated: Path, tmp_path: Path) -> Iterator[Store]:
    """Each kind of store."""
    if request.param == "memory":
        yield MemoryStore()
        return
    file = shutil.copy(migrated, tmp_path / "metadata.db")
    sql = SqlStore(f"sqlite:///{file}", lease_ttl=timedelta(seconds=6))
    yield sql
    sql.close()


@pytest.fixture
def world(store: Store) -> World:
    """One group of two replicas whose first range is fixed."""
    world = World(store, spec(task_count=1, replicas=2))
    fix_a_range(world)
    assert len(world.ready_to_publish()) == 2
    return world
