"""Metrics of a worker, for scrapers: its slots, tasks, processes, and its counters."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import time

import psutil
from fastapi import Request, Response
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from tasks.contract.messages import TaskPhase
from tasks.reporting.record import RecordType
from tasks.sending.sender import SenderStatus
from tasks.worker.incarnations import WITHOUT_A_WORD, Incarnation
from tasks.worker.metrics import WorkerMeters
from tasks.worker.roster import Roster

ENDS = ("stopped", "fenced", "engine died", "engine stuck", "without a word")
"""How the previous incarnation may have ended."""


@dataclass(frozen=True)
class EngineProcess:
    """Facts about the engine's process."""

    alive: Callable[[], bool] = lambda: True
    pid: Callable[[], int | None] = lambda: None


class WorkerCollector(Collector):
    """Collects the metrics of a worker anew at each scrape."""

    def __init__(
        self,
        roster: Roster,
        meters: WorkerMeters,
        *,
        slots: int,
        life: Incarnation | None = None,
        engine: EngineProcess | None = None,
        reports: Callable[[], SenderStatus | None] = lambda: None,
        unsent_logs: Callable[[], int] = lambda: 0,
    ) -> None:
        self._roster = roster
        self._meters = meters
        self._slots = slots
        self._life = life
        self._engine = engine or EngineProcess()
        self._reports = reports
        self._unsent_logs = unsent_logs
        self._began = time()

    def collect(self) -> Iterator[Metric]:
        """Yield every family."""
        yield from self._of_tasks()
        yield from self._of_processes()
        yield from _of_reports(self._reports(), self._unsent_logs())
        yield from self._meters.collect()

    def _of_tasks(self) -> Iterator[Metric]:
        states = [runner.state for runner in self._roster.runners]
        used = sum(not state.over and state.end is None for state in states)
        yield _gauge("slots", "Tasks that may read at once.", self._slots)
        yield _gauge("slots_used", "Tasks that hold a slot: their end is not fixed.", used)
        yield _gauge("disabled", "1: it is given no new tasks.", self._roster.disabled)
        counts = Counter(state.phase for state in states)
        tasks = GaugeMetricFamily(
            "tidegate_worker_tasks", "Tasks that are reported.", labels=("state",)
        )
        for phase in TaskPhase:
            tasks.add_metric((phase.value.lower(),), counts[phase])
        yield tasks
        silent = GaugeMetricFamily(
            "tidegate_worker_sync_age_seconds", "Since an overlord answered last."
        )
        if (age := self._meters.silent_s) is not None:
            silent.add_metric((), age)
        yield silent

    def _of_processes(self) -> Iterator[Metric]:
        yield _gauge("start_time_seconds", "When it began, in seconds since 1970.", self._began)
        ends = GaugeMetricFamily(
            "tidegate_worker_previous_end",
            "1: the life before this one ended so.",
            labels=("reason",),
        )
        if (reason := _reason(self._life)) is not None:
            ends.add_metric((reason,), 1)
        yield ends
        yield _gauge("engine_up", "1: Spark's process runs.", self._engine.alive())
        resident = GaugeMetricFamily(
            "tidegate_worker_resident_bytes", "Memory of its processes.", labels=("process",)
        )
        for name, pid in (("worker", None), ("spark", self._engine.pid())):
            if name == "worker" or pid is not None:
                _add_memory(resident, name, pid)
        yield resident


def _of_reports(status: SenderStatus | None, unsent_logs: int) -> Iterator[Metric]:
    """Yield what waits for a report store; nothing of it while no reports are sent."""
    queued = spooled = unsent_s = 0.0
    lost = CounterMetricFamily(
        "tidegate_worker_report_dropped", "Records that were given up.", labels=("type",)
    )
    if status is not None:
        queued, spooled, unsent_s = status.backlog_bytes, status.spool_bytes, status.unsent_s
        for kind, number in sorted({**dict.fromkeys(RecordType, 0), **status.dropped}.items()):
            lost.add_metric((kind,), number)
        lost.add_metric(("spooled",), status.lost)
        lost.add_metric(("log",), unsent_logs)
    yield _gauge("report_queue_bytes", "Records that wait for the disk.", queued)
    yield _gauge("report_spool_bytes", "Records on disk that are not sent.", spooled)
    yield _gauge("report_unsent_seconds", "Since when records cannot be sent.", unsent_s)
    yield lost


def _reason(life: Incarnation | None) -> str | None:
    """Return one of `ENDS`; None: there was no previous incarnation, or it left another text."""
    previous_end = "" if life is None else life.previous_end
    if previous_end == WITHOUT_A_WORD:
        return ENDS[-1]
    return next(
        (end for end in ENDS if previous_end == end or previous_end.startswith(f"{end}:")), None
    )


def _add_memory(family: GaugeMetricFamily, name: str, pid: int | None) -> None:
    try:
        family.add_metric((name,), psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return  # the process has just ended


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"tidegate_worker_{name}", text, value=float(value))


def scraped(request: Request) -> Response:
    """Answer a scrape, in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(request.app.state.metrics)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)
