"""Response models of the cheap list of supervisors."""

from collections.abc import Mapping
from datetime import timedelta

from supervisor.core.attention.remedies import Remedy
from supervisor.core.history.listing import ListedPage, ListedSupervisor, Trend
from supervisor.core.history.operations import Operation, OperationKind, Progress
from supervisor.views.attention.overview import Overview
from supervisor.views.attention.remedies import RemedyView, remedy_views
from tasks.contract.wire import Instant, Wire

_MS = timedelta(milliseconds=1)


class ListedReplicas(Wire):
    """Replicas of the ranges that read."""

    wanted: int
    running: int
    pending: int
    """Replicas that have no task yet."""
    unread: int
    """Ranges that no task reads yet."""


class ListedError(Wire):
    """The last thing that went wrong: a trouble of the stream, a failed task, or a failed pass."""

    at: Instant
    kind: str
    message: str


class ListedOperation(Wire):
    """What somebody has asked for and is not done yet."""

    id: str
    kind: OperationKind
    asked_by: str
    at: Instant
    waits_for: str


class ListedRange(Wire):
    """How far a supervisor is that reads fixed ranges once."""

    records: int
    """Records of its ranges."""
    published: int | None
    """Those that are published; null: no pass of this leader has looked yet."""


class ListedRow(Wire):
    """One supervisor; null is what the leader does not know yet."""

    id: str
    data_source: str | None
    """The table; null: this release cannot read the spec."""
    stream: str | None
    """The topic, or the pattern of topics."""
    state: str
    detailed_state: str
    healthy: bool
    why: str
    """The reason of the state, where it needs one."""
    since: Instant | None
    """When the state was first seen; null: the state is newer than the last stored one."""
    suspended: bool
    version: int
    version_at: Instant
    version_by: str
    observed_at: Instant | None
    """When the last good pass looked; null: the state is from rows alone."""
    lag_records: int | None
    """Unread records, as the look at Kafka of `lagAt` saw them."""
    lag_millis: int | None
    """Age of the oldest unread record at `observedAt`."""
    lag_at: Instant | None
    """When the leader looked at Kafka for this lag; null: no lag is known, or nothing is left to
    read."""
    trend: Trend | None
    """How the lag has changed over 15 minutes; null: there is no sample from then."""
    headroom_millis: int | None
    """The least time, of all partitions, until Kafka deletes what is not published; null: it is
    known of no partition."""
    rows_per_second: float | None
    """Over the last minute; null: a range is younger than 10 seconds, or not heard of yet."""
    groups: dict[str, int] | None
    """State of a range -> number of live ranges."""
    replicas: ListedReplicas | None
    next_publish_due: Instant | None
    """When the next handoff begins at the latest; null: no range reads."""
    last_published_at: Instant | None
    """Null: nothing is published yet."""
    last_error: ListedError | None
    warnings: list[str]
    """Problems that the last pass saw and that do not stop the supervisor; status has more."""
    bad_records: int | None
    """Records of the live ranges that cannot be read."""
    remedy: RemedyView | None
    """The best step that may help, of several; null: none is known.  `explain` has all."""
    operation: ListedOperation | None
    """The operation that runs; null: none does, or no pass was made yet."""
    bounded: ListedRange | None
    """Null: it reads its topic for ever."""


class SupervisorsPage(Wire):
    """A page of supervisors that are not terminated."""

    supervisors: list[ListedRow]
    totals: dict[str, int]
    """State -> number of supervisors that the caller may read, whatever the filter."""
    matching: int
    """The number of supervisors that fit the filter, on all pages."""
    next: str | None
    """The `cursor` of the next page; null: there is none."""
    overview: Overview | None = None
    """As `/api/v1/overview` has it; null: the request does not name it in `along`."""


def supervisors_page(
    page: ListedPage,
    remedies: Mapping[str, Remedy],
    running: Mapping[str, tuple[Operation, Progress]],
) -> SupervisorsPage:
    """Return the response for a page; `remedies`, `running`: by supervisor, of those with one."""
    return SupervisorsPage(
        supervisors=[_row(row, remedies.get(row.id), running.get(row.id)) for row in page.rows],
        totals=dict(page.totals),
        matching=page.matching,
        next=page.following,
    )


def _row(
    row: ListedSupervisor, remedy: Remedy | None, running: tuple[Operation, Progress] | None
) -> ListedRow:
    newest, age, error = row.newest, row.lag.age, row.last_error
    return ListedRow(
        id=newest.supervisor_id,
        data_source=newest.data_source,
        stream=newest.stream,
        state=row.state.state,
        detailed_state=row.state.detailed,
        healthy=row.state.healthy,
        why=row.state.why,
        since=row.since,
        suspended=newest.suspended,
        version=newest.version,
        version_at=newest.created_at,
        version_by=newest.author,
        observed_at=row.observed_at,
        lag_records=row.lag.records,
        lag_millis=None if age is None else age // _MS,
        lag_at=row.lag_at,
        trend=row.trend,
        headroom_millis=None if row.headroom is None else row.headroom // _MS,
        rows_per_second=row.rows_per_second,
        groups=None if row.groups is None else dict(row.groups),
        replicas=None if row.replicas is None else ListedReplicas(**vars(row.replicas)),
        next_publish_due=row.next_publish_due,
        last_published_at=row.last_published_at,
        last_error=None if error is None else ListedError(**vars(error)),
        warnings=list(row.warnings),
        bad_records=row.bad_records,
        remedy=None if remedy is None else remedy_views([remedy])[0],
        operation=None if running is None else _operation(*running),
        bounded=_range(row),
    )


def _range(row: ListedSupervisor) -> ListedRange | None:
    records, left = row.newest.bounded_records, row.bounded_left
    if records is None:
        return None
    return ListedRange(records=records, published=None if left is None else records - left)


def _operation(operation: Operation, progress: Progress) -> ListedOperation:
    return ListedOperation(
        id=operation.id,
        kind=operation.kind,
        asked_by=operation.requested_by,
        at=operation.at,
        waits_for=progress.waits_for,
    )
