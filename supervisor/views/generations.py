"""Response models of generations (ranges): attempts, and the duration of each step."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from supervisor.core.model.replica_digests import Comparison, Divergence
from supervisor.core.model.rows import Generation, GenerationState, Publication, Task, TaskStatus
from tasks.contract.wire import Instant, Wire, WireOffsets


class AttemptView(Wire):
    """One task of a range."""

    task_id: str
    replica: int
    attempt: int
    status: TaskStatus
    reason: str
    worker_id: str
    started_at: Instant
    ended_at: Instant | None


class StepTimes(Wire):
    """How long each step took, in milliseconds; null: it is not over, or was not needed."""

    reading: int | None
    """From the opening to the pause that led to the end."""
    pausing: int | None
    """From that pause until the end was fixed; the successor reads on from then."""
    finishing: int | None
    """From the fixed end until the first replica had read to it and requested to publish."""
    publishing: int | None
    """From that request until the publish, including the wait for predecessors."""
    total: int | None


class DivergedView(Wire):
    """A replica that came to something else than was published."""

    task_id: str
    digest: str
    records: int
    """The number of records that the replica read."""
    found: Comparison


class GenerationView(Wire):
    """One offset range of one task group."""

    id: str
    ordinal: int
    group: int
    state: GenerationState
    spec_version: int
    task_count: int
    start: WireOffsets
    end: WireOffsets | None
    """Null until the end is fixed."""
    records: int | None
    """The number of offsets from start to end."""
    rows: int | None
    """Published rows."""
    rejected: int | None
    published_by: str | None
    digest: str | None
    """Digest of the published replica; null: not published, or not known."""
    diverged: list[DivergedView]
    """Other replicas whose digest differs."""
    handoff_why: str
    opened_at: Instant
    pausing_at: Instant | None
    end_fixed_at: Instant | None
    first_finished_at: Instant | None
    ended_at: Instant | None
    """When the range was published, found empty or discarded; null: it is live."""
    durations: StepTimes
    attempts: list[AttemptView]


class GenerationsPage(Wire):
    """Ranges of a supervisor, newest first, live and ended ones."""

    supervisor_id: str
    generations: list[GenerationView]
    next: str | None
    """The `cursor` of the next page; null: there is none."""


def generation_view(
    generation: Generation, tasks: Sequence[Task], publication: Publication | None
) -> GenerationView:
    """Return the response for one range."""
    end, start = generation.end, generation.start
    records = None if end is None else sum(end[p] - start[p] for p in start)
    return GenerationView(
        id=generation.id,
        ordinal=generation.ordinal,
        group=generation.group,
        state=generation.state,
        spec_version=generation.spec_version,
        task_count=generation.task_count,
        start=dict(start),
        end=None if end is None else dict(end),
        records=records,
        rows=None if publication is None else publication.rows,
        rejected=None if publication is None else publication.rejected,
        published_by=None if publication is None else publication.task_id,
        digest=None if publication is None else publication.digest,
        diverged=[] if publication is None else [_diverged(one) for one in publication.diverged],
        handoff_why=generation.handoff_why,
        opened_at=generation.opened_at,
        pausing_at=generation.paused_at,
        end_fixed_at=generation.end_fixed_at,
        first_finished_at=generation.first_finished_at,
        ended_at=generation.ended_at,
        durations=_durations(generation),
        attempts=[_attempt(task) for task in tasks],
    )


def _diverged(one: Divergence) -> DivergedView:
    return DivergedView(
        task_id=one.task_id, digest=one.digest, records=one.records, found=one.comparison
    )


def _durations(of: Generation) -> StepTimes:
    return StepTimes(
        reading=_ms(of.opened_at, of.paused_at),
        pausing=_ms(of.paused_at, of.end_fixed_at),
        finishing=_ms(of.end_fixed_at, of.first_finished_at),
        publishing=_ms(of.first_finished_at, of.ended_at),
        total=_ms(of.opened_at, of.ended_at),
    )


def _ms(begin: datetime | None, end: datetime | None) -> int | None:
    if begin is None or end is None:
        return None
    return max(0, int((end - begin).total_seconds() * 1_000))  # the times are of several clocks


def _attempt(task: Task) -> AttemptView:
    return AttemptView(
        task_id=task.id,
        replica=task.replica,
        attempt=task.attempt,
        status=task.status,
        reason=task.reason,
        worker_id=task.worker_id,
        started_at=task.created_at,
        ended_at=task.ended_at,
    )


def generation_views(
    generations: Sequence[Generation],
    tasks: Sequence[Task],
    publications: Mapping[str, Publication],
) -> list[GenerationView]:
    """Return the responses for ranges, each with its tasks by replica and attempt."""
    mine: dict[str, list[Task]] = {}
    for task in sorted(tasks, key=lambda task: (task.replica, task.attempt)):
        mine.setdefault(task.generation_id, []).append(task)
    return [generation_view(g, mine.get(g.id, ()), publications.get(g.id)) for g in generations]
