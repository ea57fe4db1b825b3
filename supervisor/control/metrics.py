"""In-process metrics of an overlord, for scrapers; no decision depends on them.

Counters and histograms count this process and begin at zero with it.  Label values come from closed
sets, except for supervisors and tables, of which a bounded number has labels of their own.  A task,
a generation or an offset is never a label.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.registry import Collector

from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.replica_digests import Comparison
from supervisor.core.model.rows import Generation, TaskStatus
from supervisor.core.planning.publish import Check
from tasks.contract.messages import PublishOutcome, SegmentFile
from tasks.runtime.label_names import OTHERS, LabelNames

UNKNOWN_ROUTE = "(none)"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
REFUSED = "refused"
"""The label of a publish request without an outcome: unusable files, or a lost race."""

_SHORT_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_STEPS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3_600.0)
_RUNS_S = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0, 86_400.0)
_ENDED = {
    EventKind.GENERATION_PUBLISHED: "published",
    EventKind.GENERATION_EMPTY: "empty",
    EventKind.GENERATION_DISCARDED: "discarded",
}


@dataclass(frozen=True)
class PassTaken:
    """The measures of one pass over one supervisor."""

    late_s: float
    """Seconds from the due time of the pass to its begin."""
    took_s: float
    good: bool
    actions: Sequence[str] = ()
    """Class names of the actions that the pass decided."""


class OverlordMeters(Collector):
    """The metrics of one overlord; every method may be called from any thread."""

    def __init__(self) -> None:
        own = self._own = CollectorRegistry()
        self._names = LabelNames()
        self._passes = _times(own, "pass", "How long a pass took.", _SHORT_S, "outcome")
        self._late = _times(own, "pass_late", "How late a pass began.", _SHORT_S)
        self._actions = _counter(own, "pass_actions", "What passes decided to do.", "action")
        self._requests = _counter(
            own, "http_requests", "Requests that were answered.", "route", "method", "status"
        )
        text = "From a request to the end of its answer."
        self._answers = _times(own, "http_request", text, _SHORT_S, "route", "method")
        text = "Transactions of the metadata database, with the wait for them."
        name = "metadata_transaction"
        self._transactions = _times(own, name, text, _SHORT_S, "kind", "outcome")
        self._publishes = _counter(
            own, "publish_requests", "Judged publish requests.", "outcome", "check"
        )
        text = "Steps of the handoffs of published ranges."
        self._steps = _times(own, "handoff_step", text, _STEPS_S, "step")
        text = "From a task's assignment to its end."
        self._runs = _times(own, "task_run", text, _RUNS_S, "status")
        of = ("supervisor", "table")
        self._started = _counter(own, "tasks_started", "Tasks that were assigned.", *of)
        self._ended = _counter(own, "tasks_ended", "Tasks that ended.", *of, "status", "lost")
        self._ranges = _counter(own, "generations_ended", "Ranges that ended.", *of, "how")
        self._rows = _counter(own, "published_rows", "Rows that were published.", *of)
        self._rejected = _counter(
            own, "published_rejects", "Records of published ranges that became no row.", *of
        )
        self._segments = _counter(own, "published_segments", "Files that were published.", *of)
        self._bytes = _counter(own, "published_bytes", "Size of those files.", *of)
        text = "Replicas of published ranges, by what they came to beside what was published."
        self._compared = _counter(own, "replicas_compared", text, *of, "found")
        text = "Events and audit entries that were sent to the archive, repeats included."
        self._archived = _counter(own, "archive_sent", text, "kind")
        text = "Numbers of events and audit entries that the archive does not have; of the leader."
        self._unarchived = Gauge("tidegate_archive_waiting", text, ("kind",), registry=own)
        # An alert needs a series that begins at zero: else its first event would show no growth.
        self._publishes.labels(PublishOutcome.STALE.value, Check.OFFSET_BEHIND.value)

    def collect(self) -> Iterator[Metric]:
        """Yield every family, without the times at which samples were made."""
        for family in self._own.collect():
            family.samples = [s for s in family.samples if not s.name.endswith("_created")]
            yield family

    def pass_taken(self, taken: PassTaken) -> None:
        """Count a pass."""
        self._passes.labels("good" if taken.good else "failed").observe(taken.took_s)
        self._late.observe(max(0.0, taken.late_s))
        for action in taken.actions:
            self._actions.labels(action).inc()

    def request(self, route: str | None, method: str, status: int, seconds: float) -> None:
        """Count a request; `route` is a template, never a path."""
        names = (route or UNKNOWN_ROUTE, method if method in METHODS else "OTHER")
        self._requests.labels(*names, f"{status // 100}xx").inc()
        self._answers.labels(*names).observe(seconds)

    def transaction(self, kind: str, outcome: str, seconds: float) -> None:
        """Count a transaction."""
        self._transactions.labels(kind, outcome).observe(seconds)

    def archived(self, kind: str, sent: int, waiting: int) -> None:
        """Count records that were sent to the archive, and note how many it does not have."""
        self._archived.labels(kind).inc(sent)
        self._unarchived.labels(kind).set(waiting)

    def publish_judged(self, outcome: PublishOutcome, check: Check) -> None:
        """Count an answer to a publish request."""
        self._publishes.labels(outcome.value, check.value).inc()

    def publish_refused(self, check: Check) -> None:
        """Count a publish request without an outcome."""
        self._publishes.labels(REFUSED, check.value).inc()

    def published(
        self, generation: Generation, files: Sequence[SegmentFile], now: datetime
    ) -> None:
        """Record a publish at `now`: the steps of its handoff, its files and their bytes."""
        labels = self._labels_of(generation)
        self._segments.labels(*labels).inc(len(files))
        self._bytes.labels(*labels).inc(sum(file.size_bytes for file in files))
        for step, (begin, end) in _steps_of(generation, now).items():
            if begin is not None and end is not None:  # the times come from several clocks
                self._steps.labels(step).observe(max(0.0, (end - begin).total_seconds()))

    def compared(self, generation: Generation, counts: Mapping[Comparison, int]) -> None:
        """Count the results of replica comparisons."""
        for verdict, replicas in counts.items():
            self._compared.labels(*self._labels_of(generation), verdict.value).inc(replicas)

    def committed(self, events: Sequence[LifecycleEvent]) -> None:
        """Count the lifecycle events of a transaction."""
        for one in events:
            labels = self._labels(one)
            match one.kind:
                case EventKind.GENERATION_OPENED:
                    for how in _ENDED.values():
                        self._ranges.labels(*labels, how)
                    for found in Comparison:
                        self._compared.labels(*labels, found.value)
                case EventKind.TASK_STARTED:
                    self._started.labels(*labels).inc()
                    self._ended.labels(*labels, TaskStatus.FAILED.value, "false")
                case EventKind.TASK_ENDED:
                    status = str(one.detail["status"])
                    lost = str(one.detail["lost"] is True).lower()
                    self._ended.labels(*labels, status, lost).inc()
                    self._runs.labels(status).observe(_number(one, "ranMillis") / 1_000)
                case kind if kind in _ENDED:
                    self._ranges.labels(*labels, _ENDED[kind]).inc()
                    self._rows.labels(*labels).inc(_number(one, "rows"))
                    self._rejected.labels(*labels).inc(_number(one, "rejected"))
                case _:
                    pass

    def _labels_of(self, generation: Generation) -> tuple[str, str]:
        name = self._names.label(generation.supervisor_id)
        return (OTHERS, OTHERS) if name == OTHERS else (name, generation.data_source)

    def _labels(self, event: LifecycleEvent) -> tuple[str, str]:
        name = self._names.label(event.supervisor_id)
        return (OTHERS, OTHERS) if name == OTHERS else (name, event.data_source or "")


def _number(event: LifecycleEvent, member: str) -> float:
    found = event.detail.get(member)
    return found if isinstance(found, int | float) else 0


def _counter(registry: CollectorRegistry, name: str, text: str, *labels: str) -> Counter:
    return Counter(f"tidegate_{name}_total", text, labels, registry=registry)


def _times(
    registry: CollectorRegistry, name: str, text: str, buckets: Sequence[float], *labels: str
) -> Histogram:
    whole = f"tidegate_{name}_seconds"
    return Histogram(whole, text, labels, registry=registry, buckets=buckets)


_Span = tuple[datetime | None, datetime | None]


def _steps_of(of: Generation, ended_at: datetime) -> Mapping[str, _Span]:
    """Return the steps of a handoff: the `durations` of a range, by name."""
    finished = of.first_finished_at or ended_at
    return {
        "pausing": (of.paused_at, of.end_fixed_at),
        "finishing": (of.end_fixed_at, finished),
        "publishing": (finished, ended_at),
        "total": (of.paused_at, ended_at),
    }
