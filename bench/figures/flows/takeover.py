"""How long partitions of executions stand still when an executor ends."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bench.result import Budget, Result
from bench.world import World


def _killed(world: World) -> Result:
    """Take the 95th percentile over partitions."""
    found = world.takeovers.killed
    return Result(
        "flow-takeover",
        found.percentile(0.95),
        "s",
        budget=Budget(12),
        how=(
            "from kill -9 of one of two executors to the first commit of the other one in each "
            "partition that moves, while executions begin in them all the time; 95th percentile"
        ),
        notes=(found.told("s"),),
    )


def _longest(world: World) -> Result:
    """Take the longest over partitions."""
    found = world.takeovers.killed
    return Result(
        "flow-takeover-longest",
        max(found.values),
        "s",
        budget=Budget(25),
        how="as `flow-takeover`, the longest over all partitions and rounds",
        notes=(found.told("s"),),
    )


def _ended(world: World) -> Result:
    """Take the longest over partitions."""
    found = world.takeovers.ended
    return Result(
        "flow-handover",
        max(found.values),
        "s",
        budget=Budget(2),
        how="as `flow-takeover`, from SIGTERM, with the old executor still working; the longest",
        notes=(found.told("s"),),
    )


def _restored(world: World) -> Result:
    """Take the longest."""
    found = world.takeovers.restored
    return Result(
        "flow-restore",
        max(found.values),
        "s",
        budget=Budget(5),
        how=(
            f"eight partitions with {world.sizes.takeovers.live:,} live executions taken over by "
            "one process, from the first fence until all of them are worked; the longest"
        ),
        notes=(found.told("s"),),
    )


FIGURES: Mapping[str, Callable[[World], Result]] = MappingProxyType(
    {
        "flow-takeover": _killed,
        "flow-takeover-longest": _longest,
        "flow-handover": _ended,
        "flow-restore": _restored,
    }
)
