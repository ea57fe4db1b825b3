"""The overview of everything: counts, and what needs somebody, from rows and from last passes.

    rows: the list's, queues, exports, operations, principals ──┐
    memory: last passes, their conditions, workers ─────────────┴──► counts, and items, worst first

Kafka and the workers are not asked, and no supervisor is observed anew.  So an overview of a
thousand supervisors takes as many statements as one of a single supervisor.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.attention.archive import archive_items
from supervisor.core.attention.certificates import EndingCertificate, certificate_items
from supervisor.core.attention.cluster import (
    leader_items,
    no_leader,
    silent_database,
    token_items,
)
from supervisor.core.attention.divergence import divergence_items
from supervisor.core.attention.exports import export_items
from supervisor.core.attention.flows import flow_items
from supervisor.core.attention.items import AttentionItem, worst_first
from supervisor.core.attention.queues import dead_queues, failed_events, late_queues
from supervisor.core.attention.reports import persister_items
from supervisor.core.attention.streams import silent_streams
from supervisor.core.attention.supervisors import supervisor_items
from supervisor.core.attention.watched import WatchedSupervisor
from supervisor.core.attention.workers import (
    WorkerTasks,
    is_anyone_there,
    no_workers,
    version_items,
    worker_items,
)
from supervisor.core.history.listing import ListedSupervisor
from supervisor.core.history.operations import OperationKind, OperationState, progress_in_pass
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.planning.passes import Pass
from supervisor.core.queue.events import owner_of
from supervisor.core.values.errors import LeaseLost, Unavailable
from supervisor.core.values.permissions import Caller, Permission
from supervisor.executions.flow_watch import FlowWatch
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store
from supervisor.reports.store_watch import StoreWatch
from supervisor.reports.watch import PersisterWatch
from supervisor.services.supervisors.listing import SupervisorListing
from supervisor.services.supervisors.overview_rows import OverviewRows, read_rows
from supervisor.views.attention.overview import (
    DatabaseView,
    LeaderView,
    Overview,
    attention_totals,
    attention_views,
    export_counts,
    lag_sums,
    queue_counts,
    reports_part,
    rows_per_second_of,
    slot_counts,
    supervisor_counts,
    unknown_overview,
    worker_counts,
)

_QUEUE_DEAD = "EVENT_QUEUE_DEAD"


@dataclass(frozen=True)
class _Moment:
    """What one answer goes by."""

    now: datetime
    led_since: datetime
    rows: OverviewRows
    watched: Sequence[WatchedSupervisor]
    workers: Sequence[WorkerView]


@dataclass(frozen=True)
class Overviews:
    """Answers with the overview; one instance per process, safe from many threads."""

    store: Store
    clock: Clock
    leadership: Leadership
    loop: Loop
    watching: StateRecorder
    registry: WorkerRegistry
    listing: SupervisorListing
    persisters: PersisterWatch | None = None
    """Those of the reports; None: there are none."""
    store_watch: StoreWatch | None = None
    """Of the store of reports; None: nobody looks at it."""
    flow_watch: FlowWatch | None = None
    """Of flows; None: nobody looks at them."""
    certificate: EndingCertificate | None = None
    """The TLS certificate that this overlord serves; None: it serves plain HTTP."""

    def of(self, caller: Caller, limit: int) -> Overview:
        """Return the overview of what a caller may read, with so many items at most.

        Without a leader, or without the database, it says that and nothing else.

        Raises:
            LeaseLost: another overlord leads, and can be asked.
        """
        try:
            return self._led(caller, limit)
        except LeaseLost as lost:
            if lost.leader is not None:
                raise
            return self._without_leader()
        except Unavailable as error:
            now = self.clock.now()
            item = silent_database(str(error), self.leadership.silent_since or now)
            return unknown_overview(now, self._leader(), None, item)

    def _led(self, caller: Caller, limit: int) -> Overview:
        self.leadership.term()
        now, began = self.clock.now(), self.clock.monotonic()
        with self.store.reading() as tx:
            tx.lease.read()
            took_s = self.clock.monotonic() - began
            rows = read_rows(tx, self.listing, caller, now)
        seen = (row.id for row in rows.supervisors if row.observed_at is not None)
        passes = self.loop.last_passes(seen)
        watched = [self._watched(row, passes.get(row.id)) for row in rows.supervisors]
        leader = self._leader()
        led_since = now if leader is None else leader.since
        moment = _Moment(now, led_since, rows, watched, self.registry.views())
        reads = caller.may_somewhere(Permission.READ)
        stored = self.persisters.last() if reads and self.persisters is not None else None
        items = chain(
            _items(moment, reads_workers=reads),
            self._changes(now),
            certificate_items(self.certificate if reads else None, now),
            persister_items(stored or (), now),
            self._flows(caller, now),
        )
        shown = worst_first(items, limit)
        return Overview(
            at=now,
            leader=leader,
            database=DatabaseView(ok=True, millis=_millis(took_s)),
            supervisors=supervisor_counts(rows.supervisors),
            lag=lag_sums(rows.supervisors),
            rows_per_second=rows_per_second_of(rows.supervisors),
            slots=slot_counts(rows.supervisors, moment.workers, rows.slots_used) if reads else None,
            workers=worker_counts(moment.workers) if reads else None,
            queues=queue_counts(rows.dead, rows.failed, rows.waiting, now) if reads else None,
            exports=export_counts(rows.exports) if reads else None,
            reports=None if stored is None else reports_part(stored),
            nothing_stored=self._nothing_stored() if reads else None,
            operations=self._running(rows),
            attention=attention_views(shown.items),
            more=shown.left_out,
            totals=attention_totals(shown),
        )

    def _nothing_stored(self) -> str | None:
        return None if self.store_watch is None else self.store_watch.nothing_stored()

    def _flows(self, caller: Caller, now: datetime) -> Iterator[AttentionItem]:
        if self.flow_watch is not None and caller.may(Permission.READ, None):
            yield from flow_items(self.flow_watch.last(), now)

    def _changes(self, now: datetime) -> Iterator[AttentionItem]:
        yield from leader_items(self.leadership.replaced, now)

    def _without_leader(self) -> Overview:
        now, began = self.clock.now(), self.clock.monotonic()
        try:
            with self.store.reading() as tx:
                tx.lease.read()
        except Unavailable as error:
            item = silent_database(str(error), self.leadership.silent_since or now)
            return unknown_overview(now, None, None, item)
        millis = _millis(self.clock.monotonic() - began)
        return unknown_overview(now, None, millis, no_leader(self.leadership.leaderless_since))

    def _leader(self) -> LeaderView | None:
        """Return this overlord as the leader; None: it does not lead any more."""
        url = self.leadership.leader_url()
        try:
            term = self.leadership.term()
        except LeaseLost:
            return None
        since = self.clock.now() - self.registry.led_for()
        # Two readings of a clock: a second is enough for people, and the same in each answer.
        return LeaderView(url=url or "", term=term, since=since.replace(microsecond=0))

    def _watched(self, row: ListedSupervisor, last_pass: Pass | None) -> WatchedSupervisor:
        """Return a row with what its last pass saw, unless that was over another table."""
        spec = None if last_pass is None else last_pass.seen.current.spec
        if last_pass is None or spec is None or spec.data_source != row.newest.data_source:
            return WatchedSupervisor(row, None, None)
        return WatchedSupervisor(row, last_pass.seen, self.watching.conditions(last_pass.seen))

    def _running(self, rows: OverviewRows) -> int:
        passes = self.loop.last_passes(each.supervisor_id for each in rows.operations)
        return sum(
            progress_in_pass(each, last_pass.seen).state is OperationState.RUNNING
            for each in rows.operations
            if (last_pass := passes.get(each.supervisor_id)) is not None
            and each.kind is not OperationKind.UNKNOWN  # an overlord of a newer release judges it
        )


def _millis(seconds: float) -> int:
    return round(seconds * 1_000)


def _items(moment: _Moment, *, reads_workers: bool) -> Iterator[AttentionItem]:
    """Yield what needs somebody, each trouble once."""
    rows, now = moment.rows, moment.now
    dead = {owner_of(row.queue.container) for row in rows.dead}
    slots = slot_counts(rows.supervisors, moment.workers, rows.slots_used)
    is_attended = is_anyone_there(moment.workers, now, moment.led_since)
    yield from silent_streams(moment.watched)
    if not is_attended:
        yield from no_workers(moment.watched, now)
    for watched in moment.watched:
        # The queue itself is an item, with the same repair.
        if watched.row.state.detailed != _QUEUE_DEAD or watched.row.id not in dead:
            yield from supervisor_items(watched, now, slots.free if is_attended else None)
    since = {
        watched.row.id: watched.row.since
        for watched in moment.watched
        if watched.row.state.detailed == _QUEUE_DEAD
    }
    tables = {row.id: row.newest.data_source for row in rows.supervisors}
    yield from dead_queues(rows.dead, since, tables)
    yield from late_queues(rows.waiting, now, tables)
    yield from failed_events(rows.failed, tables)
    yield from export_items(rows.exports, now)
    yield from divergence_items(rows.diverged)
    yield from token_items(rows.tokens, now)
    yield from archive_items(rows.unstored, now)
    unheard = [each for each in moment.workers if each.liveness is not Liveness.ALIVE]
    if reads_workers:
        yield from version_items(moment.workers)
    if reads_workers and unheard:
        tasks = _tasks(moment.watched, {each.id for each in unheard})
        yield from worker_items(unheard, tasks, now, moment.led_since)


def _tasks(watched: Sequence[WatchedSupervisor], of: set[str]) -> WorkerTasks:
    """Return the tasks of these workers."""
    active: Counter[str] = Counter()
    replaced: Counter[str] = Counter()
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for each in watched:
        if each.conditions is None:
            continue
        mine, before = each.conditions.worker_tasks, each.conditions.replaced_tasks
        for worker_id in of & (mine.keys() | before.keys()):
            active[worker_id] += mine.get(worker_id, 0)
            replaced[worker_id] += before.get(worker_id, 0)
            ids[worker_id].append(each.row.id)
    by_worker = {worker_id: tuple(sorted(of_it)) for worker_id, of_it in ids.items()}
    return WorkerTasks(active, replaced, by_worker)
