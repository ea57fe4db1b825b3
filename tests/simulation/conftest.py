"""What several tests of the simulation share: a sound world made by hand."""

import sqlite3
from collections.abc import Iterator

import pytest

from tests.simulation.checkers.broken import Broken
from tests.simulation.checkers.invariants import after_event
from tests.sqlite_memory import template


@pytest.fixture
def world() -> Iterator[Broken]:
    """A sound world that the checkers have looked at once."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    template().backup(memory)
    sound = Broken(memory)
    assert after_event(sound) == []
    yield sound
    memory.close()
