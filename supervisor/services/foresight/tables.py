"""Dry runs of the verbs on tables and workers, and of forgetting a supervisor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from supervisor.chores.compaction.compacting import Compacting
from supervisor.chores.forget import at_rest
from supervisor.chores.segments import SegmentLife, SegmentSelection
from supervisor.control.leadership import Leadership
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.attention.foreseen.effect import Foreseen
from supervisor.core.attention.foreseen.tables import (
    FileSize,
    compact_foreseen,
    forget_foreseen,
    unused_foreseen,
    used_foreseen,
    worker_foreseen,
)
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.model.rows import SpecVersion, WorkerRow
from supervisor.core.tables.compaction import Compaction, Target
from supervisor.core.values.intervals import Interval
from supervisor.ports.store import Store, Transaction
from supervisor.services.foresight.expected import hold_against
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.tasks.workers import named


@dataclass(frozen=True)
class TableForesight:
    """Dry runs of verbs on tables and workers; one instance per process."""

    store: Store
    leadership: Leadership
    registry: WorkerRegistry
    segments: SegmentLife
    compacting: Compacting

    def of_unused(self, data_source: str, selection: SegmentSelection) -> Foreseen:
        """Return what taking segments out does; raises as the verb does."""
        found = self.segments.selected(data_source, selection, used=True)
        with leaders_view(self.store, self.leadership):  # behind the look: it led all the while
            return unused_foreseen(data_source, found, self.segments.grace)

    def of_used(self, data_source: str, selection: SegmentSelection) -> Foreseen:
        """Return what putting segments back does; raises as the verb does."""
        found = self.segments.selected(data_source, selection, used=False)
        with leaders_view(self.store, self.leadership):
            return used_foreseen(data_source, found)

    def judge_unused(
        self, data_source: str, expect: str | None
    ) -> Callable[[Sequence[SegmentKey]], None]:
        """Return what holds the selected segments against the preview."""

        def judge(found: Sequence[SegmentKey]) -> None:
            if expect is not None:
                hold_against(expect, unused_foreseen(data_source, found, self.segments.grace))

        return judge

    def judge_used(
        self, data_source: str, expect: str | None
    ) -> Callable[[Sequence[SegmentKey]], None]:
        """Return what holds the selected segments against the preview."""

        def judge(found: Sequence[SegmentKey]) -> None:
            if expect is not None:
                hold_against(expect, used_foreseen(data_source, found))

        return judge

    def of_compaction(
        self, data_source: str, target: Target, within: Interval | None = None
    ) -> Foreseen:
        """Return what compacting a table now does; raises as the verb does."""
        self.leadership.term()
        chosen = self._chosen(data_source, target, within)
        with leaders_view(self.store, self.leadership):
            return compact_foreseen(data_source, chosen)

    def compact(
        self,
        data_source: str,
        target: Target,
        author: str,
        within: Interval | None = None,
        *,
        expect: str | None = None,
    ) -> list[Compaction]:
        """Begin just those compactions that the preview has shown; see `Compacting.compact`.

        Raises:
            PreviewOutdated: others would begin now; none is begun.
            DataSourceNotFound, LeaseLost, Unavailable: as of `Compacting.compact`.
        """
        if expect is None:
            return self.compacting.compact(data_source, target, author, within)
        self.leadership.term()
        chosen = self._chosen(data_source, target, within)
        with leaders_view(self.store, self.leadership):
            hold_against(expect, compact_foreseen(data_source, chosen))
        only = {tuple(file.id for file in group) for group in chosen}
        return self.compacting.compact(data_source, target, author, within, only)

    def _chosen(
        self, data_source: str, target: Target, within: Interval | None
    ) -> list[tuple[FileSize, ...]]:
        """Return the groups without the offset spans of their files, which may be many."""
        return [
            tuple(
                FileSize(segment.id, segment.file.rows, segment.file.size_bytes)
                for segment in (each.segment for each in group)
            )
            for group in self.compacting.chosen(data_source, target, within)
        ]

    def of_forgetting(self, supervisor_id: str, *, with_reports: bool) -> Foreseen:
        """Return what forgetting a terminated supervisor does; raises as the verb does."""
        with leaders_view(self.store, self.leadership) as tx:
            return _forgotten(tx, at_rest(tx, supervisor_id), with_reports=with_reports)

    def judge_forgetting(
        self, expect: str | None, *, with_reports: bool
    ) -> Callable[[Transaction, SpecVersion], None]:
        """Return what holds forgetting against the preview that its caller has read."""

        def judge(tx: Transaction, newest: SpecVersion) -> None:
            if expect is not None:
                hold_against(expect, _forgotten(tx, newest, with_reports=with_reports))

        return judge

    def of_worker(self, name: str, *, disables: bool) -> Foreseen:
        """Return what disabling or enabling a worker does; raises as the verb does."""
        with leaders_view(self.store, self.leadership) as tx:
            return self._worker(tx, named(tx.workers.all(), name), disables=disables)

    def judge_worker(
        self, expect: str | None, *, disables: bool
    ) -> Callable[[Transaction, WorkerRow], None]:
        """Return what holds the verb against the preview that its caller has read."""

        def judge(tx: Transaction, row: WorkerRow) -> None:
            if expect is not None:
                hold_against(expect, self._worker(tx, row, disables=disables))

        return judge

    def _worker(self, tx: Transaction, row: WorkerRow, *, disables: bool) -> Foreseen:
        tasks = tx.tasks.active()
        others = [view for view in self.registry.views() if view.takes_tasks and view.id != row.id]
        names = {view.id for view in others}
        used = sum(task.worker_id in names for task in tasks)
        free = max(0, sum(view.slots for view in others) - used)
        mine = [task.id for task in tasks if task.worker_id == row.id]
        changes = row.disabled != disables
        return worker_foreseen(row.id, mine, free, disables=disables, changes=changes)


def _forgotten(tx: Transaction, newest: SpecVersion, *, with_reports: bool) -> Foreseen:
    supervisor_id = newest.supervisor_id
    committed = [f"{p} {row.next_offset}" for p, row in tx.offsets.of(supervisor_id).items()]
    kept = [key for key in tx.segments.keys_of_supervisor(supervisor_id) if key.used]
    return forget_foreseen(
        supervisor_id, newest.version, committed, kept, with_reports=with_reports
    )
