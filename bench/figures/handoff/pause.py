"""From the order to pause to the fixed end, by which all replicas had paused."""

from bench.result import Budget, Result
from bench.world import World

NAME = "pause"


def run(world: World) -> Result:
    """Take the 95th percentile over handoffs."""
    found = world.live.pause_s
    return Result(
        NAME,
        found.percentile(0.95),
        "s",
        budget=Budget(2.5),
        how=(
            "between two times that the overlord stored, pause ordered and end fixed, so the pass "
            "that fixes the end is in it; 95th percentile; budget: batch target of 2 s + 0.5 s"
        ),
        notes=(found.told("s"),),
    )
