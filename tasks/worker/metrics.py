"""Counters and histograms of a worker, for scrapers; no decision reads them.

    the task's thread ── each effect, its seconds ──┐
    each step of a task: (state, event, state) ─────┼──► counters and histograms ──► /metrics
    each sync ──────────────────────────────────────┘

They begin at zero with each process.  A task is never a label.
"""

from collections.abc import Iterator
from time import monotonic

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric
from prometheus_client.registry import Collector

from tasks.contract.messages import DesiredTask, RunState, TaskPhase
from tasks.machine.events import (
    Answered,
    Append,
    Discard,
    DropTail,
    Effect,
    Event,
    JobDropped,
    Journaled,
    Look,
    LookFailed,
    Merge,
    Merged,
    Publish,
    ReadBatch,
    RecordEnd,
    TailDropped,
    Unanswered,
    Unwritten,
)
from tasks.machine.state import TaskState
from tasks.ports import JournalEntry
from tasks.runtime.label_names import OTHERS, LabelNames

STEPS: dict[type, str] = {
    Look: "look",
    ReadBatch: "read",
    Append: "journal",
    RecordEnd: "journal",
    DropTail: "drop",
    Discard: "drop",
    Merge: "merge",
    Publish: "publish",
}
COMPACT = "compact"
DONE, CANCELLED, FAILED = "done", "cancelled", "failed"
UNANSWERED = "unanswered"

_TIMES_S = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)
_COUNTED = ("processed", "processed_with_error", "unparseable", "thrown_away")


class WorkerMeters(Collector):
    """All counters and histograms of one worker; every method may be called from any thread."""

    def __init__(self) -> None:
        own = self._own = CollectorRegistry()
        self._names = LabelNames()
        of = ("supervisor", "table")
        self.records = _counter(own, "records", "Records of journaled batches.", *of, "outcome")
        self.rejected = _counter(own, "rejected", "Records that became no row.", *of, "reason")
        self.read_bytes = _counter(own, "read_bytes", "Size of those records.", *of)
        self.written_bytes = _counter(own, "written_bytes", "Files that were written.", "stage")
        self.answers = _counter(own, "publish_answers", "Answers to publish requests.", "outcome")
        self.ended = _counter(own, "tasks_ended", "Tasks that ended here.", "status", "code")
        self.steps = _times(own, "step", "Steps of tasks.", "step", "outcome")
        self.pausing = _times(own, "pausing", "From the order to pause until a task has paused.")
        self.paused = _times(own, "paused", "How long tasks stayed paused.")
        self._syncs = _counter(own, "syncs", "Exchanges with an overlord.", "outcome")
        self._heard_at: float | None = None

    def collect(self) -> Iterator[Metric]:
        """Yield every family, without `_created` samples."""
        for family in self._own.collect():
            family.samples = [s for s in family.samples if not s.name.endswith("_created")]
            yield family

    def task(self, task: DesiredTask) -> "TaskMeter":
        """Return the meter of one task."""
        return TaskMeter(self, self.labels(task))

    def labels(self, task: DesiredTask) -> tuple[str, str]:
        """Return a task's supervisor and table, as labels."""
        name = self._names.label(task.supervisor_id)
        return (OTHERS, OTHERS) if name == OTHERS else (name, task.spec.data_source)

    def compacted(self, outcome: str, seconds: float) -> None:
        """Record the outcome and duration of a compaction's rewriting."""
        self.steps.labels(COMPACT, outcome).observe(seconds)

    def synced(self, outcome: str) -> None:
        """Count a sync by its outcome: done, unanswered, fenced or failed."""
        self._syncs.labels(outcome).inc()
        if outcome == DONE:
            self._heard_at = monotonic()

    @property
    def silent_s(self) -> float | None:
        """Seconds since an overlord last answered; None: none ever has."""
        return None if self._heard_at is None else monotonic() - self._heard_at


class TaskMeter:
    """Meter of one task; `stepped` is called under the task's lock."""

    def __init__(self, meters: WorkerMeters, labels: tuple[str, str]) -> None:
        self._meters = meters
        self._labels = labels
        self._pause_ordered_at: float | None = None
        self._paused_at: float | None = None

    def took(self, effect: Effect, outcome: str, seconds: float) -> None:
        """Record the outcome and duration of an effect."""
        if (step := STEPS.get(type(effect))) is not None:
            self._meters.steps.labels(step, outcome).observe(seconds)

    def stepped(self, before: TaskState, event: Event, after: TaskState) -> None:
        """Count the results of one step of the task."""
        self._pauses(before, event, after)
        more = after.counters.cancelled_rows - before.counters.cancelled_rows
        if more > 0:
            self._add(CANCELLED, more)
        match event:
            case Journaled():
                self._journaled(after.entries[-1])
            case TailDropped():
                gone = before.entries[len(after.entries) :]
                self._add("taken_back", sum(entry.counters.processed for entry in gone))
            case Merged(result=result):
                files = (*result.segments, *result.quarantine)
                self._meters.written_bytes.labels("segment").inc(sum(f.size_bytes for f in files))
            case Answered(answer=answer):
                self._meters.answers.labels(answer.outcome.value).inc()
            case Unanswered():
                self._meters.answers.labels(UNANSWERED).inc()
            case _:
                pass
        if after.terminal and not before.terminal:
            code = "" if after.failure is None else after.failure.code.value
            self._meters.ended.labels(after.phase.value, code).inc()

    def _journaled(self, entry: JournalEntry) -> None:
        for name in _COUNTED:
            self._add(name, getattr(entry.counters, name))
        for reason, records in entry.counters.rejected.items():
            self._meters.rejected.labels(*self._labels, reason).inc(records)
        self._meters.read_bytes.labels(*self._labels).inc(entry.counters.processed_bytes)
        size = sum(file.size_bytes for file in entry.files)
        self._meters.written_bytes.labels("batch").inc(size)

    def _add(self, outcome: str, records: int) -> None:
        self._meters.records.labels(*self._labels, outcome).inc(records)

    def _pauses(self, before: TaskState, event: Event, after: TaskState) -> None:
        ordered = after.order.rank > before.order.rank and after.order.state is RunState.PAUSE
        if ordered and self._pause_ordered_at is None:
            self._pause_ordered_at = event.now
        pauses = after.phase is TaskPhase.PAUSED
        if pauses and self._paused_at is None:
            self._paused_at = event.now
            if self._pause_ordered_at is not None:
                self._meters.pausing.observe(max(0.0, event.now - self._pause_ordered_at))
        if not pauses and self._paused_at is not None:
            self._meters.paused.observe(max(0.0, event.now - self._paused_at))
            self._paused_at = None
        if after.paused_until is None:
            self._pause_ordered_at = None


def outcome_of(event: Event | None) -> str:
    """Return the outcome of an effect, from the event that the effect led to."""
    match event:
        case JobDropped(trouble=""):
            return CANCELLED
        case JobDropped() | LookFailed() | Unanswered() | Unwritten():
            return FAILED
        case _:
            return DONE


def _counter(registry: CollectorRegistry, name: str, text: str, *labels: str) -> Counter:
    return Counter(f"tidegate_worker_{name}_total", text, labels, registry=registry)


def _times(registry: CollectorRegistry, name: str, text: str, *labels: str) -> Histogram:
    whole = f"tidegate_worker_{name}_seconds"
    return Histogram(whole, text, labels, registry=registry, buckets=_TIMES_S)
