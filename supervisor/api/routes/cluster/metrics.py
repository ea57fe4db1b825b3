"""The Prometheus endpoint: gauges from the rows, counters and histograms of this process.

Nothing is cached and nothing is global: each scrape reads anew.  Gauges from rows are the same on
every overlord.  Counters and histograms begin at zero with this process.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from types import MappingProxyType

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from starlette.responses import Response

from supervisor.api.http.access import needs
from supervisor.api.http.deps import Parts
from supervisor.api.routes.cluster.execution_gauges import ExecutionCollector
from supervisor.api.routes.cluster.gauges import (
    LeaseCollector,
    LoopCollector,
    PartitionCollector,
    TaskCollector,
)
from supervisor.chores.compaction.compacting import Compacting
from supervisor.control.leadership import Leadership
from supervisor.core.queue.events import QueueHealth, QueueName
from supervisor.core.tables.exports import ExportState
from supervisor.core.values.permissions import Permission
from supervisor.eventqueue.meters import BATCH_BOUNDS_S, BatchTimes
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.shown import QueueView
from supervisor.services.supervisors.queries import SupervisorQueries
from supervisor.services.tables.queries import TableQueries

router = APIRouter(tags=["process"])

PREFIX = "tidegate_event_processor_"
_LABELS = ("container", "processor")
_GAUGES: Mapping[str, tuple[str, Callable[[QueueView], float | None]]] = MappingProxyType(
    {
        "outstanding_bytes": (
            "Bytes of the events that wait.",
            lambda view: view.row.outstanding_bytes,
        ),
        "outstanding_events": ("Events that wait.", lambda view: view.row.outstanding_events),
        "oldest_seconds": (
            "Age of the first event that waits, since it was added; 0: nothing waits.",
            lambda view: 0.0 if view.oldest is None else view.oldest.age.total_seconds(),
        ),
        "failed_iterations": (
            "Failed tries in a row at the present position.",
            lambda view: view.row.failed_iterations,
        ),
        "failed_events_kept": (
            "Events that are set aside, neither replayed nor dropped.",
            lambda view: view.failed_events,
        ),
        "segments": ("Segments that stored rows are spread over.", lambda view: view.segments),
        "dead": (
            "1: the queue is damaged and waits for its repair.",
            lambda view: view.row.state is QueueHealth.DEAD,
        ),
        "latency_seconds_average": (
            "From add to done, of the newest handled events (at most 1000).",
            lambda view: None if view.meter.latency is None else view.meter.latency.average_s,
        ),
        "latency_seconds_p99": (
            "From add to done: 99 of 100 of the same events were not slower.",
            lambda view: None if view.meter.latency is None else view.meter.latency.p99_s,
        ),
    }
)
"""Name -> help and value; a value None is left out."""
_COUNTERS: Mapping[str, tuple[str, Callable[[QueueView], float]]] = MappingProxyType(
    {
        "added_total": ("Events ever added, by any overlord.", lambda view: view.row.next_seq - 1),
        "handled_total": ("Events that got their answer.", lambda view: view.meter.handled),
        "failed_batches_total": (
            "Batches that failed as a whole.",
            lambda view: view.meter.failed_iterations,
        ),
        "failed_events_total": (
            "Events that were set aside.",
            lambda view: view.meter.failed_events,
        ),
        "truncations_total": (
            "Times that handled rows were deleted.",
            lambda v: v.meter.truncations,
        ),
    }
)
_REFUSED = "refused_total"
_BATCHES = "batch_seconds"


@router.get("/metrics", response_class=Response, dependencies=[needs(Permission.READ)])
def get_metrics(parts: Parts) -> Response:
    """Return the metrics of this overlord, in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(LeadershipCollector(parts.leadership))
    registry.register(LeaseCollector(parts.leadership))
    registry.register(LoopCollector(parts.loop))
    registry.register(GapCollector(parts.supervisors))
    registry.register(StateCollector(parts.supervisors))
    registry.register(LagCollector(parts.supervisors))
    registry.register(PartitionCollector(parts.supervisors))
    registry.register(TaskCollector(parts.tasks))
    registry.register(QueueCollector(parts.queues))
    registry.register(ExportCollector(parts.tables))
    registry.register(CompactionCollector(parts.compacting))
    registry.register(ExecutionCollector(parts.executions))
    registry.register(parts.meters)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


class LeadershipCollector(Collector):
    """Whether this process leads, and which term it knows."""

    def __init__(self, leadership: Leadership) -> None:
        """Look at nothing before a scrape."""
        self._leadership = leadership

    def collect(self) -> Iterator[Metric]:
        """Yield every family; none needs the metadata database."""
        yield GaugeMetricFamily(
            "tidegate_overlord_leads",
            "1: this overlord leads.",
            value=float(self._leadership.leads()),
        )
        yield CounterMetricFamily(
            "tidegate_overlord_fenced_writes_total",
            "Writes that were refused because another overlord had begun to lead.",
            value=self._leadership.fenced_writes,
        )


class GapCollector(Collector):
    """Offsets that are declared as gaps: missing from tables, or twice in them."""

    def __init__(self, supervisors: SupervisorQueries) -> None:
        """Look at nothing before a scrape."""
        self._supervisors = supervisors

    def collect(self) -> Iterator[Metric]:
        """Yield the family.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        family = CounterMetricFamily(
            "tidegate_supervisor_gap_offsets_total",
            "Offsets that are declared skipped, lost, or read again.",
            labels=("supervisor", "kind"),
        )
        for (supervisor_id, kind), size in sorted(self._supervisors.gap_sizes().items()):
            family.add_metric((supervisor_id, kind), size)
        yield family


class StateCollector(Collector):
    """The states of supervisors, from the leader's last passes."""

    def __init__(self, supervisors: SupervisorQueries) -> None:
        """Look at nothing before a scrape."""
        self._supervisors = supervisors

    def collect(self) -> Iterator[Metric]:
        """Yield the family; without a sample where another overlord leads.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        family = GaugeMetricFamily(
            "tidegate_supervisor_state",
            "1: the supervisor is in this state.",
            labels=("supervisor", "state", "detailed"),
        )
        for supervisor_id, found in sorted(self._supervisors.last_states().items()):
            family.add_metric((supervisor_id, found.state, found.detailed), 1)
        yield family


class LagCollector(Collector):
    """The lag of supervisors, from their last passes."""

    def __init__(self, supervisors: SupervisorQueries) -> None:
        """Look at nothing before a scrape."""
        self._supervisors = supervisors

    def collect(self) -> Iterator[Metric]:
        """Yield both families; unknown values are left out.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        records = GaugeMetricFamily(
            "tidegate_supervisor_lag_records",
            "Records that are in the topic and not read.",
            labels=("supervisor",),
        )
        seconds = GaugeMetricFamily(
            "tidegate_supervisor_lag_seconds",
            "Age of the oldest record that is not read.",
            labels=("supervisor",),
        )
        for supervisor_id, lag in sorted(self._supervisors.lags().items()):
            if lag.records is not None:
                records.add_metric((supervisor_id,), lag.records)
            if lag.age is not None:
                seconds.add_metric((supervisor_id,), lag.age.total_seconds())
        yield records
        yield seconds


class ExportCollector(Collector):
    """The lag of exported tables behind their tables."""

    def __init__(self, tables: TableQueries) -> None:
        """Look at nothing before a scrape."""
        self._tables = tables

    def collect(self) -> Iterator[Metric]:
        """Yield both families; exports that are switched off have no lag.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        labels = ("table", "format")
        lag = GaugeMetricFamily(
            "tidegate_export_lag_seconds",
            "Age of the oldest change that the exported table does not have; 0: it has all.",
            labels=labels,
        )
        sequence = GaugeMetricFamily(
            "tidegate_export_sequence",
            "Of the published list that the exported table was last made equal to.",
            labels=labels,
        )
        for export in self._tables.exports():
            values = (export.data_source, export.format)
            if export.state is not ExportState.OFF:
                lag.add_metric(values, export.lag_seconds)
            sequence.add_metric(values, export.sequence)
        yield lag
        yield sequence


class CompactionCollector(Collector):
    """The live compactions."""

    def __init__(self, compacting: Compacting) -> None:
        """Look at nothing before a scrape."""
        self._compacting = compacting

    def collect(self) -> Iterator[Metric]:
        """Yield the family.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        family = GaugeMetricFamily(
            "tidegate_compactions",
            "Compactions of a table that wait for a worker, or run.",
            labels=("table", "state"),
        )
        counts = Counter(
            (row.data_source, "running" if row.worker_id else "waiting")
            for row in self._compacting.live()
        )
        for labels, number in sorted(counts.items()):
            family.add_metric(labels, number)
        yield family


class QueueCollector(Collector):
    """The metrics of all event queues, from one look."""

    def __init__(self, queues: Operations) -> None:
        """Look at nothing before a scrape."""
        self._queues = queues

    def collect(self) -> Iterator[Metric]:
        """Yield every family with its help, also without any queue.

        Raises:
            Unavailable: the metadata database does not answer.
        """
        views = self._queues.rows()
        for name, (text, value) in _GAUGES.items():
            yield _gauge(name, text, value, views)
        for name, (text, count) in _COUNTERS.items():
            yield _counter(name, text, count, views)
        yield _refused(views)
        yield _batches(views)


def _gauge(
    name: str, text: str, value: Callable[[QueueView], float | None], views: list[QueueView]
) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, text, labels=_LABELS)
    for view in views:
        if (sample := value(view)) is not None:
            family.add_metric(_labels(view.row.queue), sample)
    return family


def _counter(
    name: str, text: str, count: Callable[[QueueView], float], views: list[QueueView]
) -> Metric:
    family = CounterMetricFamily(PREFIX + name, text, labels=_LABELS)
    for view in views:
        family.add_metric(_labels(view.row.queue), count(view))
    return family


def _refused(views: list[QueueView]) -> Metric:
    text = "Events that were not taken, by reason."
    family = CounterMetricFamily(PREFIX + _REFUSED, text, labels=(*_LABELS, "reason"))
    for view in views:
        for reason, count in sorted(view.meter.refused.items()):
            family.add_metric((*_labels(view.row.queue), reason), count)
    return family


def _batches(views: list[QueueView]) -> Metric:
    text = "How long batches took."
    family = HistogramMetricFamily(PREFIX + _BATCHES, text, labels=_LABELS)
    for view in views:
        batches = view.meter.batches
        family.add_metric(_labels(view.row.queue), _buckets(batches), batches.seconds)
    return family


def _buckets(batches: BatchTimes) -> list[tuple[str, float]]:
    """Return upper bound -> batches up to it, cumulative as in Prometheus."""
    bounds = [*(str(bound) for bound in BATCH_BOUNDS_S), "+Inf"]
    return list(zip(bounds, accumulate(batches.buckets), strict=True))


def _labels(queue: QueueName) -> tuple[str, str]:
    return queue.container, queue.name
