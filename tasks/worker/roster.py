"""The tasks of one worker: started, ordered, stopped and forgotten as the overlord's lists say.

    listed, unknown ──► start (refused ones: FAILED at once)      listed, known ──► pass orders on
    known, not listed ──► stop ──thread has ended──► journal deleted, no longer reported
    ended and listed ──► reported further, until no longer listed

A task's output folder is never deleted here, because the overlord cleans it up (P23).
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from threading import Lock

import structlog

from tasks.contract.connection_policy import connection_refusal
from tasks.contract.ids import is_safe_name
from tasks.contract.messages import DesiredTask, FailureCode, KeptOrder, TaskReport
from tasks.machine.log_lines import about
from tasks.machine.machine import begin, refuse
from tasks.machine.orders import Step
from tasks.machine.state import Failure
from tasks.runtime.secrets import without_secrets
from tasks.worker.journal import Journal, JournalDamaged, JournalFolder
from tasks.worker.options import WorkerOptions
from tasks.worker.reporting.reporter import ReportedTask
from tasks.worker.reporting.reports import WorkerReports
from tasks.worker.reporting.task_logs import TaskLogs
from tasks.worker.runner import TaskRunner, World

_FORGOTTEN_MAX = 10_000


def reported(runner: TaskRunner) -> ReportedTask:
    """Return a task as its reports need it."""
    return ReportedTask(runner.desired, runner.report(), runner.started_at, runner.stages.timings())


class Roster:
    """All tasks of one incarnation of a worker; safe to call from many threads."""

    def __init__(
        self,
        options: WorkerOptions,
        world: World,
        journals: JournalFolder,
        incarnation: int,
        *,
        logs: TaskLogs | None = None,
        reports: WorkerReports | None = None,
    ) -> None:
        self._options = options
        self._world = world
        self._journals = journals
        self._logs = logs
        self._reports = reports
        self._incarnation = incarnation
        self._lock = Lock()
        self._runners: Mapping[str, TaskRunner] = {}
        """Replaced, never changed, so readers need no lock."""
        self._leaving: set[str] = set()
        self._forgotten: OrderedDict[str, None] = OrderedDict()
        self._held: set[str] | None = None
        """Kept tasks that do not run, whose journals wait; None: journals were not swept yet."""
        self._closing = False
        self.disabled = False
        """The overlord's last word: a disabled worker finishes its tasks and gets no new ones."""

    @property
    def runners(self) -> Sequence[TaskRunner]:
        """Every reported task."""
        return tuple(self._runners.values())

    def find(self, task_id: str) -> TaskRunner | None:
        """Return one task; None if this worker does not have it."""
        return self._runners.get(task_id)

    def may_write(self, task_id: str) -> bool:
        """Return whether lines may still come into a task's log.

        Of a task that an earlier life of this worker ran nobody knows before its listing.
        """
        held = self._held
        if held is None or task_id in held:
            return True
        return self._logs is not None and self._logs.is_open(task_id)

    def apply(self, desired: Sequence[DesiredTask], kept: Collection[str] = ()) -> None:
        """Take the listed tasks as the whole desired set; a repeat changes nothing.

        Tasks of `kept` go on unchanged; one that does not run keeps its journal, and waits for its
        listing.
        """
        with self._lock:
            self._reap()
            listed = {task.task_id for task in desired} | set(kept)
            held = self._journals.task_ids() if self._held is None else self._held
            for left_over in held - listed:
                self._journals.delete(left_over)
                if self._reports is not None:
                    self._reports.left_over(left_over)
            self._held = held & (set(kept) - self._runners.keys())
            for task_id in sorted(self._runners.keys() - listed - self._leaving):
                self._leaving.add(task_id)
                self._runners[task_id].stop(0)
            for task in desired:
                self._take(task)
            self._reap()

    def direct(self, orders: Sequence[KeptOrder]) -> None:
        """Pass on the newest orders for running tasks whose spec is unchanged."""
        with self._lock:
            for kept in orders:
                runner = self.find(kept.task_id)
                if runner is not None and kept.task_id not in self._leaving:
                    news = {"order": kept.order, "turn": kept.turn}
                    runner.desire(runner.desired.model_copy(update=news))

    def pass_orders_on(self, desired: Sequence[DesiredTask | KeptOrder]) -> None:
        """Pass on orders only: the one valid part of an answer that another one has overtaken."""
        for task in desired:
            if (runner := self.find(task.task_id)) is not None:
                runner.deliver_order(task.order)

    def reports(self) -> tuple[TaskReport, ...]:
        """Return the report of every task."""
        with self._lock:
            self._reap()
        return tuple(runner.report() for runner in self.runners)

    def close(self, cancel_after_s: float) -> None:
        """Stop every task, keep the journals, start no more tasks; returns at once."""
        with self._lock:
            self._closing = True
        for runner in self.runners:
            runner.stop(cancel_after_s)

    def _take(self, task: DesiredTask) -> None:
        runner = self.find(task.task_id)
        if runner is not None:
            if task.task_id not in self._leaving:
                runner.desire(task)
        elif not self._closing:
            if self._logs is not None:
                self._logs.begin(task.task_id, task.token)
            if self._reports is not None:
                self._reports.begun(task)
            runner = self._runner_of(task)
            self._runners = {**self._runners, task.task_id: runner}
            runner.start()

    def _runner_of(self, task: DesiredTask) -> TaskRunner:
        if failure := self._refusal(task):
            return self._refused(task, failure)
        try:
            journal = self._journal_of(task)
        except OSError as error:
            text = without_secrets(f"journal: {error}")
            return self._refused(task, Failure(FailureCode.WRITE_FAILED, text))
        now = self._world.monotonic()
        held = journal.held if journal else None
        state, effects = begin(task, self._incarnation, held, self._options.limits, now)
        known = self._world.notes.suspects_of(task.supervisor_id)
        return self._runner(task, journal, (replace(state, suspects=known), effects))

    def _refused(self, task: DesiredTask, failure: Failure) -> TaskRunner:
        now, limits = self._world.monotonic(), self._options.limits
        state = refuse(task, self._incarnation, limits, now, failure=failure)
        return self._runner(task, None, (state, ()))

    def _runner(self, task: DesiredTask, journal: Journal | None, first: Step) -> TaskRunner:
        return TaskRunner(task, journal, first, self._world)

    def _refusal(self, task: DesiredTask) -> Failure | None:
        names = {"task id": task.task_id, "dataSource": task.spec.data_source}
        for what, name in names.items():
            if not is_safe_name(name):
                text = f"{what} {name[:200]!r} cannot be the name of a folder"
                return Failure(FailureCode.REFUSED, text)
        if refusal := connection_refusal(self._options.connections, task.spec):
            return Failure(FailureCode.REFUSED, refusal)
        if task.task_id in self._forgotten:
            # Its file names would be used a second time in this incarnation.
            text = "this worker has stopped it on request, and deleted its journal"
            return Failure(FailureCode.JOURNAL_LOST, text)
        return None

    def _journal_of(self, task: DesiredTask) -> Journal | None:
        if not task.taken_up:
            return self._journals.create(task, self._incarnation)
        try:
            return self._journals.open(task)
        except JournalDamaged as error:
            structlog.get_logger().warning("journal lost", **about(task), why=str(error))
            return None

    def _reap(self) -> None:
        """Forget the stopped tasks whose threads have ended."""
        gone = [task_id for task_id in self._leaving if self._runners[task_id].ended]
        for task_id in gone:
            if is_safe_name(task_id):
                self._journals.delete(task_id)
            if self._reports is not None:
                self._reports.left(reported(self._runners[task_id]))
            if self._logs is not None:
                self._logs.end(task_id)
            self._leaving.discard(task_id)
            self._forgotten[task_id] = None
        while len(self._forgotten) > _FORGOTTEN_MAX:
            self._forgotten.popitem(last=False)
        if gone:
            self._runners = {k: v for k, v in self._runners.items() if k not in gone}
