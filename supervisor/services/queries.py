"""What is shown, assembled from the rows and the soft state; reads only, waits for nobody.

States, reports and lag need the soft state, which only the leader has: asked for these, another
overlord raises LeaseLost with the leader's address.  What the rows alone tell, any overlord tells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from supervisor.control.declared_types import declared_in, last_spec
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.observe import Sources, observe
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.tables import known_tables, require_table
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.history.lag import Lag
from supervisor.core.model.rows import GapKind, SpecVersion, Task, TaskStatus
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.progress import report_of
from supervisor.core.planning.states import SupervisorState, state_of, unread_state
from supervisor.core.values.errors import (
    SpecUnreadable,
    SupervisorNotFound,
    TaskNotFound,
    Unavailable,
    UnknownWord,
)
from supervisor.core.values.intervals import Interval
from supervisor.ports.store import Clock, Transaction
from supervisor.services.tables.warehouse import warehouse_files
from supervisor.views.exports import ExportView, export_views
from supervisor.views.files import (
    WITHIN_S,
    ColumnSets,
    DataSources,
    Journals,
    TableFiles,
    journaled,
    live_ranges,
    published,
)
from supervisor.views.ledger import Ledger, PlansView, compactions_of, ledger_of, plans_of
from supervisor.views.rows import SupervisorRow, live_in, unreadable_states
from supervisor.views.status import StatusFacts, SupervisorStatus, status_of
from supervisor.views.tasks import (
    ParseError,
    StatsLeaf,
    TaskFilter,
    TaskRow,
    TaskShort,
    TaskStatusView,
    parse_errors,
    spec_of_range,
    stats_leaf,
    task_payload,
    task_row,
    task_short,
    tasks_of,
)
from supervisor.views.warehouse import WarehouseFiles
from supervisor.views.warnings import DIVERGED_SHOWN_FOR
from supervisor.views.workers import Capacity, WorkerLine, capacity_of, worker_lines
from tasks.rows.discovery import common

FAILED_SHOWN = 10
SAMPLED_PUBLICATIONS = 200
"""Newest publications whose samples of rejected records are shown."""
COMPLETED_LOOKED_AT = 500
"""Newest tasks among which a worker's last completed one is looked for."""


@dataclass(frozen=True)
class Views:
    """Answers to everything that only looks; one instance per process."""

    sources: Sources
    registry: WorkerRegistry
    loop: Loop
    leadership: Leadership
    clock: Clock
    warehouse: str
    """Absolute path."""
    journals: Journals
    watching: StateRecorder

    # -- supervisors ---------------------------------------------------------------------------

    def rows(self) -> list[SupervisorRow]:
        """Return every supervisor that is not terminated, with its state, by id."""
        self.leadership.term()
        with self.sources.store.reading() as tx:
            newest = tx.specs.newest_or_unreadable()
        found = []
        for row in newest:
            try:
                seen = observe(row.supervisor_id, self.sources, self.clock.now())
            except SpecUnreadable as error:
                found.append(SupervisorRow(error.supervisor_id, error, unread_state(error)))
                continue
            except UnknownWord as error:
                if isinstance(row, SpecVersion) and row.spec is not None:
                    found.append(SupervisorRow(row.supervisor_id, row.spec, unread_state(error)))
                continue
            if seen is not None and seen.current.spec is not None:
                found.append(SupervisorRow(row.supervisor_id, seen.current.spec, self._state(seen)))
        return found

    def state(self, supervisor_id: str) -> SupervisorState:
        """Return the state of one supervisor; STOPPING while a terminated one still works.

        Raises:
            SupervisorNotFound: it was never stored, or has ended.
            LeaseLost: this overlord does not lead.
        """
        try:
            return self._state(self._seen(supervisor_id))
        except (SpecUnreadable, UnknownWord) as error:
            return unread_state(error)

    def last_states(self) -> dict[str, SupervisorState]:
        """Return the state of each supervisor as its last pass found it; none where none leads."""
        if not self.leadership.leads():
            return {}
        with self.sources.store.reading() as tx:
            newest = tx.specs.newest_or_unreadable()
        ids = [v.supervisor_id for v in newest if isinstance(v, SpecVersion) and not v.terminated]
        states = {k: self._state(made.seen) for k in ids if (made := self.loop.last_pass(k))}
        return states | unreadable_states(newest)

    def lags(self) -> dict[str, Lag]:
        """Return how far each supervisor is behind; none where none leads."""
        return self.watching.lags() if self.leadership.leads() else {}

    def gap_sizes(self) -> Mapping[tuple[str, GapKind], int]:
        """Return how many offsets are declared as gaps, by supervisor and kind.

        Zeros as well: what grows from nothing is no growth to whoever looks at differences.
        """
        with self.sources.store.reading() as tx:
            ids = [v.supervisor_id for v in tx.specs.all_newest() if not v.terminated]
            none = {(each, kind): 0 for each in ids for kind in GapKind}
            return none | dict(tx.offsets.gap_sizes())

    def status(self, supervisor_id: str) -> SupervisorStatus:
        """Return Druid's status and its additions; raises as `state` does."""
        seen = self._seen(supervisor_id)
        with self.sources.store.reading() as tx:
            spec = last_spec(tx, supervisor_id)
            failed = tx.tasks.find(
                status=TaskStatus.FAILED, supervisor_id=supervisor_id, limit=FAILED_SHOWN
            )
            rejected = tx.segments.rejected(supervisor_id)
            diverged = tx.segments.diverged(supervisor_id, seen.now - DIVERGED_SHOWN_FOR)
        return status_of(
            StatusFacts(
                seen=seen,
                spec=spec,
                last_pass=self.loop.last_pass(supervisor_id),
                pass_errors=self.loop.errors(supervisor_id),
                failing_pass=self.loop.failing(supervisor_id),
                failed=failed,
                rejected_published=rejected,
                diverged=diverged,
                ages=self.watching.ages(seen),
                looks=self.watching.looks(seen),
            )
        )

    def stats(self, supervisor_id: str) -> dict[str, dict[str, StatsLeaf]]:
        """Return group -> task -> counters; tasks that have not reported are left out."""
        seen = self._seen(supervisor_id)
        groups = {g.id: str(g.group) for g in seen.generations}
        found: dict[str, dict[str, StatsLeaf]] = {}
        for task in seen.tasks:
            report = report_of(seen, task)
            if report is not None and task.generation_id in groups:
                leaf = stats_leaf(report.counters, self.registry.rates(task.id))
                found.setdefault(groups[task.generation_id], {})[task.id] = leaf
        return found

    def parse_errors(self, supervisor_id: str) -> list[ParseError]:
        """Return samples of records that became no row, newest first, each once."""
        seen = self._seen(supervisor_id)
        live = [
            (int((seen.now - report.idle_for).timestamp() * 1000), report)
            for task in seen.tasks
            if (report := report_of(seen, task)) is not None
        ]
        with self.sources.store.reading() as tx:
            spec = last_spec(tx, supervisor_id)
            newest = tx.segments.recent_publications(supervisor_id, SAMPLED_PUBLICATIONS)
        publications = [each for each in newest if each.forgotten_at is None]
        limit = spec.io_config.task_count * spec.tuning_config.max_saved_parse_exceptions
        return parse_errors(live, publications, limit)

    def _seen(self, supervisor_id: str) -> Observed:
        self.leadership.term()
        seen = observe(supervisor_id, self.sources, self.clock.now())
        if seen is None or (seen.current.terminated and not (seen.generations or seen.tasks)):
            raise SupervisorNotFound(supervisor_id)
        return seen

    def _state(self, seen: Observed) -> SupervisorState:
        supervisor_id = seen.current.supervisor_id
        return state_of(seen, self.loop.last_pass(supervisor_id), self.loop.failing(supervisor_id))

    # -- tasks and workers ---------------------------------------------------------------------

    def tasks(
        self,
        state: TaskFilter | None,
        data_source: str | None,
        limit: int,
        created: Interval | None = None,
    ) -> list[TaskRow]:
        """Return tasks as rows, newest first; `created` bounds when they were made."""
        with self.sources.store.reading() as tx:
            found = tasks_of(tx, state, data_source, limit, created)
            urls = _urls(tx)
        mine = [t for t in found if data_source is None or t.data_source == data_source]
        mine = [t for t in mine if created is None or created.holds(t.created_at)]
        mine.sort(key=lambda task: (task.created_at, task.id), reverse=True)
        rows = self._rows(mine, urls)
        if state in {TaskFilter.RUNNING, TaskFilter.PENDING, TaskFilter.WAITING}:
            rows = [row for row in rows if row.runner_status_code == state.upper()]
        return rows[:limit]

    def task(self, task_id: str) -> dict[str, object]:
        """Return `{task, payload}` as Druid's clients know it.

        Raises:
            TaskNotFound: there is no such task.
        """
        with self.sources.store.reading() as tx:
            task = tx.tasks.get(task_id)
            if task is None:
                raise TaskNotFound(task_id)
            generation = tx.generations.get(task.generation_id)
            assert generation is not None
            publication = tx.segments.publication(generation.id)
            spec = spec_of_range(tx, generation, publication)
        return task_payload(task, generation, spec)

    def task_status(self, task_id: str) -> TaskStatusView:
        """Return one task's row; raises as `task` does."""
        with self.sources.store.reading() as tx:
            task = tx.tasks.get(task_id)
            urls = _urls(tx)
        if task is None:
            raise TaskNotFound(task_id)
        return TaskStatusView(task=task_id, status=self._rows([task], urls)[0])

    def short_statuses(self, task_ids: Sequence[str]) -> dict[str, TaskShort]:
        """Return id -> short status, for those that there are."""
        with self.sources.store.reading() as tx:
            found = tx.tasks.rows_of(task_ids)
            urls = _urls(tx)
        return {task_id: task_short(task, urls) for task_id, task in found.items()}

    def _rows(self, tasks: Sequence[Task], urls: Mapping[str, str]) -> list[TaskRow]:
        """Only a leader knows who has reported; another overlord takes it for granted."""
        if not self.leadership.leads():
            return [task_row(task, urls, reported=True) for task in tasks]
        reported = {(w.id, task) for w in self.registry.views() for task in w.reports}
        return [task_row(t, urls, reported=(t.worker_id, t.id) in reported) for t in tasks]

    def workers(self) -> list[WorkerLine]:
        """Return the workers, lost ones only while tasks are assigned to them.

        Raises:
            LeaseLost: this overlord does not lead.
        """
        self.leadership.term()
        with self.sources.store.reading() as tx:
            registered = tx.workers.all()
            active = tx.tasks.active()
            used = tx.tasks.slots_in_use()
            recent = tx.tasks.find(limit=COMPLETED_LOOKED_AT)
        return worker_lines(registered, self.registry.views(), active, used=used, recent=recent)

    def capacity(self) -> Capacity:
        """Return the slots of workers that may be given tasks; raises as `workers` does."""
        self.leadership.term()
        with self.sources.store.reading() as tx:
            used = tx.tasks.slots_in_use()
        return capacity_of(self.registry.views(), used)

    # -- what was published --------------------------------------------------------------------

    def ledger(self, supervisor_id: str) -> Ledger:
        """Return all that a supervisor committed and published, also of a terminated one.

        Raises:
            SupervisorNotFound: the id was never used.
        """
        with self.sources.store.reading() as tx:
            spec = last_spec(tx, supervisor_id)
            committed = tx.offsets.of(supervisor_id)
            gaps = tx.offsets.gaps(supervisor_id)
            publications = tx.segments.publications(supervisor_id)
            segments = tx.segments.of_supervisor(supervisor_id)
            compactions = tx.compactions.rows_of(compactions_of(segments))
        return ledger_of(
            spec,
            self.warehouse,
            [committed[p] for p in sorted(committed)],
            gaps,
            publications=publications,
            segments=segments,
            compactions=compactions,
        )

    def plans(self, supervisor_id: str, limit: int) -> PlansView:
        """Return the last plans with their reasons, newest first; raises as `ledger` does."""
        with self.sources.store.reading() as tx:
            last_spec(tx, supervisor_id)
            stored = tx.plans.recent(supervisor_id, limit)
        return plans_of(supervisor_id, stored)

    def data_sources(self) -> DataSources:
        """Return every table that is fed, or was published into."""
        with self.sources.store.reading() as tx:
            return DataSources(data_sources=sorted(known_tables(tx)))

    def files(self, data_source: str, *, with_journaled: bool) -> TableFiles:
        """Return the files of a table; the journaled ones are asked from the workers.

        Raises:
            DataSourceNotFound: nobody feeds such a table, and nobody did.
            LeaseLost: journaled files are wanted, and this overlord does not lead.
        """
        until = self.clock.monotonic() + WITHIN_S
        if with_journaled:
            self.leadership.term()
        with self.sources.store.reading() as tx:  # one view: a range is published, or it is live
            segments = tx.segments.of_data_source(data_source)
            if not segments:
                require_table(tx, data_source)
            live, unread = live_in(tx, data_source)
            active = tx.tasks.active()
            urls = _urls(tx)
        sets = ColumnSets()
        files = published(segments, self.warehouse, sets)
        missing: list[str] = []
        if with_journaled:
            ranges = live_ranges(live, active, self.registry.views(), urls)
            told, missing = journaled(
                ranges, self.journals, self.warehouse, sets, lambda: until - self.clock.monotonic()
            )
            files += told
            missing += unread
        with self.sources.store.reading() as tx:
            declared = declared_in(tx, sets.all(), {file.supervisor_id for file in files})
        return TableFiles(
            data_source=data_source,
            warehouse=self.warehouse,
            columns=list(common(sets.all(), declared)),
            column_sets=sets.all(),
            files=files,
            missing=missing,
        )

    def exports(self, data_source: str | None = None) -> list[ExportView]:
        """Return how the exports of one table, or of all, stand.

        Raises:
            DataSourceNotFound: nobody feeds such a table, and nobody did.
        """
        with self.sources.store.reading() as tx:
            if data_source is not None:
                require_table(tx, data_source)
            return export_views(tx, data_source, self.warehouse, self.clock.now())

    def warehouse_files(self) -> WarehouseFiles:
        """Return what may lie in the warehouse, of all tables."""
        with self.sources.store.reading() as tx:
            return warehouse_files(tx, self.warehouse)

    # -- this process --------------------------------------------------------------------------

    def check(self) -> None:
        """Return if the metadata database answers, and this process competes for the lease.

        Raises:
            Unavailable: it does not.
        """
        if self.leadership.loop_ended:
            raise Unavailable("no leadership loop: this overlord can neither lead nor follow")
        with self.sources.store.reading() as tx:
            tx.lease.read()


def _urls(tx: Transaction) -> dict[str, str]:
    return {row.id: row.url for row in tx.workers.all()}
