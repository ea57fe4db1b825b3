"""The world that the tests of the API live in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.world import World, a_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An overlord that leads."""
    with a_world(tmp_path) as made:
        yield made


@pytest.fixture
def follower(tmp_path: Path) -> Iterator[World]:
    """An overlord that does not lead; nobody does."""
    with a_world(tmp_path, leads=False) as made:
        yield made
