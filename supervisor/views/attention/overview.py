"""Response models of the overview: how everything stands, and what needs somebody."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from supervisor.core.attention.exports import WatchedExport
from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    AttentionList,
    Severity,
    SubjectKind,
    worst_first,
)
from supervisor.core.attention.queues import FailedEvents, waiting_since
from supervisor.core.attention.reports import WatchedPersister, behind_of
from supervisor.core.history.listing import ListedSupervisor
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.queue.events import QueueName, QueueRow, WaitingQueue
from supervisor.core.tables.exports import ExportState
from supervisor.views.attention.remedies import RemedyView, remedy_views
from tasks.contract.wire import Instant, Wire


class LeaderView(Wire):
    """The overlord that leads."""

    url: str
    term: int
    since: Instant
    """Since when it leads without a lapse, by its own clock."""


class DatabaseView(Wire):
    """The metadata database, as the answering overlord found it just now."""

    ok: bool
    millis: int | None
    """How long it took to answer; null: it did not."""


class SupervisorCounts(Wire):
    """Supervisors that the caller may read and that are not terminated."""

    total: int
    unhealthy: int
    suspended: int
    states: dict[str, int]
    """State -> number of supervisors."""


class LagSums(Wire):
    """Lag of these supervisors, as their last passes saw it."""

    records: int | None
    """Unread records; null: no lag is known."""
    oldest_millis: int | None
    """Age of the oldest unread record; null: no age is known."""
    looked_at: Instant | None
    """When the leader looked at Kafka; of several supervisors the oldest of their last looks; null:
    no lag is known."""


class SlotCounts(Wire):
    """Slots for tasks that read."""

    needed: int
    """Replicas that these supervisors want."""
    used: int
    """Replicas of theirs that have a task."""
    free: int
    """Slots without a task, of workers that take tasks."""
    total: int
    """Slots of workers that take tasks."""


class WorkerCounts(Wire):
    """Registered workers by what the leader hears of them."""

    alive: int
    silent: int
    """Not heard of for some seconds; they keep their tasks."""
    lost: int
    """Silent for so long that their tasks ended, and other workers get them."""


class QueueCounts(Wire):
    """Event queues that the caller may read."""

    dead: int
    failed: int
    """Events that were set aside."""
    waiting: int
    """Events of live queues that were added and not handled yet, due or not; as for
    `oldest_millis` without those of exports."""
    oldest_millis: int | None
    """How long the first event of a queue has been due and not handled; null: none is due.

    Queues of exports do not count: `exports` has them.
    """


class ExportCounts(Wire):
    """Exports that are switched on, of tables that the caller may read."""

    total: int
    behind: int
    """Exports that do not equal their table yet, stuck ones too."""
    stuck: int
    """Exports that do not follow until somebody acts."""


class PersisterLine(Wire):
    """A persister, as the leader found it when it asked last."""

    url: str
    state: str | None
    """Its own word; null: it does not answer."""
    since: Instant
    """Since when it is in this state, as far as this leader has seen."""
    reason: str
    """What is wrong; empty: nothing."""
    stored: int | None
    """Records that it has stored since its start."""


class ReportsPart(Wire):
    """How far stored reports and logs are behind what workers have sent."""

    behind_records: int | None
    """Null: no persister says it."""
    behind_millis: int | None
    """Age of the oldest of these records; null: not known."""
    late: bool
    """They are so far behind that somebody should know."""
    dead_letters: int | None
    """Records that could not be stored, and that nobody has handled; null: not known."""
    lost: int
    """Records that their topics' retention deleted before they were stored."""
    persisters: list[PersisterLine]


class AboutView(Wire):
    """What an item is about."""

    kind: SubjectKind
    id: str
    """Of a queue `container/name`, of an export `table/format`, of brokers their list, of the
    cluster empty."""


class PartitionName(Wire):
    """One partition of a topic."""

    topic: str
    partition: int


class AttentionView(Wire):
    """One thing that needs somebody."""

    severity: Severity
    kind: AttentionKind
    about: AboutView
    text: str
    """One sentence: what is wrong, and what it means."""
    since: Instant | None
    """When it began; null: not known."""
    remedies: list[RemedyView]
    """Steps that may help, the best first."""
    data_source: str | None
    """The table that the permissions of the remedies are for; null: no table, or several ones."""
    supervisors: list[str]
    """Ids of the supervisors that it concerns, of an item that is not about a single one."""
    partitions: list[PartitionName]
    """Partitions of the supervisor that it is about, those that are worst off, the worst first; at
    most three.  Empty: it is not about partitions."""


class AttentionTotals(Wire):
    """Items by severity, those beyond the limit too."""

    broken: int
    at_risk: int
    to_know: int


class Overview(Wire):
    """How everything stands that the caller may read.

    A part is null if nobody knows it now, because no overlord leads or the database does not
    answer.  `slots`, `workers`, `queues` and `exports` are null as well for callers that may read
    no table.
    """

    at: Instant
    leader: LeaderView | None
    """Null: no overlord leads."""
    database: DatabaseView
    supervisors: SupervisorCounts | None
    lag: LagSums | None
    rows_per_second: float | None
    """Over the last minute; null: of no supervisor is it known."""
    slots: SlotCounts | None
    workers: WorkerCounts | None
    queues: QueueCounts | None
    exports: ExportCounts | None
    reports: ReportsPart | None
    """Null as well where no persister is configured; without any before the first was asked."""
    nothing_stored: str | None
    """Why no report and no log can be searched; null: they can, or nobody has looked yet."""
    operations: int | None
    """Those of the newest 200 operations that run, by the last pass over their supervisors."""
    attention: list[AttentionView]
    """Worst first: by severity, then the oldest."""
    more: int
    """Items beyond the limit."""
    totals: AttentionTotals


def attention_views(items: Sequence[AttentionItem]) -> list[AttentionView]:
    """Return items in the form of the API, in their order."""
    return [
        AttentionView(
            severity=item.severity,
            kind=item.kind,
            about=AboutView(kind=item.about.kind, id=item.about.id),
            text=item.text,
            since=item.since,
            remedies=remedy_views(item.remedies),
            data_source=item.data_source,
            supervisors=list(item.supervisors),
            partitions=[
                PartitionName(topic=each.topic, partition=each.partition)
                for each in item.partitions
            ],
        )
        for item in items
    ]


def attention_totals(shown: AttentionList) -> AttentionTotals:
    """Return the totals of a list."""
    return AttentionTotals(
        broken=shown.totals.get(Severity.BROKEN, 0),
        at_risk=shown.totals.get(Severity.AT_RISK, 0),
        to_know=shown.totals.get(Severity.TO_KNOW, 0),
    )


def supervisor_counts(rows: Sequence[ListedSupervisor]) -> SupervisorCounts:
    """Return the counts of listed supervisors."""
    return SupervisorCounts(
        total=len(rows),
        unhealthy=sum(not row.state.healthy for row in rows),
        suspended=sum(row.newest.suspended for row in rows),
        states=dict(sorted(Counter(str(row.state.state) for row in rows).items())),
    )


def lag_sums(rows: Sequence[ListedSupervisor]) -> LagSums:
    """Return the lag of listed supervisors together, as far as it is known."""
    records = [row.lag.records for row in rows if row.lag.records is not None]
    ages = [row.lag.age for row in rows if row.lag.age is not None]
    looks = [row.lag_at for row in rows if row.lag_at is not None]
    return LagSums(
        records=sum(records) if records else None,
        oldest_millis=max(ages) // timedelta(milliseconds=1) if ages else None,
        looked_at=min(looks, default=None) if records else None,
    )


def rows_per_second_of(rows: Sequence[ListedSupervisor]) -> float | None:
    """Return the rows per second of listed supervisors together, as far as they are known."""
    rates = [row.rows_per_second for row in rows if row.rows_per_second is not None]
    return round(sum(rates), 1) if rates else None


def slot_counts(
    rows: Sequence[ListedSupervisor], workers: Sequence[WorkerView], used: Mapping[str, int]
) -> SlotCounts:
    """Return slots; `used`: worker -> its slots in use, by whatever supervisor."""
    replicas = [row.replicas for row in rows if row.replicas is not None]
    able = [worker for worker in workers if worker.takes_tasks]
    return SlotCounts(
        needed=sum(each.wanted for each in replicas),
        used=sum(each.running for each in replicas),
        free=sum(max(0, worker.slots - used.get(worker.id, 0)) for worker in able),
        total=sum(worker.slots for worker in able),
    )


def worker_counts(workers: Sequence[WorkerView]) -> WorkerCounts:
    """Return how many workers are heard of."""
    lives = Counter(worker.liveness for worker in workers)
    return WorkerCounts(
        alive=lives[Liveness.ALIVE], silent=lives[Liveness.UNKNOWN], lost=lives[Liveness.LOST]
    )


def queue_counts(
    dead: Sequence[QueueRow],
    failed: Mapping[QueueName, FailedEvents],
    waiting: Sequence[WaitingQueue],
    now: datetime,
) -> QueueCounts:
    """Return the counts of event queues."""
    since = [at for queue in waiting if (at := waiting_since(queue)) is not None and at <= now]
    return QueueCounts(
        dead=len(dead),
        failed=sum(events.count for events in failed.values()),
        # A damaged queue counts fewer events than were handled.
        waiting=sum(max(0, queue.row.outstanding_events) for queue in waiting),
        oldest_millis=(now - min(since)) // timedelta(milliseconds=1) if since else None,
    )


def export_counts(exports: Sequence[WatchedExport]) -> ExportCounts:
    """Return the counts of exports that are switched on."""
    states = [each.state for each in exports]
    return ExportCounts(
        total=len(states),
        behind=sum(state is not ExportState.EQUAL for state in states),
        stuck=sum(state is ExportState.STUCK for state in states),
    )


def reports_part(persisters: Sequence[WatchedPersister]) -> ReportsPart:
    """Return the part of the reports, by the persisters that were asked."""
    behind = behind_of(persisters)
    letters = [each.dead_letters for each in persisters if each.dead_letters is not None]
    age = None if behind is None else behind.age
    return ReportsPart(
        behind_records=None if behind is None else behind.records,
        behind_millis=None if age is None else age // timedelta(milliseconds=1),
        late=behind is not None and behind.is_late,
        dead_letters=max(letters, default=None),
        lost=sum(each.lost for each in persisters),
        persisters=[
            PersisterLine(
                url=each.url,
                state=each.state,
                since=each.since,
                reason=each.reason,
                stored=each.stored,
            )
            for each in persisters
        ],
    )


def unknown_overview(
    at: datetime, leader: LeaderView | None, millis: int | None, item: AttentionItem
) -> Overview:
    """Return the overview of who knows one item alone.

    `millis`: how long the database took to answer; None: it did not answer.
    """
    shown = worst_first([item], 1)
    return Overview(
        at=at,
        leader=leader,
        database=DatabaseView(ok=millis is not None, millis=millis),
        supervisors=None,
        lag=None,
        rows_per_second=None,
        slots=None,
        workers=None,
        queues=None,
        exports=None,
        reports=None,
        nothing_stored=None,
        operations=None,
        attention=attention_views(shown.items),
        more=0,
        totals=attention_totals(shown),
    )
