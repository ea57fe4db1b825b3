"""Publish transactions on a year's metadata database."""

from bench.result import Budget, Result
from bench.world import World

NAME = "publish-year"


def run(world: World) -> Result:
    """Take the median; the baseline has no history."""
    found = world.year
    year, empty = found.publish_ms
    return Result(
        NAME,
        year.middle,
        "ms",
        baseline=empty.middle,
        budget=Budget(1.5, of_ratio=True),
        how=(
            f"one publish request of {found.shape.partitions} partitions and "
            f"{found.shape.files} segments, as in `publish-sqlite`, of the live ranges of "
            "`sync-year`, median; baseline: no history, by turns"
        ),
        notes=(
            f"{year.told('ms')}, 99th percentile {year.percentile(0.99):.2f}",
            f"without history: {empty.told('ms')}, 99th percentile {empty.percentile(0.99):.2f}",
        ),
    )
