"""Totals of all tables, read from rows at most so often that they cost a bounded share of a core.

    a call ─► are the kept totals young enough? ─► those
                 └─ no ─► one look at the rows ─► kept for 20 times as long as it took

The sums go over the rows of all files, which are many after years; no file is read.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from supervisor.control.tables import tables_by_supervisor
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.tables.compaction import file_sizes, small_below
from supervisor.core.tables.totals import SmallBelow, SmallSizes, TimeWindow
from supervisor.core.values.table_names import errors_table, rows_table
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from supervisor.views.tables.totals import TableStats, Timeline, table_stats, timeline_view

KEPT_MIN_S = 1.0
KEPT_TIMES = 20
"""So the sums take at most a twentieth of one core, however many files there are."""


@dataclass(frozen=True)
class _KeptStats:
    until_s: float
    stats: tuple[TableStats, ...]


@dataclass
class TableSums:
    """Answers with sums over the files of tables; one instance per process."""

    store: Store
    clock: Clock
    _kept: _KeptStats = _KeptStats(0.0, ())
    _lock: Lock = field(default_factory=Lock)

    def stats(self, may_read: Callable[[str], bool]) -> list[TableStats]:
        """Return the totals of the tables that the caller may read, by name."""
        with self._lock:
            began_s = self.clock.monotonic()
            if began_s >= self._kept.until_s:
                with self.store.reading() as tx:
                    fresh = tuple(_all_stats(tx))
                now_s = self.clock.monotonic()
                kept_s = max(KEPT_MIN_S, KEPT_TIMES * (now_s - began_s))
                self._kept = _KeptStats(now_s + kept_s, fresh)
            stats = self._kept.stats
        return [each for each in stats if may_read(each.name)]

    def timeline(self, data_source: str, window: TimeWindow, limit: int) -> Timeline:
        """Return the newest buckets of a table, oldest first; the window asks for one more."""
        with self.store.reading() as tx:
            found = tx.segments.timeline(data_source, window)
        return timeline_view(data_source, window, found, limit)


def _small_sizes(tx: Transaction) -> SmallSizes:
    """Return what is small in the table of each supervisor, and in that of its errors."""
    tunings: dict[str, list[TuningConfig]] = {}
    for version in tx.specs.all_newest():
        if version.spec is not None:
            tunings.setdefault(version.spec.data_source, []).append(version.spec.tuning_config)
    usual = small_below(file_sizes(()))
    other: dict[str, SmallBelow] = {}
    for table, each in tunings.items():
        if (own := small_below(file_sizes(each))) != usual:
            other |= {table: own, errors_table(table): own}
    return SmallSizes(usual, other)


def _all_stats(tx: Transaction) -> list[TableStats]:
    feeders: dict[str, list[str]] = {}
    for supervisor_id, table in tables_by_supervisor(tx).items():
        feeders.setdefault(table, []).append(supervisor_id)
    totals, published = tx.segments.totals(_small_sizes(tx)), tx.segments.last_published()
    names = {*feeders, *totals, *tx.generations.live_tables().values(), *tx.segments.data_sources()}
    exports: dict[str, list[str]] = {}
    for export in tx.exports.all():
        if export.enabled:
            exports.setdefault(export.data_source, []).append(export.format.value)
    rows = []
    for name in sorted(names):
        fed_by = sorted(feeders.get(rows_table(name), []))
        times = [published[each] for each in fed_by if each in published and name in feeders]
        rows.append(table_stats(name, totals.get(name), times, fed_by, exports.get(name, [])))
    return rows
