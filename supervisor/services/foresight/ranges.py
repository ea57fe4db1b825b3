"""Dry runs of the verbs that end ranges or tasks; each verb is judged in its own transaction.

Rows are read by a fixed number of statements.  How far tasks have read is known from their last
reports to this leader; no worker and no topic is asked.
"""

from collections.abc import Callable, Mapping, Sequence
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
from supervisor.core.planning.preconditions import WHATEVER, AnyVersion, Expected, is_ended
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import AlreadyInState, SpecUnreadable, TaskNotFound
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from supervisor.services.foresight.expected import hold_against
from supervisor.services.foresight.leaders_view import leaders_view
from supervisor.services.supervisors.admission import (
    Judge,
    LiveRows,
    existing_stored,
    live_rows,
    live_rows_of_each,
    number_after,
    suspension,
    with_suspension,
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
_AT_ONCE = 5_000
"""Ranges whose tasks are read by one statement: databases bound the parameters of one."""


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
            newest, wanted = _wanted(tx, verb, supervisor_id, expected)
            version, change = self._next(newest, wanted), judge_change(newest, wanted)
            impact = self.service.on_rows(live_rows(tx, version), change, version)
            return _VERBS[verb](supervisor_id, impact, self._live(tx, supervisor_id))

    def of_every(self, verb: OperationKind) -> tuple[list[Foreseen], list[str]]:
        """Return as `of_version` for each supervisor that it changes, by id, in few statements.

        Also returns the ids of those that it leaves alone, since their specs cannot be read here.

        Raises:
            LeaseLost: this overlord does not lead.
        """
        items, unreadable = list[Foreseen](), list[str]()
        with leaders_view(self.store, self.leadership) as tx:
            present = [each for each in tx.specs.newest_or_unreadable() if not is_ended(each)]
            rows = live_rows_of_each(tx, [each.supervisor_id for each in present])
            held = self._held_of_each(tx, rows)
            for newest in present:
                supervisor_id = newest.supervisor_id
                try:
                    wanted = _spec_behind(verb, newest)
                except AlreadyInState:
                    continue
                except SpecUnreadable:
                    unreadable.append(supervisor_id)
                    continue
                version = self._next(newest, wanted)
                change = judge_change(newest, wanted)
                impact = self.service.on_rows(rows[supervisor_id], change, version)
                items.append(_VERBS[verb](supervisor_id, impact, held[supervisor_id]))
        return items, unreadable

    def _next(self, newest: AnyVersion, wanted: SupervisorSpec | None) -> SpecVersion:
        number, now = number_after(newest), self.clock.now()
        return SpecVersion(newest.supervisor_id, number, now, wanted)

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
        return LiveRanges(*self._tasks_of(tx, live), self._silent())

    def _held_of_each(self, tx: Transaction, rows: Mapping[str, LiveRows]) -> dict[str, LiveRanges]:
        """Return as `_live` of each supervisor; the tasks of all are read at once."""
        held: dict[str, list[HeldRange]] = {supervisor_id: [] for supervisor_id in rows}
        every = [generation for each in rows.values() for generation in each.live]
        tried = set[str]()
        for first in range(0, len(every), _AT_ONCE):
            some, ended = self._tasks_of(tx, every[first : first + _AT_ONCE])
            tried |= ended
            for each in some:
                held[each.generation.supervisor_id].append(each)
        silent, ended_ones = self._silent(), frozenset(tried)
        return {
            supervisor_id: LiveRanges(tuple(mine), ended_ones, silent)
            for supervisor_id, mine in held.items()
        }

    def _tasks_of(
        self, tx: Transaction, live: Sequence[Generation]
    ) -> tuple[tuple[HeldRange, ...], frozenset[str]]:
        """Return what the tasks of ranges hold, and the ids of ranges of which a task has ended."""
        by_id = {generation.id: generation for generation in live}
        tasks = tx.tasks.of_generations(list(by_id), active=True)
        tried = frozenset(found for found, _ in tx.tasks.last_attempts(list(by_id)))
        return tuple(self._held(task, by_id[task.generation_id]) for task in tasks), tried

    def _silent(self) -> dict[str, str]:
        return {
            view.id: str(view.liveness)
            for view in self.registry.views()
            if view.liveness is not Liveness.ALIVE
        }

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


def _spec_behind(verb: OperationKind, newest: AnyVersion) -> SupervisorSpec | None:
    """Return the spec that the verb stores behind a version that is no tombstone.

    Raises:
        AlreadyInState: the supervisor is as it should become.
        SpecUnreadable: this release cannot read the version, and the verb needs its spec.
    """
    if verb is OperationKind.TERMINATE:
        return None
    if isinstance(newest, SpecUnreadable):
        raise newest
    assert newest.spec is not None, "no tombstone"
    suspended = verb is OperationKind.SUSPEND
    return with_suspension(newest.supervisor_id, newest.spec, suspended=suspended)
