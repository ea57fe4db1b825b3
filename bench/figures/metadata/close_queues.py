"""Closing all event queues of a process at once."""

from bench.result import Result
from bench.world import World

NAME = "close-queues"


def run(world: World) -> Result:
    """Tell the seconds until the last one is closed."""
    found = world.queues
    return Result(
        NAME,
        found.close_s,
        "s",
        how=f"{found.queues:,} open queues, closed from 64 threads at once",
    )
