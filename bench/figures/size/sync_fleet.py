"""Syncs with nothing new, of a large fleet."""

from bench.result import Budget, Result
from bench.world import World
from bench.year.syncs import LOOKS_PER_S

NAME = "sync-fleet"


def run(world: World) -> Result:
    """Multiply the CPU of one sync by the syncs of all workers in a second."""
    found = world.fleet
    looks_per_s = LOOKS_PER_S * found.shape.workers
    return Result(
        NAME,
        found.sync_cpu_ms.middle / 1000 * looks_per_s,
        "cores",
        budget=Budget(0.2),
        how=(
            f"user and system time of one sync that brings nothing new, as in `sync-year`, times "
            f"{looks_per_s:.0f}: each of {found.shape.workers} workers reports every second, and "
            f"each of its long polls of 10 s is answered twice; {found.shape.described}"
        ),
        notes=(f"one sync: {found.sync_cpu_ms.told('ms CPU')}",),
    )
