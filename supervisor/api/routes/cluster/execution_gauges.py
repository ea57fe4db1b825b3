"""Metrics of flows at work, read from their database at each scrape."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from supervisor.core.values.errors import ExecutionStoreUnavailable
from supervisor.services.flows.executions import Executions


class ExecutionCollector(Collector):
    """Executions that have not ended, and the calls of their steps."""

    def __init__(self, executions: Executions) -> None:
        """Look at nothing before a scrape."""
        self._executions = executions

    def collect(self) -> Iterator[Metric]:
        """Yield every family; without the database none has a sample."""
        live = GaugeMetricFamily(
            "tidegate_executions", "Executions that have not ended.", labels=("state",)
        )
        calls = GaugeMetricFamily(
            "tidegate_execution_calls",
            "Calls and looks of steps that are not done, and those that runners hold.",
            labels=("state",),
        )
        late = GaugeMetricFamily(
            "tidegate_executions_late_seconds",
            "How long the execution that is due first has been due; 0: none is.",
        )
        letters = GaugeMetricFamily(
            "tidegate_execution_letters",
            "Starts and inputs of executions that are not on the topics yet.",
        )
        try:
            sums, late_s = self._executions.sums()
        except ExecutionStoreUnavailable:
            yield from (live, calls, late, letters)
            return
        for state, number in sums.live.items():
            live.add_metric((state.value.lower(),), number)
        calls.add_metric(("open",), sums.calls)
        calls.add_metric(("held",), sums.held)
        late.add_metric((), late_s)
        letters.add_metric((), sums.letters)
        yield from (live, calls, late, letters)
