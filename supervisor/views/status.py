"""Response model of a supervisor's status: Druid's payload, with additions (why, gaps, slots).

Keys of offset maps are as in Druid: the partition's number as text, or `topic:partition` if the
spec has a topicPattern.  Lag is counted up to the last stable offsets, because records beyond them
may still be aborted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field

from supervisor.core.attention.remedies import remedies_of
from supervisor.core.attention.reports import ReportsBehind
from supervisor.core.history.lag import LogEnds, lag_ages
from supervisor.core.model.rows import Generation, GenerationState, Publication, Task
from supervisor.core.planning.observed import Observed, StreamTrouble
from supervisor.core.planning.partition_names import by_name, names_topics
from supervisor.core.planning.pass_summary import governing_spec, rejected_live, replica_counts
from supervisor.core.planning.passes import Pass, PassError
from supervisor.core.planning.placement import Slots
from supervisor.core.planning.progress import lag_by_partition, readable, report_of
from supervisor.core.planning.rules.handoff_due import handoff_due_at
from supervisor.core.planning.states import State, state_of
from supervisor.core.planning.view import PassView
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.counts import counted, grouped
from supervisor.views.attention.remedies import RemedyView, remedy_views
from supervisor.views.attention.warnings import warnings
from tasks.contract.messages import TaskPhase
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.contract.wire import Wire, iso_utc

ERRORS_SHOWN = 20
ByPartition = dict[str, int]
"""Partition number as text, or `topic:partition` with a pattern -> offset or count."""


class StatusTask(Wire):
    """A task as the status lists it; the last six are additions to Druid's members."""

    id: str
    starting_offsets: ByPartition
    start_time: str | None
    """None until the worker has reported the task."""
    remaining_seconds: int | None
    """Seconds to the end of the shortest period, or of completionTimeout once it publishes."""
    type: Literal["ACTIVE", "PUBLISHING"]
    current_offsets: ByPartition
    lag: ByPartition = Field(default_factory=dict)
    """Absent for a task that publishes."""
    lag_millis: dict[str, int | None] = Field(default_factory=dict)
    """Age of the oldest unread record; null: not known yet.  Absent when `lag` is."""
    generation_id: str
    group: int
    replica: int
    attempt: int
    phase: TaskPhase | None
    worker_id: str


class StatusGroup(Wire):
    """A live generation of one task group."""

    generation_id: str
    group: int
    state: GenerationState
    start: ByPartition
    end: ByPartition | None
    opened_at: str
    next_publish_due: str | None
    """When the handoff begins at the latest; enough rows begin it earlier.  None: it has begun."""
    handoff_why: str
    asked: str
    """Reason of a request to hand the generation off early; empty: no request."""


class RecentError(Wire):
    """Druid's shape of something that went wrong lately."""

    timestamp: str
    exception_class: str
    message: str
    stream_exception: bool
    task_id: str | None = None
    """The task that failed, an addition; null: it was no task."""
    worker_id: str | None = None
    """The worker that the task ran on, an addition; null: it was no task."""


class Rejected(Wire):
    """Records that became no row."""

    live: int
    """Rejected records of the live generations, counted once per generation."""
    published: int


class StatusPayload(Wire):
    """Druid's status payload; from `why` on, additions."""

    data_source: str
    stream: str
    partitions: int
    replicas: int
    duration_seconds: int
    active_tasks: list[StatusTask]
    publishing_tasks: list[StatusTask]
    latest_offsets: ByPartition = Field(default_factory=dict)
    """Last stable offsets; absent, like `offsetsLastUpdated`, before the first look at Kafka."""
    minimum_lag: ByPartition
    aggregate_lag: int
    minimum_lag_millis: dict[str, int | None] = Field(default_factory=dict)
    """Age of the oldest unread record; null: not known yet."""
    aggregate_lag_millis: int | None = None
    """The highest of these ages; null: one of them is not known yet."""
    offsets_last_updated: str = ""
    suspended: bool
    healthy: bool
    state: State
    detailed_state: str
    recent_errors: list[RecentError]
    why: str
    committed_offsets: ByPartition
    unstable: ByPartition = Field(default_factory=dict)
    """Records beyond the last stable offset, where there are any, behind an open transaction."""
    groups: list[StatusGroup]
    slots_needed: int
    slots_free: int
    pending_replicas: int
    """Replicas of open generations that have no task."""
    rejected: Rejected
    warnings: list[str]
    """Problems that do not stop the supervisor."""
    remedies: list[RemedyView] = Field(default_factory=list)
    """Steps that may help, the best first."""
    version: int


class SupervisorStatus(Wire):
    """The answer to `GET /{id}/status`."""

    id: str
    generation_time: str
    payload: StatusPayload


@dataclass(frozen=True)
class StatusFacts:
    """The input of a status."""

    seen: Observed
    spec: SupervisorSpec
    """The newest spec that is no tombstone."""
    last_pass: Pass | None
    pass_errors: Sequence[PassError]
    failing_pass: PassError | None
    failed: Sequence[Task]
    rejected_published: int
    ages: Mapping[TopicPartition, timedelta]
    """Partition -> age of its oldest unread record, where it is known."""
    diverged: Sequence[Publication] = ()
    """Recently published ranges with a diverged replica, oldest first."""
    behind: ReportsBehind | None = None
    """How far stored reports are behind; None: nobody stores them, or it is not known."""
    looks: Sequence[LogEnds] = ()
    """Samples of the log ends, from which the lag ages of each task are computed."""

    def numbered(self, offsets: Offsets) -> ByPartition:
        """Return offsets with the partitions as Druid writes them."""
        return by_name(offsets, topics=names_topics(self.spec, offsets))

    def numbered_ages(
        self, partitions: Iterable[TopicPartition], ages: Mapping[TopicPartition, timedelta]
    ) -> dict[str, int | None]:
        """Return ages in milliseconds, with the partitions as Druid writes them."""
        millis = {p: _ms(ages.get(p)) for p in partitions}
        return by_name(millis, topics=names_topics(self.spec, millis))

    def oldest(self, partitions: Collection[TopicPartition]) -> int | None:
        """Return the highest age of these partitions in milliseconds; None: one is not known."""
        known = [self.ages[p] for p in partitions if p in self.ages]
        return _ms(max(known)) if known and len(known) == len(partitions) else None


def _ms(age: timedelta | None) -> int | None:
    return None if age is None else age // timedelta(milliseconds=1)


def _warnings(facts: StatusFacts) -> list[str]:
    bad = rejected_live(facts.seen)[0]
    return warnings(facts.seen, facts.spec, facts.diverged, bad=bad, behind=facts.behind)


def status_of(facts: StatusFacts) -> SupervisorStatus:
    """Assemble the status; decides nothing."""
    seen = facts.seen
    payload = _payload(facts)
    return SupervisorStatus(
        id=seen.current.supervisor_id, generation_time=iso_utc(seen.now), payload=payload
    )


def _payload(facts: StatusFacts) -> StatusPayload:
    seen, spec = facts.seen, facts.spec
    state = state_of(seen, facts.last_pass, facts.failing_pass)
    lag = lag_by_partition(seen)
    need = None if facts.last_pass is None else facts.last_pass.decided.waiting_for_slots
    read_at = seen.stream.read_at
    # An earlier supervisor of this id may have read another topic.
    reads = spec.io_config.reads
    committed = {p: c.next_offset for p, c in seen.committed.items() if reads(p.topic)}
    look = (
        {}
        if read_at is None
        else {
            "latest_offsets": facts.numbered(seen.stream.stable),
            "unstable": facts.numbered(_unstable(seen)),
            "offsets_last_updated": iso_utc(read_at),
        }
    )
    return StatusPayload.model_validate(
        look
        | {
            "data_source": spec.data_source,
            "stream": spec.io_config.stream,
            "partitions": len(seen.stream.stable or committed),
            "replicas": spec.io_config.replicas,
            "duration_seconds": int(spec.io_config.task_duration.total_seconds()),
            "active_tasks": _tasks(facts, publishing=False),
            "publishing_tasks": _tasks(facts, publishing=True),
            "minimum_lag": facts.numbered(lag),
            "aggregate_lag": sum(lag.values()),
            "minimum_lag_millis": facts.numbered_ages(lag, facts.ages),
            "aggregate_lag_millis": facts.oldest(lag),
            "suspended": spec.suspended,
            "healthy": state.healthy,
            "state": state.state,
            "detailed_state": state.detailed,
            "recent_errors": _recent_errors(facts),
            "why": state.why,
            "committed_offsets": facts.numbered(committed),
            "groups": [_group(g, facts) for g in seen.generations],
            "slots_needed": 0 if need is None else need.needed,
            "slots_free": Slots(seen.workers).free,
            "pending_replicas": replica_counts(PassView(seen)).pending,
            "rejected": Rejected(live=sum(rejected_live(seen)), published=facts.rejected_published),
            "warnings": _warnings(facts),
            "remedies": remedy_views(remedies_of(seen, state)),
            "version": seen.current.version,
        }
    )


def _tasks(facts: StatusFacts, *, publishing: bool) -> list[StatusTask]:
    seen = facts.seen
    live = {g.id: g for g in seen.generations}
    chosen = [
        (live[t.generation_id], t)
        for t in seen.tasks
        if t.generation_id in live and live[t.generation_id].open != publishing
    ]
    chosen.sort(key=lambda pair: (pair[0].group, pair[0].ordinal, pair[1].replica))
    return [_task(facts, generation, task) for generation, task in chosen]


def _task(facts: StatusFacts, generation: Generation, task: Task) -> StatusTask:
    seen = facts.seen
    report = report_of(seen, task)
    publishing = generation.end is not None
    position = {} if report is None else report.position
    stable = readable(seen)
    lag = {p: max(0, stable[p] - at) for p, at in position.items() if p in stable}
    ages = lag_ages(facts.looks, position, seen.now, lag)
    return StatusTask.model_validate(
        {
            "id": task.id,
            "starting_offsets": facts.numbered(generation.start),
            "start_time": None if report is None else iso_utc(seen.now - report.running_for),
            "remaining_seconds": None if report is None else _remaining_s(generation, seen),
            "type": "PUBLISHING" if publishing else "ACTIVE",
            "current_offsets": facts.numbered(position),
            **({} if publishing else {"lag": facts.numbered(lag)}),
            **({} if publishing else {"lag_millis": facts.numbered_ages(lag, ages)}),
            "generation_id": generation.id,
            "group": generation.group,
            "replica": task.replica,
            "attempt": task.attempt,
            "phase": None if report is None else report.phase,
            "worker_id": task.worker_id,
        }
    )


def _remaining_s(generation: Generation, seen: Observed) -> int | None:
    bound = governing_spec(PassView(seen), generation)
    if bound is None:
        return None
    if generation.end_fixed_at is None:
        until = handoff_due_at(generation, bound)
    else:
        # A clock ahead of ours would give more than the whole duration.
        since = min(generation.end_fixed_at, seen.now)
        until = since + bound.io_config.completion_timeout
    return max(0, int((until - seen.now).total_seconds()))


def _group(generation: Generation, facts: StatusFacts) -> StatusGroup:
    bound = governing_spec(PassView(facts.seen), generation)
    due = None
    if bound is not None and generation.state is GenerationState.READING:
        due = iso_utc(handoff_due_at(generation, bound))
    return StatusGroup(
        generation_id=generation.id,
        group=generation.group,
        state=generation.state,
        start=facts.numbered(generation.start),
        end=None if generation.end is None else facts.numbered(generation.end),
        opened_at=iso_utc(generation.opened_at),
        next_publish_due=due,
        handoff_why=generation.handoff_why,
        asked=generation.handoff_request,
    )


def _unstable(seen: Observed) -> dict[TopicPartition, int]:
    """Return partition -> records beyond the last stable offset (E11)."""
    latest, stable = seen.stream.latest, seen.stream.stable
    return {p: latest[p] - at for p, at in stable.items() if latest.get(p, at) > at}


def waiting_replicas(payload: StatusPayload) -> str:
    """Return what replicas that do not run yet wait for, or ''."""
    return waiting_text(payload.pending_replicas, payload.slots_needed, payload.slots_free)


def waiting_text(pending: int, needed: int, free: int) -> str:
    """Return what `pending` replicas wait for, or '': for slots only where some are missing."""
    if not pending:
        return ""
    if not needed:
        return f"{counted(pending, 'replica is', 'replicas are')} still to be started"
    waiting = counted(pending, "replica waits", "replicas wait")
    return f"{waiting} for a slot: {grouped(needed)} needed, {grouped(free)} free"


def _recent_errors(facts: StatusFacts) -> list[RecentError]:
    """Return the recent errors, oldest first, as Druid lists them."""
    errors: list[tuple[datetime, RecentError]] = [
        (e.at, _error(e.at, e.kind, e.message)) for e in facts.pass_errors
    ]
    errors += [
        (at, _error(at, "TaskFailed", f"{t.id}: {t.reason}", of=t))
        for t in facts.failed
        if (at := t.ended_at) is not None and not t.displaced
    ]
    stream = facts.seen.stream
    if stream.trouble is not None and stream.trouble is not StreamTrouble.CONNECTING:
        # With the present time, and last in the list, because this error still lasts.
        at = facts.seen.now
        errors.append((at, _error(at, "StreamUnavailable", stream.detail, stream=True)))
    errors.sort(key=lambda pair: pair[0])
    return [error for _, error in errors[-ERRORS_SHOWN:]]


def _error(
    at: datetime, kind: str, message: str, *, stream: bool = False, of: Task | None = None
) -> RecentError:
    return RecentError(
        timestamp=iso_utc(at),
        exception_class=kind,
        message=message,
        stream_exception=stream,
        task_id=None if of is None else of.id,
        worker_id=None if of is None else of.worker_id,
    )
