"""The summary of a pass: what a list shows of a supervisor, worked out once per pass; pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.model.rows import Generation, GenerationState, TaskStatus
from supervisor.core.planning.observed import Observed, StreamTrouble
from supervisor.core.planning.passes import Pass, PassError
from supervisor.core.planning.progress import report_of
from supervisor.core.planning.rules.bounds import records_left
from supervisor.core.planning.rules.handoff_due import handoff_due_at
from supervisor.core.planning.states import SupervisorState, state_of
from supervisor.core.planning.view import PassView
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.messages import Counters


@dataclass(frozen=True)
class ReplicaCounts:
    """Replicas of the open ranges."""

    wanted: int
    running: int
    pending: int
    """Replicas that have no task, of ranges that lack some."""
    unread: int = 0
    """Ranges without any task: nobody reads them."""


NO_REPLICAS = ReplicaCounts(0, 0, 0)


@dataclass(frozen=True)
class LastError:
    """The last thing that went wrong."""

    at: datetime
    kind: str
    message: str


@dataclass(frozen=True)
class PassSummary:
    """What one pass saw of its supervisor."""

    observed_at: datetime
    state: SupervisorState
    """The state while passes do not fail."""
    topics: frozenset[str]
    groups: Mapping[str, int]
    """State of a range -> number of live ranges in it."""
    replicas: ReplicaCounts
    next_publish_due: datetime | None
    """When the first handoff begins at the latest; None: no range reads."""
    bad_records: int
    tasks: int
    """Active tasks."""
    last_error: LastError | None
    bounded_left: int | None = None
    """Records of the fixed ranges that are not published; None: it reads for ever."""


def summary_of(last_pass: Pass) -> PassSummary:
    """Return the summary of a pass."""
    seen, spec = last_pass.seen, last_pass.seen.current.spec
    view = PassView(seen)
    reading = [g for g in seen.generations if g.state is GenerationState.READING]
    dues = [
        handoff_due_at(generation, governing)
        for generation in reading
        if (governing := governing_spec(view, generation)) is not None
    ]
    return PassSummary(
        observed_at=seen.now,
        state=state_of(seen, last_pass, None),
        topics=frozenset(partition.topic for partition in seen.committed),
        groups=dict(sorted(Counter(str(g.state) for g in seen.generations).items())),
        replicas=replica_counts(view),
        next_publish_due=min(dues, default=None),
        bad_records=rejected_live(seen)[0],
        tasks=len(seen.tasks),
        last_error=_last_error(seen),
        bounded_left=None if spec is None else records_left(spec, seen.committed),
    )


def governing_spec(view: PassView, generation: Generation) -> SupervisorSpec | None:
    """Return the spec whose durations and replicas hold for a range; None: it cannot be read."""
    return view.governing_spec(generation) if view.readable(generation) else None


def replica_counts(view: PassView) -> ReplicaCounts:
    """Return how many replicas of the open ranges are wanted, run, and have no task."""
    wanted = running = pending = unread = 0
    tasks = Counter(task.generation_id for task in view.seen.tasks)
    for generation in view.seen.generations:
        spec = governing_spec(view, generation)
        if generation.open and spec is not None:
            wanted += spec.io_config.replicas
            running += tasks[generation.id]
            pending += max(0, spec.io_config.replicas - tasks[generation.id])
            unread += not tasks[generation.id]
    return ReplicaCounts(wanted, running, pending, unread)


def rejected_live(seen: Observed) -> tuple[int, int]:
    """Return the numbers of bad records and of filtered records, once per live range."""
    most: dict[str, Counters] = {}
    live = {g.id for g in seen.generations}
    for task in seen.tasks:
        report = report_of(seen, task)
        if report is not None and task.generation_id in live:
            known = most.setdefault(task.generation_id, report.counters)
            if _rejects(report.counters) > _rejects(known):
                most[task.generation_id] = report.counters
    counters = most.values()
    return sum(c.unparseable for c in counters), sum(c.thrown_away for c in counters)


def _rejects(counters: Counters) -> int:
    return counters.unparseable + counters.thrown_away


def _last_error(seen: Observed) -> LastError | None:
    """Return a trouble of the stream that lasts, else the last task that failed by itself."""
    stream = seen.stream
    if stream.trouble is not None and stream.trouble is not StreamTrouble.CONNECTING:
        return LastError(seen.now, "StreamUnavailable", stream.detail)
    failed = (task for task in seen.last_ended if task.status is TaskStatus.FAILED)
    task = next(failed, None)
    if task is None or task.ended_at is None:
        return None
    return LastError(task.ended_at, "TaskFailed", f"{task.id}: {task.reason}")


def newest_error(of_pass: LastError | None, failed: Sequence[PassError]) -> LastError | None:
    """Return the newer of what a pass saw and the failed passes, which are newest first."""
    if not failed or (of_pass is not None and of_pass.at >= failed[0].at):
        return of_pass
    return LastError(failed[0].at, failed[0].kind, failed[0].message)
