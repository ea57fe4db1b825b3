"""The store that the middle layer is tested on: SQLite as it ships."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Store
from tests.sqlite_memory import empty_file
from tests.supervisor.core.snapshots import spec
from tests.supervisor.scenarios.publishers import fix_a_range
from tests.supervisor.world import World


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store on a file of its own."""
    file = empty_file(tmp_path / "metadata.db")
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
