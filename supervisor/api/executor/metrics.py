"""Metrics of an executor, for scrapers; collected anew at each scrape."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from supervisor.executions.executor.service import Executor
from supervisor.executions.sequencer.counts import Counted

__all__ = ["ExecutorCollector"]

_COUNTED: dict[Counted, str] = {
    "inputs": "inputs of executions that are committed",
    "steps": "calls of steps that followed from them, looks too",
    "aborts": "transactions that Kafka has aborted",
    "takeovers": "partitions that were taken over",
}


class ExecutorCollector(Collector):
    """Collects the metrics of one executor."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def collect(self) -> Iterator[Metric]:
        """Yield every family."""
        view = self._executor.view()
        yield _gauge("executor_well", "1: nothing is wrong", float(not view.reason))
        yield _gauge("executor_partitions", "partitions that it owns", len(view.partitions))
        waiting = sum(one.waiting for one in view.partitions)
        yield _gauge("executor_waiting_calls", "calls that wait for a runner", waiting)
        yield _gauge("executor_calls", "calls that it makes now", len(view.makes))
        yield _gauge("executor_kept_results", "results in its file that wait for Kafka", view.kept)
        for what, about in _COUNTED.items():
            name = f"tidegate_executor_{what}"
            yield CounterMetricFamily(name, about, value=view.counts.get(what, 0))
        name, about = "tidegate_executor_lost_calls", "calls of others that were found lost"
        yield CounterMetricFamily(name, about, value=view.lost)
        lag = GaugeMetricFamily(
            "tidegate_executor_lag",
            "records of the history of a partition that are not worked in",
            labels=("partition",),
        )
        for one in view.partitions:
            if one.lag is not None:
                lag.add_metric((str(one.partition),), one.lag)
        yield lag
        behind = GaugeMetricFamily(
            "tidegate_executor_projection_lag",
            "records of the state of a partition that the tables do not know",
            labels=("partition",),
        )
        for one in view.partitions:
            if one.projection_lag is not None:
                behind.add_metric((str(one.partition),), one.projection_lag)
        yield behind


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"tidegate_{name}", about, value=value)
