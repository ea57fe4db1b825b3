"""Soft state of the workers: liveness and last reports (P4, P6).

One round of syncs refills it after a change of leader, so none of it is stored.  A silent worker is
UNKNOWN and keeps its tasks.  It is LOST when `worker_timeout` has passed, on this process's
monotonic clock, since the later of its last sync and the start of the present term.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.history.rates import rates
from supervisor.core.history.task_histories import TaskHistories, rows_per_second
from supervisor.core.model.rows import Task, WorkerRow
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.planning.wake_condition import WakeCondition
from supervisor.ports.clock import Clock
from tasks.contract.messages import CompactionReport, SyncRequest, TaskReport
from tasks.contract.worker_facts import WorkerFacts

ALIVE_WITHIN_S = 5.0
"""Seconds after its last report until a worker is UNKNOWN; it reports every second."""


@dataclass
class _Heard:
    row: WorkerRow
    known_at: float
    """When this leader first knew the incarnation."""
    sequence: int = -1
    heard_at: float | None = None
    """By the monotonic clock."""
    heard_on: datetime | None = None
    """The same by the wall clock, for people."""
    stopping: bool = False
    previous_end: str = ""
    reports: Mapping[str, TaskReport] | None = None
    compactions: Mapping[str, CompactionReport] = field(default_factory=dict)
    facts: WorkerFacts | None = None
    started_at: datetime | None = None


class WorkerRegistry:
    """Keeps the last report of every worker; implements `ports.Workers`."""

    def __init__(
        self, clock: Clock, *, worker_timeout: timedelta, led_since: Callable[[], float]
    ) -> None:
        self._clock = clock
        self._timeout_s = worker_timeout.total_seconds()
        self._led_since = led_since
        self._lock = threading.Lock()
        self._heard: dict[str, _Heard] = {}
        self._disabled: set[str] = set()
        """Disabled workers, as stored: every change in this term is applied here as well."""
        self._unheard: dict[str, set[str]] = {}
        """Worker -> the tasks that this leader gave to it in `_unheard_in`, and never listed."""
        self._unheard_in = 0
        self._watched: dict[str, Mapping[str, WakeCondition]] = {}
        """Supervisor -> the wake conditions of its last `watch`."""
        self._milestones: dict[str, WakeCondition] = {}
        """Task -> its wake condition, of all supervisors."""
        self._histories = TaskHistories()

    def led_for(self) -> timedelta:
        """Return how long this overlord has led without a lapse; zero: it does not lead."""
        return timedelta(seconds=max(0.0, self._clock.monotonic() - self._led_since()))

    def known_incarnation(self, worker_id: str) -> int | None:
        """Return the incarnation whose syncs are accepted; None: it is not registered here."""
        with self._lock:
            heard = self._heard.get(worker_id)
            return None if heard is None else heard.row.incarnation

    def registered(self, row: WorkerRow) -> None:
        """Record a registration; a new incarnation starts without reports."""
        with self._lock:
            heard = self._heard.get(row.id)
            if heard is None or heard.row.incarnation < row.incarnation:
                self._end_tasks(heard)
                self._heard[row.id] = _Heard(row, self._clock.monotonic())
            elif heard.row.incarnation == row.incarnation:  # a repeated registration
                heard.row = row

    def reset(self, rows: list[WorkerRow]) -> None:
        """Start a term: every registered worker is UNKNOWN until its first sync."""
        now = self._clock.monotonic()
        with self._lock:
            self._heard = {row.id: _Heard(row, now) for row in rows}
            self._disabled = {row.id for row in rows if row.disabled}
            self._watched, self._milestones = {}, {}
            self._histories.clear()

    def starts(self, task_id: str, worker_id: str, term: int) -> None:
        """Record a new task of a worker, before its row is stored in `term`."""
        with self._lock:
            if term > self._unheard_in:
                self._unheard, self._unheard_in = {}, term
            if term == self._unheard_in:
                self._unheard.setdefault(worker_id, set()).add(task_id)

    def listed(self, worker_id: str, task_ids: Iterable[str]) -> None:
        """Record which tasks a worker hears of, before it does."""
        with self._lock:
            self._unheard.get(worker_id, set()).difference_update(task_ids)

    def unheard(self, worker_id: str, term: int) -> frozenset[str]:
        """Return tasks of a worker that it cannot have heard of, as far as is known in `term`.

        Never one of an earlier term: another leader may have listed it.
        """
        with self._lock:
            known = self._unheard.get(worker_id, ()) if term == self._unheard_in else ()
            return frozenset(known)

    def set_disabled(self, worker_id: str, *, disabled: bool) -> None:
        """Record that an operator has disabled or enabled a worker."""
        with self._lock:
            (self._disabled.add if disabled else self._disabled.discard)(worker_id)

    def forget(self, worker_id: str) -> None:
        """Forget a worker whose row was deleted; if it comes back, it registers anew."""
        with self._lock:
            self._end_tasks(self._heard.pop(worker_id, None))
            self._unheard.pop(worker_id, None)
            self._disabled.discard(worker_id)

    def watch(self, supervisor_id: str, milestones: Mapping[str, WakeCondition]) -> None:
        """Set the wake conditions of a supervisor's tasks, in place of its earlier ones."""
        with self._lock:
            for task_id in self._watched.pop(supervisor_id, {}):
                self._milestones.pop(task_id, None)
            if milestones:
                self._watched[supervisor_id] = milestones
                self._milestones.update(milestones)

    def reads(self, supervisor_id: str, tasks: Sequence[Task]) -> None:
        """Record the active tasks of a supervisor."""
        with self._lock:
            self._histories.reads(supervisor_id, tasks)

    def record(self, request: SyncRequest) -> set[str]:
        """Store a worker's report; return the tasks whose phase, order or wake condition is news.

        A request that a later one has overtaken counts only as a sign of life.
        """
        with self._lock:
            heard = self._heard.get(request.worker_id)
            if heard is None or request.incarnation != heard.row.incarnation:
                return set()  # after a reset, or of an older incarnation: its next sync registers
            heard.heard_at, heard.heard_on = self._clock.monotonic(), self._clock.now()
            if request.sequence <= heard.sequence:
                return set()
            heard.sequence = request.sequence
            heard.stopping = request.stopping
            heard.previous_end = request.previous_end
            before = heard.reports or {}
            heard.reports = {report.task_id: report for report in request.tasks}
            heard.compactions = {each.compaction_id: each for each in request.compactions}
            gone = before.keys() - heard.reports.keys()
            self._histories.record(heard.reports, heard.heard_at)
            self._histories.end(gone, heard.heard_at)
            news = {
                task_id
                for task_id, report in heard.reports.items()
                if _is_news(report, before.get(task_id)) or self._is_far(report)
            }
            return news | gone

    def describe(self, worker_id: str, incarnation: int, facts: WorkerFacts) -> None:
        """Store what an incarnation says of its process; of any other incarnation, nothing."""
        began = self._clock.now() - facts.running_for
        with self._lock:
            heard = self._heard.get(worker_id)
            if heard is None or heard.row.incarnation != incarnation:
                return
            if heard.started_at is None:  # later readings of two clocks would let it wander
                heard.started_at = began
            heard.facts = facts

    def _is_far(self, report: TaskReport) -> bool:
        """Whether the wake condition is met, newly or not: a report may precede the condition."""
        milestone = self._milestones.get(report.task_id)
        return milestone is not None and milestone.is_reached(report)

    def views(self) -> tuple[WorkerView, ...]:
        """Return every registered worker with its liveness and last reports, by id."""
        now = self._clock.monotonic()
        with self._lock:
            return tuple(
                WorkerView(
                    id=worker_id,
                    incarnation=heard.row.incarnation,
                    liveness=self._liveness(heard, now),
                    slots=heard.row.slots,
                    stopping=heard.stopping,
                    previous_end=heard.previous_end,
                    known_for=timedelta(seconds=now - heard.known_at),
                    reports=dict(heard.reports or {}),
                    compactions=heard.compactions,
                    heard_at=heard.heard_on,
                    disabled=worker_id in self._disabled,
                    facts=heard.facts,
                    started_at=heard.started_at,
                )
                for worker_id, heard in sorted(self._heard.items())
            )

    def report(self, worker_id: str, task_id: str) -> TaskReport | None:
        """Return the last report of a task to this leader."""
        with self._lock:
            heard = self._heard.get(worker_id)
            return None if heard is None else (heard.reports or {}).get(task_id)

    def rates(self, task_id: str) -> dict[str, dict[str, float]]:
        """Return window -> counter -> growth per second, as far as this leader has seen it."""
        now = self._clock.monotonic()
        with self._lock:
            history = self._histories.series(task_id)
        return rates(history, now)

    def rows_per_second(self) -> dict[str, float | None]:
        """Return supervisor -> rows per second over the last minute, of those with tasks.

        None: this leader has not seen enough of them.
        """
        now = self._clock.monotonic()
        with self._lock:
            readers = self._histories.readers()
        return rows_per_second(readers, now)

    def _end_tasks(self, heard: _Heard | None) -> None:
        """Record that nobody reports the tasks of an incarnation any more."""
        if heard is not None:
            self._histories.end(heard.reports or {}, self._clock.monotonic())

    def _liveness(self, heard: _Heard, now: float) -> Liveness:
        last = max(heard.heard_at or 0.0, self._led_since())
        if heard.heard_at is not None and now - heard.heard_at <= ALIVE_WITHIN_S:
            return Liveness.ALIVE
        return Liveness.UNKNOWN if now - last < self._timeout_s else Liveness.LOST


def _is_news(report: TaskReport, before: TaskReport | None) -> bool:
    """Whether a report may change a plan; counters alone do not wake the loop."""
    if report is before:  # the worker has repeated itself
        return False
    return before is None or _gist(report) != _gist(before)


def _gist(report: TaskReport) -> tuple[object, ...]:
    """Return the parts of a report that may change a plan."""
    return report.phase, report.order_term, report.order_sequence, report.failure
