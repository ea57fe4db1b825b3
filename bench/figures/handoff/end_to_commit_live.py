"""From the fixed end of a range to its commit, for a steady stream, whose files are merged."""

from bench.result import Result
from bench.world import World

NAME = "end-to-commit-live"


def run(world: World) -> Result:
    """Take the median over handoffs."""
    found, rows = world.live.commit_s, world.live.commit_rows
    return Result(
        NAME,
        found.middle,
        "s",
        how=(
            "as `end-to-commit`, for the ranges of the steady stream: many small files that are "
            "merged while the successors read"
        ),
        notes=(found.told("s"), f"rows of a range: {rows.told('rows', 0)}"),
    )
