"""A `forEach` of a hundred items, and of a thousand."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bench.result import Budget, Result
from bench.world import World

_ENGINES = ("kafka", "sqlite", "postgresql")


def _measure(engine: str) -> Callable[[World], Result]:
    def run(world: World) -> Result:
        """Take the median of wide ones; the baseline is what ten times a narrow one takes."""
        found = world.flows(engine)
        times = world.sizes.flows.wide // 100
        return Result(
            f"flow-fan-{engine}",
            found.wide.middle,
            "s",
            baseline=found.fan.middle * times,
            budget=Budget(15),
            how=(
                f"an execution that is a `forEach` of {world.sizes.flows.wide:,} `noop` steps, 50 "
                f"at once, from creation to end, median; baseline: {times} times that of 100"
            ),
            notes=(
                f"of 100: {found.fan.told('s')}; the goal is 1.5 s",
                f"of {world.sizes.flows.wide:,}: {found.wide.told('s')}",
            ),
        )

    return run


def _bytes(engine: str) -> Callable[[World], Result]:
    def run(world: World) -> Result:
        """Take what is written for an item of wide ones; the baseline is that of narrow ones."""
        written = world.flows(engine).written
        assert written is not None, "its bytes are counted"
        return Result(
            f"flow-fan-bytes-{engine}",
            written.wide,
            "bytes/item",
            baseline=written.fan,
            budget=Budget(1.25, of_ratio=True),
            how=(
                f"what is written for an item of the `forEach` of {world.sizes.flows.wide:,} of "
                f"`flow-fan-{engine}`, {_COUNTED[engine]}; baseline: of 100 items"
            ),
        )

    return run


_COUNTED = {
    "kafka": "as keys, values and headers of the committed records of all topics, read from them",
    "sqlite": "as growth of the file by pages in use",
}
FIGURES: Mapping[str, Callable[[World], Result]] = MappingProxyType(
    {
        **{f"flow-fan-{engine}": _measure(engine) for engine in _ENGINES},
        **{f"flow-fan-bytes-{engine}": _bytes(engine) for engine in _COUNTED},
    }
)
