"""The world that the tests of the API live in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sqlite_memory import empty_file
from tests.supervisor.api.browser import add_alice
from tests.supervisor.api.guarded import Guarded, a_guarded_world
from tests.supervisor.api.world import World, a_world


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A metadata database without rows; each world copies it."""
    return empty_file(tmp_path_factory.mktemp("migrated") / "metadata.db")


@pytest.fixture
def world(tmp_path: Path, migrated: Path) -> Iterator[World]:
    """An overlord that leads."""
    with a_world(tmp_path, migrated) as leading:
        yield leading


@pytest.fixture
def follower(tmp_path: Path, migrated: Path) -> Iterator[World]:
    """An overlord that does not lead; nobody does."""
    with a_world(tmp_path, migrated, leads=False) as following:
        yield following


@pytest.fixture
def guarded(tmp_path: Path, migrated: Path) -> Iterator[Guarded]:
    """An overlord that asks who calls; alice is an administrator with a password."""
    with a_guarded_world(tmp_path, migrated) as guarded_world:
        add_alice(guarded_world)
        yield guarded_world
