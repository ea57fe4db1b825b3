"""Metrics that are read at each scrape: the lease, the loop, partitions, tasks and slots."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.services.supervisors.queries import SupervisorQueries
from supervisor.services.tasks.queries import TaskQueries
from tasks.contract.messages import TaskPhase

PARTITIONS_MAX = 200
"""The maximum of partitions of a supervisor with samples per partition; beyond it, none."""
UNREPORTED = "unreported"
"""The state of an assigned task that its worker has not reported yet."""


class LeaseCollector(Collector):
    """Metrics of this process's lease."""

    def __init__(self, leadership: Leadership) -> None:
        """Look at nothing before a scrape."""
        self._leadership = leadership

    def collect(self) -> Iterator[Metric]:
        """Yield every family; none needs the metadata database."""
        counts = self._leadership.counts
        yield GaugeMetricFamily(
            "tidegate_overlord_lease_left_seconds",
            "How long this process may lead without another renewal; 0: it does not lead.",
            value=self._leadership.seconds_left(),
        )
        renewals = CounterMetricFamily(
            "tidegate_overlord_lease_renewals_total",
            "Renewals of the lease, and looks and renewals that were not answered.",
            labels=("outcome",),
        )
        renewals.add_metric(("renewed",), counts.renewed)
        renewals.add_metric(("unanswered",), counts.unanswered)
        yield renewals
        yield CounterMetricFamily(
            "tidegate_overlord_lease_taken_total",
            "Times that this process began to lead.",
            value=counts.taken,
        )
        yield CounterMetricFamily(
            "tidegate_overlord_lease_losses_total",
            "Terms of this process that another overlord has ended.",
            value=counts.lost,
        )


class LoopCollector(Collector):
    """Metrics of the loop's backlog."""

    def __init__(self, loop: Loop) -> None:
        """Look at nothing before a scrape."""
        self._loop = loop

    def collect(self) -> Iterator[Metric]:
        """Yield both families."""
        yield GaugeMetricFamily(
            "tidegate_loop_supervisors",
            "Supervisors that this process makes passes over.",
            value=self._loop.supervisors(),
        )
        yield GaugeMetricFamily(
            "tidegate_loop_waiting_passes",
            "Passes that are due and wait for a thread.",
            value=self._loop.waiting(),
        )


class PartitionCollector(Collector):
    """The lag of each partition, from the leader's last passes."""

    def __init__(self, supervisors: SupervisorQueries) -> None:
        """Look at nothing before a scrape."""
        self._supervisors = supervisors

    def collect(self) -> Iterator[Metric]:
        """Yield every family; without samples where another overlord leads.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        each = GaugeMetricFamily(
            "tidegate_partition_lag_records",
            "Records of a partition that are not read.",
            labels=("supervisor", "topic", "partition"),
        )
        worst = GaugeMetricFamily(
            "tidegate_supervisor_partition_lag_records_max",
            "Records that are not read, of the partition that has most of them.",
            labels=("supervisor",),
        )
        number = GaugeMetricFamily(
            "tidegate_supervisor_partitions",
            "Partitions whose lag is known.",
            labels=("supervisor",),
        )
        leads = self._supervisors.leadership.leads()
        found = self._supervisors.watching.partition_lags() if leads else {}
        for supervisor_id, lags in sorted(found.items()):
            number.add_metric((supervisor_id,), len(lags))
            if lags:
                worst.add_metric((supervisor_id,), max(lags.values()))
            if len(lags) <= PARTITIONS_MAX:
                for p, lag in lags.items():
                    each.add_metric((supervisor_id, p.topic, str(p.partition)), lag)
        yield each
        yield worst
        yield number


class TaskCollector(Collector):
    """Active tasks, workers and slots, from the leader's soft state."""

    def __init__(self, tasks: TaskQueries) -> None:
        """Look at nothing before a scrape."""
        self._tasks = tasks

    def collect(self) -> Iterator[Metric]:
        """Yield every family; without samples where another overlord leads.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        tasks = GaugeMetricFamily("tidegate_tasks", "Active tasks.", labels=("state",))
        workers = GaugeMetricFamily("tidegate_workers", "Known workers.", labels=("liveness",))
        slots = GaugeMetricFamily(
            "tidegate_task_slots", "Slots of workers that may be given tasks.", labels=("state",)
        )
        if self._tasks.leadership.leads():
            views = self._tasks.registry.views()
            with self._tasks.store.reading() as tx:
                active = [(task.worker_id, task.id) for task in tx.tasks.active()]
                in_use = tx.tasks.slots_in_use()
            states = _states(active, views)
            for state in (UNREPORTED, *(phase.value.lower() for phase in TaskPhase)):
                tasks.add_metric((state,), states[state])
            lives = Counter(view.liveness for view in views)
            for liveness in Liveness:
                workers.add_metric((liveness.value.lower(),), lives[liveness])
            able = [view for view in views if view.takes_tasks]
            used = sum(in_use.get(view.id, 0) for view in able)
            slots.add_metric(("used",), used)
            slots.add_metric(("idle",), max(0, sum(view.slots for view in able) - used))
        yield tasks
        yield workers
        yield slots


def _states(active: list[tuple[str, str]], views: tuple[WorkerView, ...]) -> Counter[str]:
    """Return state -> number of active tasks; `active` has (worker, task)."""
    phases = {
        (view.id, task_id): report.phase.value.lower()
        for view in views
        for task_id, report in view.reports.items()
    }
    return Counter(phases.get(task, UNREPORTED) for task in active)
