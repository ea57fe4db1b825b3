"""Metrics of a persister, for scrapers; collected anew at each scrape."""

from collections.abc import Iterator

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from supervisor.core.reports.status import PersisterState, StoreOutcome
from supervisor.reports.intake import IntakeStatus
from supervisor.reports.meters import BATCH_BOUNDS_S, PersisterCounts
from supervisor.reports.service import Persister

__all__ = ["PersisterCollector"]

_COUNTED = {
    StoreOutcome.STORED: ("persister_stored", "records that are stored"),
    StoreOutcome.CONFLICT: ("persister_conflicts", "repeats of stored records"),
    StoreOutcome.MISMATCH: (
        "persister_mismatch",
        "records with the id of a stored one that says something else",
    ),
    StoreOutcome.SKIPPED: ("persister_skipped", "records that the level does not store"),
    StoreOutcome.REJECTED: ("persister_dead_letter", "records that can never be stored"),
}


class PersisterCollector(Collector):
    """Collects the metrics of one persister."""

    def __init__(self, persister: Persister) -> None:
        self._persister = persister

    def collect(self) -> Iterator[Metric]:
        """Yield every family."""
        view, counts = self._persister.view(), self._persister.pipeline.meters.counts()
        for outcome, (name, about) in _COUNTED.items():
            yield _counter(name, about, counts.outcomes.get(outcome, 0))
        yield _counter("persister_bytes", "bytes of records that are done", counts.size_bytes)
        yield _counter("persister_batch_records", "records of all batches", counts.batch_records)
        yield _batches(counts)
        yield _counter("persister_rate_wait_seconds", "waits for the pace", counts.rate_wait_s)
        yield _counter("persister_failed_tries", "tries that failed whole", counts.failed_tries)
        flight = view.pipeline.in_flight
        yield _gauge("persister_in_flight", "records from read to done", flight.records)
        yield _gauge("persister_in_flight_bytes", "their bytes", flight.size_bytes)
        yield _gauge(
            "persister_oldest_unfinished_seconds",
            "age of the oldest record that is not done",
            view.pipeline.oldest_s,
        )
        if view.letters is not None:
            yield _gauge(
                "persister_dead_letters_waiting",
                "dead letters that nobody has replayed or dropped",
                view.letters,
            )
        state = GaugeMetricFamily("tidegate_persister_state", "1: it is so", labels=("state",))
        for each in PersisterState:
            state.add_metric((each,), float(each is view.pipeline.status.state))
        yield state
        if view.intake is not None:
            yield from _of_topics(view.intake)


def _of_topics(intake: IntakeStatus) -> Iterator[Metric]:
    yield _gauge("persister_assigned_partitions", "partitions that it reads", intake.partitions)
    yield _gauge("persister_paused_partitions", "of them, those that pause", intake.paused)
    lag = GaugeMetricFamily(
        "tidegate_persister_lag",
        "records of a topic that the group has not done",
        labels=("topic",),
    )
    for topic, each in intake.lag.items():
        lag.add_metric((topic,), each.records)
    yield lag
    late = GaugeMetricFamily(
        "tidegate_persister_lag_seconds",
        "age of the oldest record of a topic that the group has not done",
        labels=("topic",),
    )
    for topic, each in intake.lag.items():
        if each.seconds is not None:
            late.add_metric((topic,), each.seconds)
    yield late
    lost = CounterMetricFamily(
        "tidegate_persister_lost_offsets",
        "offsets that retention deleted before they were read",
        labels=("topic",),
    )
    for topic, number in intake.lost_offsets.items():
        lost.add_metric((topic,), number)
    yield lost


def _batches(counts: PersisterCounts) -> Metric:
    total, buckets = 0, []
    for bound, number in zip([*map(str, BATCH_BOUNDS_S), "+Inf"], counts.batches, strict=True):
        total += number
        buckets.append((bound, float(total)))
    family = HistogramMetricFamily("tidegate_persister_batch_seconds", "tries to store a batch")
    family.add_metric((), buckets=buckets, sum_value=counts.batch_s)
    return family


def _counter(name: str, about: str, value: float) -> Metric:
    return CounterMetricFamily(f"tidegate_{name}", about, value=value)


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"tidegate_{name}", about, value=value)
