"""Which tasks have to be ended, whatever their generation does next."""

from collections.abc import Iterator

from supervisor.core.actions import EndTask
from supervisor.core.model import Liveness
from supervisor.core.view import View
from tasks.contract import TaskPhase


def settle_tasks(view: View) -> Iterator[EndTask]:
    """End tasks that failed, whose worker is lost, or whose generation has ended."""
    live = {g.id for g in view.seen.generations}
    for task in view.seen.tasks:
        replica = view.replica(task)
        if task.generation_id not in live:
            yield EndTask(task.id, succeeded=True, why="its generation has ended")
        elif replica.report is not None and replica.report.phase is TaskPhase.FAILED:
            code = replica.report.failure or "FAILED"
            yield EndTask(task.id, succeeded=False, why=f"{code}: {replica.report.detail}")
        elif replica.liveness is Liveness.LOST:
            why = f"worker {task.worker_id} is lost"
            yield EndTask(task.id, succeeded=False, why=why, lost=True)
