"""Runs of flows: many steps, executions at a pace, large lists."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from pydantic import JsonValue

from bench.flows.bare import measure_bare, record_ends, records_between
from bench.flows.plant import FlowPlant, flow_plant, keep_in_flight, prefix_of, step_flow
from bench.flows.written import group_lag, written_to
from bench.result import Spread, spread
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from tests.environment.execution_topics import TopicsOfTest
from tests.waiting import wait_until

__all__ = ["BareRun", "FlowRun", "FlowSizes", "Written", "measure_flows"]

_ITEMS = 50
_PARTS = 5
_SETTLE_S = 120.0


@dataclass(frozen=True)
class FlowSizes:
    """How much is run."""

    steps_s: float = 300.0
    """For how long steps run at full speed."""
    paced_s: float = 30.0
    per_s: int = 10
    """Executions of two steps, begun per second."""
    fans: int = 5
    """Of each width."""
    wide: int = 1_000
    bare_executions: int = 20
    """Whose records the bare loop writes."""
    bare_steps: int = 50_000
    """That the bare loop does."""


@dataclass(frozen=True)
class BareRun:
    """A loop that writes what steps write, and does nothing else."""

    steps: Spread
    """Per second."""
    records: float
    """Per step."""
    size_bytes: float
    """Of the records of a step."""


@dataclass(frozen=True)
class Written:
    """Bytes that were written for an item of a `forEach`."""

    fan: float
    """Of 100 items."""
    wide: float
    """Of a wide one."""


@dataclass(frozen=True)
class FlowRun:
    """What one engine does."""

    steps: Spread
    """Per second, in each fifth of the time."""
    paced: Spread
    """Seconds from creation to end."""
    fan: Spread
    """Seconds of a `forEach` of 100."""
    wide: Spread
    """Seconds of a wide one."""
    bare: BareRun | None
    """None: it does not run on Kafka."""
    lag: tuple[int, ...] = ()
    """Records of the history that nobody has worked in, at the end of each fifth of `steps`; empty:
    it does not run on Kafka."""
    written: Written | None = None
    """None: it is not known of this engine."""


def measure_flows(folder: Path, kind: str, bootstrap: str | None, sizes: FlowSizes) -> FlowRun:
    """Run all on one engine: on brokers, or on a database of this kind."""
    with flow_plant(folder, kind, bootstrap) as plant:
        paced = _paced(plant, sizes)
        fan, wide, written = _both_fans(plant, folder, kind, bootstrap, sizes)
        topics = ExecutionTopics(prefix_of(folder))
        look = None if bootstrap is None else partial(group_lag, bootstrap, topics)
        steps, lag = _steps(plant, sizes.steps_s, look)
        bare = None if bootstrap is None else _bare(plant, folder, bootstrap, sizes)
        return FlowRun(steps, paced, fan, wide, bare, lag, written)


def _both_fans(
    plant: FlowPlant, folder: Path, kind: str, bootstrap: str | None, sizes: FlowSizes
) -> tuple[Spread, Spread, Written | None]:
    """Run narrow and wide ones, and count what each has written."""
    widths = (100, sizes.wide)
    if kind != "sqlite":
        fan, wide = (_fans(plant, width, sizes.fans) for width in widths)
        return fan, wide, None
    with written_to(folder, bootstrap, prefix_of(folder)) as count:
        marks, times = [count()], list[Spread]()
        for width in widths:
            times.append(_fans(plant, width, sizes.fans))
            marks.append(count())
    fan_bytes, wide_bytes = (
        (after - before) / (width * sizes.fans)
        for (before, after), width in zip(pairwise(marks), widths, strict=True)
    )
    return times[0], times[1], Written(fan_bytes, wide_bytes)


def _steps(
    plant: FlowPlant, seconds: float, look: Callable[[], int] | None
) -> tuple[Spread, tuple[int, ...]]:
    """Keep executions in flight; the first part of the time is no part of it.

    `look` returns the lag, at the end of each part.
    """
    plant.apply(step_flow("steps", _ITEMS))
    counted, rates, lag = 0, list[float](), list[int]()
    part_s = seconds / _PARTS
    mark = time.perf_counter()
    for ended in keep_in_flight(plant, "steps"):
        now = time.perf_counter()
        if now - mark >= part_s:
            rates.append((ended - counted) * _ITEMS / (now - mark))
            mark, counted = now, ended
            if look is not None:
                lag.append(look())
        if len(rates) > _PARTS:
            break
    return spread(rates[1:]), tuple(lag[1:])


def _bare(plant: FlowPlant, folder: Path, bootstrap: str, sizes: FlowSizes) -> BareRun:
    """Let some executions run alone, and a loop write what they have written."""
    with closing(TopicsOfTest(bootstrap, ExecutionTopics(prefix_of(folder)))) as topics:
        wait_until(lambda: plant.live("steps") == 0, within_s=_SETTLE_S)
        before, ended = record_ends(topics), plant.ended("steps")
        for number in range(sizes.bare_executions):
            plant.start("steps", f"bare{number}")
        wanted = ended + sizes.bare_executions
        wait_until(lambda: plant.ended("steps") == wanted, within_s=_SETTLE_S)
        records = records_between(topics, before)
    prefix = f"bare.{prefix_of(folder)}"
    rates = measure_bare(bootstrap, prefix, records, sizes.bare_steps)
    return BareRun(rates, records.per_step, records.bytes_per_step)


def _paced(plant: FlowPlant, sizes: FlowSizes) -> Spread:
    """Begin executions of two steps at a pace; nobody waits for them meanwhile."""
    two: list[JsonValue] = [
        {"name": "a", "type": "noop"},
        {"name": "b", "type": "noop", "after": ["a"]},
    ]
    plant.apply({"flow": "two", "steps": two})
    number = int(sizes.paced_s * sizes.per_s)
    began = time.perf_counter()
    for each in range(number):
        plant.start("two", f"n{each}")
        ahead = (each + 1) / sizes.per_s - (time.perf_counter() - began)
        time.sleep(max(0.0, ahead))
    wait_until(lambda: plant.ended("two") == number, within_s=_SETTLE_S)
    return spread([(end - begin).total_seconds() for begin, end in plant.times("two")])


def _fans(plant: FlowPlant, width: int, times: int) -> Spread:
    flow = f"fan{width}"
    plant.apply(step_flow(flow, width))
    return spread([plant.run_one(flow, f"n{each}") for each in range(times)])
