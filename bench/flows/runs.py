"""Runs of flows: many steps, executions at a pace, large lists."""

import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from bench.flows.plant import FlowPlant, flow_plant, step_flow
from bench.result import Spread, spread
from tests.waiting import wait_until

__all__ = ["FlowRun", "FlowSizes", "measure_flows"]

_ITEMS = 50
_IN_FLIGHT = 8
_PARTS = 5
_SETTLE_S = 120.0


@dataclass(frozen=True)
class FlowSizes:
    """How much is run."""

    steps_s: float = 100.0
    """For how long steps run at full speed."""
    paced_s: float = 30.0
    per_s: int = 10
    """Executions of two steps, begun per second."""
    fans: int = 5
    """Of each width."""
    wide: int = 1_000


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


def measure_flows(folder: Path, kind: str, bootstrap: str | None, sizes: FlowSizes) -> FlowRun:
    """Run all on one engine: on brokers, or on a database of this kind."""
    with flow_plant(folder, kind, bootstrap) as plant:
        paced = _paced(plant, sizes)
        fan, wide = (_fans(plant, width, sizes.fans) for width in (100, sizes.wide))
        return FlowRun(_steps(plant, sizes.steps_s), paced, fan, wide)


def _steps(plant: FlowPlant, seconds: float) -> Spread:
    """Keep executions in flight; the first part of the time is no part of it."""
    plant.apply(step_flow("steps", _ITEMS))
    started, counted, rates = 0, 0, list[float]()
    part_s = seconds / _PARTS
    mark = time.perf_counter()
    while len(rates) <= _PARTS:
        ended = plant.ended("steps")
        while started - ended < _IN_FLIGHT:
            plant.start("steps", f"n{started}")
            started += 1
        now = time.perf_counter()
        if now - mark >= part_s:
            rates.append((ended - counted) * _ITEMS / (now - mark))
            mark, counted = now, ended
    return spread(rates[1:])


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
