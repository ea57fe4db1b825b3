"""What several tests of the simulation share: a sound world made by hand."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.metadata.migrate import migrate
from tests.simulation.broken import Broken
from tests.simulation.checkers import after_event


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tables") / "metadata.db"
    migrate(f"sqlite:///{file}")
    return file


@pytest.fixture
def world(tables: Path) -> Iterator[Broken]:
    """A sound world that the checkers have looked at once."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    with sqlite3.connect(tables) as made:
        made.backup(memory)
    made.close()
    sound = Broken(memory)
    assert after_event(sound) == []
    yield sound
    memory.close()
