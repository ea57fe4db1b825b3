"""The process of executor and persister that has nothing to do."""

from bench.result import Budget, Result
from bench.world import World

NAME = "flow-memory"


def run(world: World) -> Result:
    """Take the largest resident set."""
    found = world.idle_executor
    return Result(
        NAME,
        max(found.megabytes.values),
        "MB",
        budget=Budget(120),
        how=(
            "resident set of a persister with an executor in its process, as `tidegate dev` has "
            "them, that owns all eight partitions and has nothing to do; the largest of "
            f"{world.sizes.idle_s:.0f} s"
        ),
        notes=(found.megabytes.told("MB", 1), f"it takes {found.cpu_percent:.1f}% of one core"),
    )
