"""What a list of tasks may be asked for, and the place at which its next page goes on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.model.rows import Task, TaskStatus

LOOKED_AT = 10_000
"""Tasks that are looked at for one page; a page with fewer rows than wanted says where to go on."""
BEHIND_ALL = "~"
"""Behind every id of a task, in the order of the database."""


@dataclass(frozen=True)
class TaskQuery:
    """The tasks that are wanted; None: all of them.  Each condition has to hold."""

    tables: tuple[str, ...] | None = None
    """Patterns of the tables that may be shown; `*` stands for any signs."""
    supervisor_id: str | None = None
    generation_id: str | None = None
    group: int | None = None
    worker_id: str | None = None
    status: TaskStatus | None = None
    own_failure: bool = False
    """Only tasks that have failed by themselves: not those that were lost with their worker."""
    text: str | None = None
    """A part of the id, the worker's id or the reason, in upper or lower case."""

    def shows_text(self, task: Task) -> bool:
        """Tell whether the text is in what is shown of a task.

        A release before this one stored secrets in reasons, which are masked when they are read:
        nobody may find out a secret by searching for its parts.
        """
        part = "" if self.text is None else self.text.lower()
        return any(part in shown.lower() for shown in (task.id, task.worker_id, task.reason))


@dataclass(frozen=True)
class TaskPlace:
    """A place in the list of tasks, newest first: behind a time, and an id of that time."""

    created_at: datetime
    task_id: str


@dataclass(frozen=True)
class FoundTasks:
    """One page of tasks, newest first."""

    tasks: Sequence[Task]
    following: TaskPlace | None
    """Where the next page goes on; None: there is no more."""


def place_behind(
    shown: Sequence[Task], looked_up_to: datetime, before: TaskPlace | None
) -> TaskPlace | None:
    """Return the place behind all that was looked at, which names no task that was not shown.

    Tasks of the last time that were looked at, and not wanted, are looked at once more.  None: the
    list would stay where it is, because all that was looked at is of one time.
    """
    last = shown[-1].id if shown and shown[-1].created_at == looked_up_to else BEHIND_ALL
    if before is not None and before.created_at == looked_up_to:
        last = min(last, before.task_id)
    place = TaskPlace(looked_up_to, last)
    return None if place == before else place
