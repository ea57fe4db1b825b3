"""Executions of two steps, from their creation to their end."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bench.result import Budget, Result
from bench.world import World

_ENGINES = ("kafka", "sqlite", "postgresql")


def _measure(engine: str) -> Callable[[World], Result]:
    def run(world: World) -> Result:
        """Take the 95th percentile."""
        found = world.flows(engine).paced
        millis = found.percentile(0.95) * 1e3
        sizes = world.sizes.flows
        return Result(
            f"flow-latency-{engine}",
            millis,
            "ms",
            budget=Budget(300),
            how=(
                f"95th percentile of executions of two `noop` steps, {sizes.per_s} a second for "
                f"{sizes.paced_s:.0f} s, from creation to end by the clocks of who stored them; "
                "`flow-latency-median` is of the same run"
            ),
            notes=(found.told("s", 3),),
        )

    return run


def _median(engine: str) -> Callable[[World], Result]:
    def run(world: World) -> Result:
        """Take the median."""
        found = world.flows(engine).paced
        return Result(
            f"flow-latency-median-{engine}",
            found.middle * 1e3,
            "ms",
            budget=Budget(120),
            how=f"median of the executions of `flow-latency-{engine}`",
            notes=(found.told("s", 3),),
        )

    return run


FIGURES: Mapping[str, Callable[[World], Result]] = MappingProxyType(
    {
        **{f"flow-latency-{engine}": _measure(engine) for engine in _ENGINES},
        **{f"flow-latency-median-{engine}": _median(engine) for engine in _ENGINES},
    }
)
