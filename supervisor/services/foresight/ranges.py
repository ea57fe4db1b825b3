"""Dry runs of the verbs that end ranges or tasks; each verb is judged in its own transaction.

Rows are read by a fixed number of statements.  How far tasks have read is known from their last
reports to this leader; no worker and no topic is asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from supervisor.control.leadership import Leadership
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.attention.foreseen.effect import Foreseen, HeldRange
from supervisor.core.attention.foreseen.ranges import (
    LiveRanges,
    handoff_foreseen,
    resume_foreseen,
    stop_foreseen,
    suspend_foreseen,
    terminate_foreseen,
)
from supervisor.core.history.operations import OperationKind
from supervisor.core.model.rows import Generation, SpecVersion, Task
from supervisor.core.planning.impact import SpecImpact, judge_change
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.preconditions import WHATEVER, AnyVersion, Expected
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import TaskNotFound
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from supervisor.services.foresight.expected import hold_against
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.supervisors.admission import (
    Judge,
    existing_stored,
    number_after,
    suspension,
)
from supervisor.services.supervisors.handoff import MeantRanges, meant_by
from supervisor.services.supervisors.specs import Service
from supervisor.services.tasks.stop_task import running_of

_ByImpact = Callable[[str, SpecImpact, LiveRanges], Foreseen]
_VERBS: dict[OperationKind, _ByImpact] = {
    OperationKind.SUSPEND: suspend_foreseen,
    OperationKind.RESUME: resume_foreseen,
    OperationKind.TERMINATE: terminate_foreseen,
}
STOP, STOP_ALL = "stop-task", "stop-all-tasks"


@dataclass(frozen=True)
class RangeForesight:
    """Dry runs of verbs on supervisors and tasks; one instance per process."""

    store: Store
    clock: Clock
    leadership: Leadership
    registry: WorkerRegistry
    service: Service

    def of_version(
        self, verb: OperationKind, supervisor_id: str, expected: Expected = WHATEVER
    ) -> Foreseen:
        """Return what suspending, resuming or terminating does; raises as the verb does."""
        with leaders_view(self.store, self.leadership) as tx:
            return self.version_in(tx, verb, supervisor_id, expected)

    def version_in(
        self,
        tx: Transaction,
        verb: OperationKind,
        supervisor_id: str,
        expected: Expected = WHATEVER,
    ) -> Foreseen:
        """Return as `of_version`, by a view that the caller has opened as the leader."""
        newest, wanted = _wanted(tx, verb, supervisor_id, expected)
        number, now = number_after(newest), self.clock.now()
        version = SpecVersion(supervisor_id, number, now, wanted)
        impact = self.service.on_rows(tx, judge_change(newest, wanted), version)
        return _VERBS[verb](supervisor_id, impact, self._live(tx, supervisor_id))

    def judge_version(self, verb: OperationKind, supervisor_id: str, expect: str | None) -> Judge:
        """Return what holds a verb against the preview that its caller has read."""

        def judge(tx: Transaction, impact: SpecImpact) -> None:
            if expect is not None:
                live = self._live(tx, supervisor_id)
                hold_against(expect, _VERBS[verb](supervisor_id, impact, live))

        return judge

    def of_handoff(self, supervisor_id: str, groups: Sequence[int] | None) -> Foreseen:
        """Return what handing off groups does; None: all.  Raises as the verb does."""
        with leaders_view(self.store, self.leadership) as tx:
            meant = meant_by(tx, supervisor_id, groups)
            return self._handed_off(tx, supervisor_id, meant)

    def judge_handoff(
        self, supervisor_id: str, expect: str | None
    ) -> Callable[[Transaction, MeantRanges], None]:
        """Return what holds a handoff against the preview that its caller has read."""

        def judge(tx: Transaction, meant: MeantRanges) -> None:
            if expect is not None:
                hold_against(expect, self._handed_off(tx, supervisor_id, meant))

        return judge

    def _handed_off(self, tx: Transaction, supervisor_id: str, meant: MeantRanges) -> Foreseen:
        live = self._live(tx, supervisor_id, meant.live)
        return handoff_foreseen(supervisor_id, meant.ranges, meant.live, live)

    def of_task(self, task_id: str) -> Foreseen:
        """Return what ending a task does.

        Raises:
            TaskNotFound: there is no such task.
            LeaseLost: this overlord does not lead.
        """
        with leaders_view(self.store, self.leadership) as tx:
            task = tx.tasks.get(task_id)
            if task is None:
                raise TaskNotFound(task_id)
            return self._stopped(tx, STOP, task_id, [task])

    def judge_task(self, expect: str | None) -> Callable[[Transaction, Task], None]:
        """Return what holds the end of a task against the preview that its caller has read."""

        def judge(tx: Transaction, task: Task) -> None:
            if expect is not None:
                hold_against(expect, self._stopped(tx, STOP, task.id, [task]))

        return judge

    def of_tasks(self, data_source: str) -> Foreseen:
        """Return what ending the tasks of a table does.

        Raises:
            DataSourceNotFound: no supervisor feeds the table, and none ever did.
            LeaseLost: this overlord does not lead.
        """
        with leaders_view(self.store, self.leadership) as tx:
            return self._stopped(tx, STOP_ALL, data_source, running_of(tx, data_source))

    def judge_tasks(
        self, data_source: str, expect: str | None
    ) -> Callable[[Transaction, Sequence[Task]], None]:
        """Return what holds the end of tasks against the preview that their caller has read."""

        def judge(tx: Transaction, tasks: Sequence[Task]) -> None:
            if expect is not None:
                hold_against(expect, self._stopped(tx, STOP_ALL, data_source, tasks))

        return judge

    def _stopped(self, tx: Transaction, verb: str, subject: str, tasks: Sequence[Task]) -> Foreseen:
        running = [task for task in tasks if task.active]
        every: list[HeldRange] = []
        for supervisor_id in sorted({task.supervisor_id for task in running}):
            every += self._live(tx, supervisor_id).tasks
        ids = {task.id for task in running}
        ranges = {held.generation.id for held in every if held.task.id in ids}
        stopped = [held for held in every if held.task.id in ids]
        beside = [held for held in every if held.generation.id in ranges]
        return stop_foreseen(verb, subject, stopped, beside)

    def _live(
        self, tx: Transaction, supervisor_id: str, live: Sequence[Generation] | None = None
    ) -> LiveRanges:
        if live is None:
            live = tx.generations.live(supervisor_id)
        by_id = {generation.id: generation for generation in live}
        tasks = tx.tasks.of_generations(list(by_id), active=True)
        tried = frozenset(found for found, _ in tx.tasks.last_attempts(list(by_id)))
        silent = {
            view.id: str(view.liveness)
            for view in self.registry.views()
            if view.liveness is not Liveness.ALIVE
        }
        held = (self._held(task, by_id[task.generation_id]) for task in tasks)
        return LiveRanges(tuple(held), tried, silent)

    def _held(self, task: Task, generation: Generation) -> HeldRange:
        report = self.registry.report(task.worker_id, task.id)
        return HeldRange(task, generation, None if report is None else report.position)


def _wanted(
    tx: Transaction, verb: OperationKind, supervisor_id: str, expected: Expected
) -> tuple[AnyVersion, SupervisorSpec | None]:
    """Return the newest version, and the spec that the verb stores behind it."""
    if verb is OperationKind.TERMINATE:
        newest = existing_stored(tx, supervisor_id)
        expected.check(supervisor_id, newest)
        return newest, None
    suspended = verb is OperationKind.SUSPEND
    return suspension(tx, supervisor_id, expected, suspended=suspended)
