"""What workers read twice is read from their own counters, once they answer."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast
from urllib.parse import urlsplit

import pytest
from prometheus_client import CollectorRegistry, generate_latest, start_http_server

from tasks.worker.metrics import WorkerMeters
from tests.chaos.judges.books import Books, TaskRow
from tests.chaos.judges.rereads import Counted, OverlordsOnly, Part, counted, failed_in
from tests.chaos.runs.run import Run

pytestmark = pytest.mark.chaos
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_workers_that_are_just_starting_are_waited_for(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by CI: the walk ends with the death of every worker, and one did not listen yet."""
    look = SimpleNamespace(publications=7)
    run.books = cast("Books", SimpleNamespace(look=lambda: look, tasks=list, living=frozenset))
    meters, registry, served = WorkerMeters(), CollectorRegistry(), set[str]()
    registry.register(meters)
    meters.records.labels("clicks", "clicks", "processed").inc(100)
    with ExitStack() as stack:

        def serves(name: str) -> bool:
            """Answer no once; from then on a worker listens."""
            if name not in served and name in run.fleet.shape.workers:
                listen(stack, run, name, registry)
                served.add(name)
                return False
            return True

        monkeypatch.setattr(run.fleet, "serves", serves)
        rereads = OverlordsOnly(run, seed=1).measure(Part(kills=0, calm_s=0.0, rest_max_s=0.0))

    assert served == set(run.fleet.shape.workers)
    assert (rereads.calm.publications, rereads.calm.read, rereads.share) == (0, 0, 0.0)


def test_what_the_deaths_of_workers_cost_is_over_before_it_is_counted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by the short form: a task that caught up after the walk was ended by its sibling."""
    meters, registry, living = WorkerMeters(), CollectorRegistry(), ["clicks:11"]
    registry.register(meters)
    meters.records.labels("clicks", "clicks", "processed").inc(8_000)

    def end() -> None:
        """Publish the range: the replica that was behind gives its batch up."""
        if living:
            living.clear()
            meters.records.labels("clicks", "clicks", "cancelled").inc(1_335)

    def alive() -> frozenset[str]:
        """Say that the range lives, once."""
        living_before = frozenset(living)
        end()
        return living_before

    look = SimpleNamespace(publications=7)
    run.books = cast("Books", SimpleNamespace(look=lambda: look, tasks=list, living=alive))
    monkeypatch.setattr(run.fleet, "serves", lambda _: True)
    monkeypatch.setattr(run, "go_on", lambda _: end())  # what is measured
    with ExitStack() as stack:
        for worker in run.fleet.shape.workers:
            listen(stack, run, worker, registry)
        rereads = OverlordsOnly(run, seed=1).measure(Part(kills=0, calm_s=0.0, rest_max_s=0.0))

    assert (rereads.calm.given_up, rereads.struck.given_up) == (0, 0)


def test_a_workers_own_counters_are_read_from_its_metrics() -> None:
    """Goal: of the product's own families; a renamed outcome is not read as none."""
    meters, registry = WorkerMeters(), CollectorRegistry()
    registry.register(meters)
    for outcome, records in {"processed": 100, "cancelled": 7, "taken_back": 5}.items():
        meters.records.labels("clicks", "clicks", outcome).inc(records)
    meters.records.labels("orders", "orders", "processed").inc(50)
    meters.records.labels("orders", "orders", "thrown_away").inc(3)
    counters = counted(generate_latest(registry).decode())
    assert counters == Counted(read=150, given_up=12)
    assert counters.since(Counted(read=100, given_up=10)) == Counted(read=50, given_up=2)
    with pytest.raises(AssertionError, match="a worker began anew"):
        Counted().since(counters)


def test_what_a_failed_task_had_read_counts_where_it_ended() -> None:
    """Goal: no counter of a worker tells it, and only its own part of the run pays for it."""

    def ended(name: str, status: str, seconds: int) -> TaskRow:
        at = NOON + timedelta(seconds=seconds)
        return TaskRow(name, "w1", status, lost=False, reason="", created_at=NOON, ended_at=at)

    rows = [ended("a", "FAILED", 5), ended("b", "FAILED", 15), ended("c", "SUCCESS", 15)]
    begin, end = NOON + timedelta(seconds=10), NOON + timedelta(seconds=20)
    assert failed_in(rows, begin, end, {"a": 1, "b": 20, "c": 300}) == 20


def listen(stack: ExitStack, run: Run, worker: str, registry: CollectorRegistry) -> None:
    """Serve metrics where a worker would, until the stack is left."""
    port = urlsplit(run.fleet.direct(worker)).port or 0
    server, thread = start_http_server(port, "127.0.0.1", registry)
    stack.callback(thread.join)
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
