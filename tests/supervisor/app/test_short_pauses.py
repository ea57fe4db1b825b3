"""The collector's full rounds: short ones in between, and one that finds every cycle."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from supervisor.app.short_pauses import ROUND_S, ShortPauses


class _Node:
    """An object that only the collector can free, as it holds itself."""

    def __init__(self) -> None:
        self.itself = self


class _Watch:
    """A clock that moves when it is set."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def watch() -> Iterator[_Watch]:
    """Let the collector work as in an overlord, and as in other tests afterwards."""
    watch = _Watch()
    pauses = ShortPauses(watch)
    gc.collect()
    gc.callbacks.append(pauses)
    try:
        yield watch
    finally:
        gc.callbacks.remove(pauses)
        gc.unfreeze()
        gc.collect()
        gc.freeze()  # as tests/conftest.py had left it


@pytest.mark.usefixtures("watch")
def test_what_outlived_a_full_collection_is_not_looked_at_again() -> None:
    """Goal: the second full collection has only new objects before it."""
    held = [_Node() for _ in range(1000)]
    gc.collect()
    aside = gc.get_freeze_count()

    fresh = _Node()

    looked_at = gc.get_objects()
    assert aside > len(held)
    assert any(node is fresh for node in looked_at)
    assert not any(isinstance(node, _Node) and node is not fresh for node in looked_at)


@pytest.mark.usefixtures("watch")
def test_a_cycle_that_is_new_is_freed_at_once() -> None:
    gc.collect()
    gone = weakref.ref(_Node())

    gc.collect()

    assert gone() is None


@pytest.mark.usefixtures("watch")
def test_an_object_that_was_put_aside_is_freed_with_its_last_reference() -> None:
    held = [{1, 2, 3}, _Plain()]
    gone = weakref.ref(held[1])
    gc.collect()

    held.clear()

    assert gone() is None


class _Plain:
    """An object without a cycle."""


def test_a_cycle_that_was_put_aside_is_freed_by_the_round_of_the_hour(watch: _Watch) -> None:
    """Goal: nothing leaks for longer than a round."""
    node: _Node | None = _Node()
    gone = weakref.ref(node)
    gc.collect()
    node = None
    gc.collect()
    assert gone() is not None, "it waits for the round"

    watch.s = ROUND_S
    gc.collect()  # takes back what was put aside
    gc.collect()

    assert gone() is None
    assert gc.get_freeze_count() > 0, "the round's survivors are put aside again"


@pytest.mark.usefixtures("watch")
def test_young_collections_put_nothing_aside() -> None:
    gc.unfreeze()

    gc.collect(0)
    gc.collect(1)

    assert gc.get_freeze_count() == 0
