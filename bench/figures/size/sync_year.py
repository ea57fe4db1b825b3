"""Syncs with nothing new, over a year's metadata database."""

from bench.result import Result
from bench.world import World

NAME = "sync-year"


def run(world: World) -> Result:
    """Take the median of CPU per sync; the baseline has no history."""
    found = world.year
    year, empty = found.sync_cpu_ms
    return Result(
        NAME,
        year.middle,
        "ms CPU",
        baseline=empty.middle,
        how=(
            f"user and system time of one sync that brings nothing new, through the route "
            f"without its socket, of {found.shape.workers} workers with "
            f"{found.shape.tasks // found.shape.workers} tasks each; a metadata database of "
            f"{found.shape.described}; baseline: no history, by turns"
        ),
        notes=(year.told("ms"), f"without history: {empty.told('ms')}"),
    )
