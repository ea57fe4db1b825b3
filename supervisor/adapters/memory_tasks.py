"""Tasks in memory: the same rules as `metadata/tasks.py`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from supervisor.adapters.memory_rows import Tables
from supervisor.core.errors import StateMoved
from supervisor.core.happenings import task_ended, task_started
from supervisor.core.intervals import Interval
from supervisor.core.model import Task, TaskStatus, TaskTotals
from supervisor.ports_happenings import Tell
from tasks.contract import PublishOutcome


class MemoryTasks:
    """See `ports.Tasks`."""

    def __init__(self, tables: Tables, tell: Tell) -> None:
        self._tell = tell
        self._tables = tables

    def start(self, task: Task) -> bool:
        """Insert an active task; False, changing nothing, if its id exists.

        Raises:
            StateMoved: the (generation, replica) has another active task.
        """
        assert task.active, "a task begins RUNNING"
        if task.id in self._tables.tasks:
            return False
        assert self._generation_exists(task.generation_id), "a task belongs to a generation"
        for other in self.of_generations([task.generation_id]):
            if other.active and other.replica == task.replica:
                raise StateMoved(
                    f"{task.id} cannot start: {other.id} is the active task of replica "
                    f"{task.replica} of {task.generation_id}"
                )
        self._tables.tasks.put(task.id, task)
        self._tables.active.put(task.id, None)
        before = self._tables.attempts.get_row(task.generation_id) or ()
        self._tables.attempts.put(task.generation_id, (*before, task.id))
        self._tell(task_started(task))
        return True

    def get(self, task_id: str) -> Task | None:
        """Return one."""
        return self._tables.tasks.get_row(task_id)

    def active(self, supervisor_id: str | None = None, worker_id: str | None = None) -> list[Task]:
        """Return active tasks, of one supervisor or worker or of all, by id."""
        return _by_id(
            task
            for task in map(self._tables.tasks.__getitem__, self._tables.active)
            if supervisor_id in {None, task.supervisor_id} and worker_id in {None, task.worker_id}
        )

    def last_attempts(self, generation_ids: Sequence[str]) -> dict[tuple[str, int], Task]:
        """Return (generation, replica) -> the ended task with the highest attempt."""
        ended = [task for task in self.of_generations(generation_ids) if not task.active]
        ended.sort(key=lambda task: task.attempt)
        return {(task.generation_id, task.replica): task for task in ended}

    def of_generations(self, generation_ids: Sequence[str]) -> list[Task]:
        """Return every task of these generations, by id."""
        return _by_id(
            self._tables.tasks[task_id]
            for generation_id in set(generation_ids)
            for task_id in self._tables.attempts.get_row(generation_id) or ()
        )

    def find(
        self,
        *,
        status: TaskStatus | None = None,
        data_source: str | None = None,
        supervisor_id: str | None = None,
        created: Interval | None = None,
        limit: int = 100,
    ) -> list[Task]:
        """Return tasks, newest first; `created` bounds when their rows were made."""
        found = [
            task
            for task in self._tables.tasks.values()
            if status in {None, task.status}
            and data_source in {None, task.data_source}
            and supervisor_id in {None, task.supervisor_id}
            and (created is None or created.holds(task.created_at))
        ]
        found.sort(key=lambda task: (task.created_at, task.id), reverse=True)
        return found[:limit]

    def slots_in_use(self) -> dict[str, int]:
        """Return worker -> its active tasks whose generation's end is not fixed; see the port."""
        live = self._tables.live
        used = Counter(
            task.worker_id
            for task in self.active()
            if task.generation_id in live and live[task.generation_id].open
        )
        return dict(sorted(used.items()))

    def end(
        self,
        task_id: str,
        status: TaskStatus,
        reason: str,
        now: datetime,
        *,
        lost: bool = False,
        totals: TaskTotals | None = None,
    ) -> bool:
        """RUNNING -> `status`.  False: it had ended already, and keeps its status."""
        assert status is not TaskStatus.RUNNING, "a task ends in SUCCESS or FAILED"
        task = self.get(task_id)
        if task is None or not task.active:
            return False
        ended = replace(task, status=status, reason=reason, ended_at=now, lost=lost, totals=totals)
        self._put(ended)
        self._tables.active.drop(task_id)
        self._tell(task_ended(ended, now))
        return True

    def store_outcome(self, task_id: str, outcome: PublishOutcome, *, published: bool) -> None:
        """Keep the final answer to its publish request."""
        self._put(replace(self._known(task_id), outcome=outcome, published=published))

    def take_up(self, worker_id: str, incarnation: int, tokens: Mapping[str, str]) -> None:
        """Give active tasks of a worker to its new incarnation, each with a new token (P7).

        `tokens` maps task id -> token; other tasks, and those of a newer incarnation, stay.
        """
        for task in self.active(worker_id=worker_id):
            if task.id in tokens and task.incarnation < incarnation:
                token = tokens[task.id]
                self._put(replace(task, incarnation=incarnation, token=token, taken_up=True))

    def failures_in_a_row(self, supervisor_id: str) -> int:
        """Return how many failed by themselves since the last success, by the time they ended."""
        ended = [
            (task.ended_at, task.status)
            for task in self._tables.tasks.values()
            if task.supervisor_id == supervisor_id and task.ended_at is not None and not task.lost
        ]
        success = max((at for at, status in ended if status is TaskStatus.SUCCESS), default=None)
        return sum(
            status is TaskStatus.FAILED and (success is None or at > success)
            for at, status in ended
        )

    def last_ended(self, supervisor_id: str, limit: int) -> list[Task]:
        """Return the last tasks that ended by themselves, not lost, newest first."""
        ended = [
            (task.ended_at, task.id, task)
            for task in self._tables.tasks.values()
            if task.supervisor_id == supervisor_id and task.ended_at is not None and not task.lost
        ]
        return [task for _, _, task in sorted(ended, reverse=True)[:limit]]

    def failed_attempts(self, generation_ids: Sequence[str]) -> dict[str, int]:
        """Return generation -> its tasks that failed by themselves, not lost; none: left out."""
        failed = Counter(
            task.generation_id
            for task in self.of_generations(generation_ids)
            if task.status is TaskStatus.FAILED and not task.lost
        )
        return dict(failed)

    def rows_of(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """Return id -> task, for those that there are."""
        known = self._tables.tasks
        return {task_id: known[task_id] for task_id in sorted(set(task_ids) & known.keys())}

    def folder_deleted(self, task_id: str, now: datetime) -> None:
        """Record that the output folder was found empty for good."""
        self._put(replace(self._known(task_id), folder_deleted_at=now))

    def unsettled_folders(self) -> list[Task]:
        """Return ended tasks whose folders may hold what nothing names, STALE ones too, by id."""
        return _by_id(
            task
            for task in self._tables.tasks.values()
            if not task.active and task.folder_deleted_at is None
        )

    def _known(self, task_id: str) -> Task:
        task = self.get(task_id)
        assert task is not None, f"there is no task {task_id}"
        return task

    def _put(self, task: Task) -> None:
        self._tables.tasks.put(task.id, task)

    def _generation_exists(self, generation_id: str) -> bool:
        return generation_id in self._tables.live or generation_id in self._tables.ended


def _by_id(found: Iterable[Task]) -> list[Task]:
    return sorted(found, key=lambda task: task.id)
