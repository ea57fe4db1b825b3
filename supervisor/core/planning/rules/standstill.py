"""The standstill rule: a range that does not move, for whatever reason, is named after a deadline.

| state of the range | it stands still when | deadline |
|---|---|---|
| READING | records wait, and none of its tasks finishes a batch | progress timeout |
| PAUSING | the present pause does not end | pause lease + pause timeout |
| PUBLISHING | it is not published, and no merge of it goes on | completionTimeout |

Other rules end tasks that could go on and do not, tasks of lost workers, and tasks that failed.  A
task that waits for others is left alone, for its wait may be right.  This rule ends nothing.  It
has the state of the supervisor say so, so that no wait is endless while all looks well.
"""

from datetime import timedelta

from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.planning.observed import Observed, PlanLimits
from supervisor.core.planning.progress import lag_by_partition
from supervisor.core.planning.rules.handoff import ReplicaView
from supervisor.core.planning.view import PassView
from supervisor.core.values.clock_skew import is_over
from supervisor.core.values.counts import in_seconds
from tasks.contract.messages import TaskPhase, TaskReport


def standstill(seen: Observed) -> str | None:
    """Return a sentence on the oldest range that stands still; None: every range moves."""
    view = PassView(seen)
    for generation in seen.generations:
        replicas = view.replicas(generation)
        why = _why(view, generation, replicas) if replicas else None
        if why is not None:
            details = sorted({r.report.detail for r in replicas if r.report} - {""})
            return "; ".join([f"range {generation.id} stands still: {why}", *details[:1]])
    return None  # a range without a task waits for a slot, or for the next attempt


def _why(view: PassView, generation: Generation, replicas: list[ReplicaView]) -> str | None:
    seen = view.seen
    if generation.state is GenerationState.READING:
        if _records_wait(seen, generation) and all(_idles(r, seen.limits) for r in replicas):
            waited = _s(seen.limits.progress_timeout)
            return f"records wait, and its tasks have finished no batch for {waited}"
        return None
    if generation.state is GenerationState.PAUSING:
        limit = seen.limits.pause_lease + seen.limits.pause_timeout
        since, what = generation.paused_at, "its tasks were ordered to pause and have not done so"
    else:
        limit = view.completion_timeout(generation)
        since, what = (
            generation.end_fixed_at,
            "its tasks have stopped reading, and nothing of it was published",
        )
        if any(_merges(generation, r.report, limit) for r in replicas):
            return None
    over = since is not None and is_over(since, limit, seen.now)
    return f"{what} for {_s(limit)}" if over else None


def _records_wait(seen: Observed, generation: Generation) -> bool:
    """Return whether Kafka has records beyond the best reader of a range.

    While Kafka does not answer the overlord, the state says that instead.
    """
    if not seen.stream.known:
        return False
    lag = lag_by_partition(seen)
    return any(lag.get(partition, 0) > 0 for partition in generation.start)


def _idles(replica: ReplicaView, limits: PlanLimits) -> bool:
    """Return whether a task has finished no batch within the deadline."""
    return replica.report is not None and replica.report.idle_for > limits.progress_timeout


def _merges(generation: Generation, report: TaskReport | None, limit: timedelta) -> bool:
    """Return whether a task has read to the end, and its merge goes on."""
    if report is None or report.phase is not TaskPhase.FINISHING:
        return False
    return report.position == generation.end and timedelta(0) < report.stalled_for <= limit


def _s(time: timedelta) -> str:
    return in_seconds(time)
