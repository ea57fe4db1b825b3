"""A publish transaction on SQLite."""

from bench.result import Result
from bench.world import World

NAME = "publish-sqlite"


def run(world: World) -> Result:
    """Take the median over a history of ranges."""
    found = world.publishes_sqlite
    return Result(
        NAME,
        found.middle,
        "ms",
        how=(
            "one publish request of 4 partitions and 2 segments, from the parsed request to the "
            "answer, committed and synced as the product does; without HTTP"
        ),
        notes=(found.told("ms"), f"99th percentile {found.percentile(0.99):.2f} ms"),
    )
