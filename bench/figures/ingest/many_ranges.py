"""How much overlord and worker grow per range, when hundreds have been read and published."""

from bench.ranges_run import GROUPS
from bench.result import Budget, Result
from bench.world import World

NAME = "many-ranges"


def run(world: World) -> Result:
    """Take the slopes of all resident sets, together."""
    found = world.many_ranges
    return Result(
        NAME,
        sum(grown.bytes_per_range for grown in found.values()) * 100 / 1e6,
        "MB/100 ranges",
        budget=Budget(5),
        how=(
            "resident sets of overlord, worker's Python and worker's JVM through "
            f"{world.sizes.ranges} ranges of a second each, in {GROUPS} groups; the slope over the "
            "second half of them; the JVM collects its heap before each look, every 5 s"
        ),
        notes=tuple(grown.told(name) for name, grown in found.items()),
    )
