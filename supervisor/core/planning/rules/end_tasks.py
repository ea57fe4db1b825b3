"""The rule for ending tasks, whatever their generation does next."""

from collections.abc import Iterator

from supervisor.core.model.rows import Generation
from supervisor.core.planning.actions import EndTask
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.rules.handoff import ReplicaView
from supervisor.core.planning.view import PassView
from supervisor.core.values.clock_skew import is_over
from supervisor.core.values.counts import in_seconds
from tasks.contract.messages import TaskPhase

_FORGOTTEN = (
    "it has published its range, and the metadata database does not know of it: an older copy "
    "was restored, or a commit was lost; the range is read again"
)


def end_tasks(view: PassView) -> Iterator[EndTask]:
    """End tasks that failed or are stalled, or whose worker or generation is gone."""
    live = {g.id: g for g in view.seen.generations}
    for task in view.seen.tasks:
        replica = view.replica(task)
        generation = live.get(task.generation_id)
        if generation is None:
            yield EndTask(task.id, succeeded=True, why="its range has ended")
        elif replica.report is not None and replica.report.phase is TaskPhase.FAILED:
            code = replica.report.failure or "FAILED"
            yield EndTask(task.id, succeeded=False, why=f"{code}: {replica.report.detail}")
        elif replica.report is not None and replica.report.phase is TaskPhase.SUCCESS:
            # A publish ends the task's row in its transaction.  If a pass saw the row before and
            # the report after, this action does nothing: an ended task is not ended again.
            yield EndTask(task.id, succeeded=False, why=_FORGOTTEN, lost=True, alert=True)
        elif replica.liveness is Liveness.LOST:
            why = f"worker {task.worker_id} is lost"
            yield EndTask(task.id, succeeded=False, why=why, lost=True)
        elif _runs_nowhere(replica) and not view.readable(generation):
            why = f"worker {task.worker_id} does not run it, and cannot be given its spec here"
            yield EndTask(task.id, succeeded=False, why=why, lost=True)
        elif _runs_nowhere(replica) and (never := _never_begun(view, replica)) is not None:
            yield EndTask(task.id, succeeded=False, why=never, lost=True, alert=True)
        elif (stalled := _stalled(view, generation, replica)) is not None:
            yield EndTask(task.id, succeeded=False, why=stalled, alert=True)


def _runs_nowhere(replica: ReplicaView) -> bool:
    """Return whether the live worker of a replica does not run the task.

    For example, the worker was restarted and waits for a spec that this release cannot send.
    """
    return replica.liveness is Liveness.ALIVE and replica.report is None


def _never_begun(view: PassView, replica: ReplicaView) -> str | None:
    """Return the reason if a live worker was given a task long ago, and does not report it.

    A worker that has just started reports none of its tasks before its first answer.
    """
    worker_id, limit = replica.task.worker_id, view.seen.limits.progress_timeout
    known_for = next(w.known_for for w in view.seen.workers if w.id == worker_id)
    if known_for <= limit or not is_over(replica.task.created_at, limit, view.seen.now):
        return None
    return f"worker {worker_id} was given it, and has not begun it for {in_seconds(limit)}"


def _stalled(view: PassView, generation: Generation, replica: ReplicaView) -> str | None:
    """Return the reason if a task that could go on is stalled for too long: replace it (P15)."""
    if replica.report is None or replica.liveness is not Liveness.ALIVE:
        return None
    if generation.open:
        rule, limit = "progress timeout", view.seen.limits.progress_timeout
    else:
        rule, limit = "completionTimeout", view.completion_timeout(generation)
    stalled = replica.report.stalled_for
    if stalled <= limit:
        return None
    detail_text = f" ({replica.report.detail})" if replica.report.detail else ""
    return (
        f"no progress for {stalled.total_seconds():,.0f} s{detail_text}, the {rule} is "
        f"{in_seconds(limit)}: it is replaced"
    )
