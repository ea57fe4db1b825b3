"""Comparisons of exports with their tables that run side by side."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from supervisor.chores.exports import CompareAll
from supervisor.core.values.export_formats import ExportFormat
from supervisor.ports.store import Store, Transaction
from tests.supervisor.chores.exports.exports import Harbour

DELTA, ICEBERG = ExportFormat.DELTA, ExportFormat.ICEBERG


@pytest.fixture
def harbour(store: Store, tmp_path: Path) -> Harbour:
    return Harbour(store, tmp_path / "warehouse", DELTA, ICEBERG)


class RunsBetween:
    """A store in which something runs behind the first leader's transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.act: Callable[[], object] | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever a store has
        return getattr(self._store, name)

    @contextmanager
    def leading(self, term: int) -> Iterator[Transaction]:
        with self._store.leading(term) as tx:
            yield tx
        if (act := self.act) is not None:
            self.act = None
            act()


def test_a_comparison_that_runs_twice_at_once_does_no_harm(harbour: Harbour) -> None:
    """Goal: the run at the start of a term, and the periodic one beside it, both come to an end."""
    store = RunsBetween(harbour.store)
    compare = CompareAll(cast("Store", store), harbour.clock, harbour.leadership.term)
    store.act = compare.run_once
    before = harbour.queue().outstanding_events

    compare.run_once()

    assert harbour.queue().outstanding_events > before
    waits = harbour.queue().outstanding_events
    compare.run_once()
    assert harbour.queue().outstanding_events == waits
