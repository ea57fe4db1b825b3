"""Queries about supervisors: states, status, lag, and their publications; reads only.

States, reports and lag need the soft state, which only the leader has: another overlord raises
LeaseLost with the leader's address.  Any overlord answers from the rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from supervisor.chores import file_lists
from supervisor.chores.file_lists import listed, whole
from supervisor.control.declared_types import last_spec
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop, dead_owners
from supervisor.control.observe import Sources, observe
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.attention.divergence import DIVERGED_SHOWN_FOR
from supervisor.core.attention.reports import behind_of
from supervisor.core.history.lag import Lag
from supervisor.core.history.partitions import PartitionState, partition_states
from supervisor.core.model.rows import GapKind, SpecVersion, TaskStatus
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.progress import report_of
from supervisor.core.planning.states import COMPLETED, SupervisorState, state_of, unread_state
from supervisor.core.values.errors import (
    MetadataBusy,
    SpecUnreadable,
    SupervisorNotFound,
    UnknownWord,
)
from supervisor.ports.clock import Clock
from supervisor.reports.watch import PersisterWatch
from supervisor.views.rows import SupervisorRow, unreadable_states
from supervisor.views.status import StatusFacts, SupervisorStatus, status_of
from supervisor.views.tables.ledger import Ledger, PlansView, compactions_of, ledger_of, plans_of
from supervisor.views.tasks import (
    ParseError,
    StatsLeaf,
    parse_errors,
    stats_leaf,
)

FAILED_SHOWN = 10
LEDGER_TRIES = 3
"""Tries to read one version of a ledger: old publications may be folded between two pages."""
REST_SHOWN = timedelta(hours=1)
"""For how long scrapers are shown a supervisor at rest; the cost of a scrape is that of live ones.
"""
SAMPLED_PUBLICATIONS = 200
"""Newest publications whose samples of rejected records are shown."""


@dataclass(frozen=True)
class SupervisorQueries:
    """Answers queries about supervisors; one instance per process."""

    sources: Sources
    registry: WorkerRegistry
    loop: Loop
    leadership: Leadership
    clock: Clock
    warehouse: str
    """The absolute path of the warehouse."""
    watching: StateRecorder
    persisters: PersisterWatch | None = None
    """Those of the reports; None: there are none."""

    def rows(self) -> list[SupervisorRow]:
        """Return every supervisor that is not terminated, with its state, by id."""
        self.leadership.term()
        with self.sources.store.reading() as tx:
            newest = tx.specs.newest_or_unreadable()
            resting = {head.supervisor_id for head in tx.specs.at_rest()} - dead_owners(tx)
        rows = []
        for row in newest:
            if row.supervisor_id in resting and isinstance(row, SpecVersion) and row.spec:
                rows.append(SupervisorRow(row.supervisor_id, row.spec, COMPLETED))
                continue
            try:
                seen = observe(row.supervisor_id, self.sources, self.clock.now())
            except SpecUnreadable as error:
                rows.append(SupervisorRow(error.supervisor_id, error, unread_state(error)))
                continue
            except UnknownWord as error:
                if isinstance(row, SpecVersion) and row.spec is not None:
                    rows.append(SupervisorRow(row.supervisor_id, row.spec, unread_state(error)))
                continue
            if seen is not None and seen.current.spec is not None:
                rows.append(SupervisorRow(row.supervisor_id, seen.current.spec, self._state(seen)))
        return rows

    def state(self, supervisor_id: str) -> SupervisorState:
        """Return the state of one supervisor; STOPPING while a terminated one still works.

        Raises:
            SupervisorNotFound: the supervisor was never stored, or has ended.
            LeaseLost: this overlord does not lead.
        """
        try:
            return self._state(self._seen(supervisor_id))
        except (SpecUnreadable, UnknownWord) as error:
            return unread_state(error)

    def last_states(self) -> dict[str, SupervisorState]:
        """Return supervisor -> state, from its last pass; empty if this overlord does not lead.

        A supervisor at rest has no pass; it is left out once it has been at rest for `REST_SHOWN`.
        """
        if not self.leadership.leads():
            return {}
        with self.sources.store.reading() as tx:
            newest = tx.specs.newest_or_unreadable(awake=True)
            resting = {h.supervisor_id for h in tx.specs.at_rest(self.clock.now() - REST_SHOWN)}
            dead = dead_owners(tx)
            if dead:
                resting |= dead & {head.supervisor_id for head in tx.specs.at_rest()}
        ids = {version.supervisor_id for version in newest} | resting
        states = {k: self._state(last.seen) for k in ids if (last := self.loop.last_pass(k))}
        return dict.fromkeys(resting, COMPLETED) | states | unreadable_states(newest)

    def lags(self) -> dict[str, Lag]:
        """Return supervisor -> lag; empty if this overlord does not lead."""
        return self.watching.lags() if self.leadership.leads() else {}

    def gap_sizes(self) -> Mapping[tuple[str, GapKind], int]:
        """Return (supervisor, kind) -> number of offsets that are declared as gaps.

        Zeros are included, so that a scraper sees the first gap as growth; not those of supervisors
        at rest.
        """
        with self.sources.store.reading() as tx:
            ids = [head.supervisor_id for head in tx.specs.awake()]
            none = {(each, kind): 0 for each in ids for kind in GapKind}
            return none | dict(tx.offsets.gap_sizes())

    def status(self, supervisor_id: str) -> SupervisorStatus:
        """Return Druid's status with our additions; raises as `state` does."""
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
                behind=None if self.persisters is None else behind_of(self.persisters.last()),
                ages=self.watching.ages(seen),
                looks=self.watching.looks(seen),
            )
        )

    def partitions(self, supervisor_id: str) -> tuple[Observed, list[PartitionState]]:
        """Return the partitions as the last look at Kafka saw them; raises as `state` does.

        This is no look, and it starts none: a page that is open costs Kafka nothing.
        """
        seen = self._seen(supervisor_id, look=False)
        conditions = self.watching.conditions(seen)
        at_risk = () if conditions is None else conditions.partitions_at_risk
        looks, moves = self.watching.looks(seen), self.watching.moves(seen)
        return seen, partition_states(seen, looks, moves, at_risk)

    def stats(self, supervisor_id: str) -> dict[str, dict[str, StatsLeaf]]:
        """Return group -> task -> counters; tasks that have not reported are left out."""
        seen = self._seen(supervisor_id)
        groups = {g.id: str(g.group) for g in seen.generations}
        stats: dict[str, dict[str, StatsLeaf]] = {}
        for task in seen.tasks:
            report = report_of(seen, task)
            if report is not None and task.generation_id in groups:
                leaf = stats_leaf(report.counters, self.registry.rates(task.id))
                stats.setdefault(groups[task.generation_id], {})[task.id] = leaf
        return stats

    def parse_errors(self, supervisor_id: str) -> list[ParseError]:
        """Return samples of rejected records, newest first, each once."""
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

    def _seen(self, supervisor_id: str, *, look: bool = True) -> Observed:
        self.leadership.term()
        seen = observe(supervisor_id, self.sources, self.clock.now(), look=look)
        if seen is None or (seen.current.terminated and not (seen.generations or seen.tasks)):
            raise SupervisorNotFound(supervisor_id)
        return seen

    def _state(self, seen: Observed) -> SupervisorState:
        supervisor_id = seen.current.supervisor_id
        return state_of(seen, self.loop.last_pass(supervisor_id), self.loop.failing(supervisor_id))

    # -- publications --------------------------------------------------------------------------

    def ledger(self, supervisor_id: str) -> Ledger:
        """Return all that a supervisor has committed and published, also of a terminated one.

        Raises:
            SupervisorNotFound: the id was never used.
            MetadataBusy: old publications are being folded; ask again.
        """
        for _ in range(LEDGER_TRIES):
            if (ledger := self._ledger(supervisor_id)) is not None:
                return ledger
        raise MetadataBusy(f"the history of {supervisor_id} is being folded: ask again")

    def _ledger(self, supervisor_id: str) -> Ledger | None:
        """Return the ledger; None: publications were folded between two of its pages."""
        store = self.sources.store
        with store.reading() as tx:
            spec = last_spec(tx, supervisor_id)
            committed = tx.offsets.of(supervisor_id)
            gaps = tx.offsets.gaps(supervisor_id)
            publications = tx.segments.publications(supervisor_id)
            ids = [publication.generation_id for publication in publications]
            folded = tx.expiry.folded(ids)
            keys = tx.segments.keys_of_supervisor(supervisor_id)
        segments = whole(store, listed(store, keys))
        compactions = file_lists.compactions_of(store, compactions_of(segments))
        with store.reading() as tx:
            if not tx.segments.published(ids):
                return None
        return ledger_of(
            spec,
            self.warehouse,
            [committed[p] for p in sorted(committed)],
            gaps,
            publications=publications,
            folded=folded,
            segments=segments,
            compactions=compactions,
        )

    def plans(self, supervisor_id: str, limit: int) -> PlansView:
        """Return the last plans with their reasons, newest first; raises as `ledger` does."""
        with self.sources.store.reading() as tx:
            last_spec(tx, supervisor_id)
            stored = tx.plans.recent(supervisor_id, limit)
        return plans_of(supervisor_id, stored)
