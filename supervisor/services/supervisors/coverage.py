"""The coverage of a supervisor: what became of each offset, from its rows and its last pass.

    publications that are new ──► merged runs, kept per supervisor ──► coverage
    something unexplained?    ──► all publications are read once more, then it is shown

Only new publications are read as long as all is explained, so that a page may ask often.  What the
kept runs do not know, such as a supervisor that was forgotten, shows as unexplained, and the second
look starts from nothing.
"""

from dataclasses import dataclass, field

from supervisor.control.declared_types import last_spec
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.core.history.coverage.partitions import PartitionCoverage, coverage_of
from supervisor.core.history.coverage.publications import Published, put_together
from supervisor.core.planning.progress import report_of
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store
from supervisor.views.tables.coverage import CoverageView, CoverageWindow, coverage_view
from tasks.contract.offsets import TopicPartition

KEPT_MAX = 1_000
"""Supervisors whose merged publications are kept."""


@dataclass(frozen=True)
class CoverageQueries:
    """Answers queries about coverage; one instance per process, safe from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    loop: Loop
    _kept: dict[str, Published] = field(default_factory=dict)

    def coverage(self, supervisor_id: str, window: CoverageWindow) -> CoverageView:
        """Return the coverage of the partitions of a window, also of a terminated supervisor.

        Raises:
            SupervisorNotFound: the id was never used.
            LeaseLost: this overlord does not lead: it does not know what is being read.
        """
        self.leadership.term()
        published = self._kept.get(supervisor_id, Published())
        view = self._view(supervisor_id, window, published)
        if view.complete or published == Published():
            return view
        return self._view(supervisor_id, window, Published())

    def _view(self, supervisor_id: str, window: CoverageWindow, known: Published) -> CoverageView:
        with self.store.reading() as tx:  # one view: no range is published and live
            spec = last_spec(tx, supervisor_id)
            committed = tx.offsets.of(supervisor_id)
            gaps = tx.offsets.gaps(supervisor_id)
            if not known.is_of(gaps):
                known = Published()
            more = tx.segments.published_ranges(supervisor_id, known.since)
            live = tx.generations.live(supervisor_id)
        published = put_together(known, more, gaps)
        if len(self._kept) >= KEPT_MAX and supervisor_id not in self._kept:
            self._kept.clear()
        self._kept[supervisor_id] = published
        partitions: list[PartitionCoverage] = coverage_of(
            committed, published, gaps, live, self._positions(supervisor_id)
        )
        return coverage_view(spec, self.clock.now(), published, partitions, window)

    def _positions(self, supervisor_id: str) -> dict[str, dict[TopicPartition, int]]:
        """Return generation -> the furthest offsets that a replica had read at the last pass."""
        last = self.loop.last_pass(supervisor_id)
        furthest: dict[str, dict[TopicPartition, int]] = {}
        if last is None:
            return furthest
        for task in last.seen.tasks:
            report = report_of(last.seen, task)
            if report is None:
                continue
            mine = furthest.setdefault(task.generation_id, {})
            for partition, at in report.position.items():
                mine[partition] = max(at, mine.get(partition, at))
        return furthest
