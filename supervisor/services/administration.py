"""What people do with tasks and workers beside supervising them, wired from what the views have."""

from dataclasses import dataclass

from supervisor.control.end_task import TaskEnder
from supervisor.control.wakeups import Wakeups
from supervisor.ports.task_logs import LogSource
from supervisor.services.queries import Views
from supervisor.services.tasks.stop_task import TaskStops
from supervisor.services.tasks.task_logs import TaskLogViews
from supervisor.services.tasks.task_reports import TaskReportViews
from supervisor.services.tasks.workers import WorkerAdmin


@dataclass(frozen=True)
class Administration:
    """The verbs; one instance per process."""

    tasks: TaskStops
    logs: TaskLogViews
    reports: TaskReportViews
    workers: WorkerAdmin

    @classmethod
    def of(
        cls, views: Views, changed: Wakeups, endings: TaskEnder, logs: LogSource
    ) -> "Administration":
        """Wire the verbs over the same rows and the same loop."""
        store, clock = views.sources.store, views.clock
        return cls(
            tasks=TaskStops(store, clock, views.leadership, views.loop, changed, endings),
            logs=TaskLogViews(store, logs),
            reports=TaskReportViews(store, views.registry, views.leadership, clock),
            workers=WorkerAdmin(
                store, clock, views.leadership, views.registry, views.loop, changed
            ),
        )
