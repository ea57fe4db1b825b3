"""How long a group reads nothing when a range is handed off."""

from bench.result import Budget, Result
from bench.world import World

NAME = "handoff-gap"


def run(world: World) -> Result:
    """Take the 95th percentile over handoffs."""
    found = world.live.gap_s
    return Result(
        NAME,
        found.percentile(0.95),
        "s",
        budget=Budget(1.0),
        how=(
            "from the journaling of the last batch before the end was fixed to the appearance of "
            "the successor's output folder, which its first batch makes; 95th percentile, watched "
            f"every 5 ms, load average {world.live.load:.1f} at the end"
        ),
        notes=(
            found.told("s"),
            "a batch that the pause cancelled counts into it, though the budget leaves it out",
        ),
    )
