"""Passes over a large fleet."""

from bench.result import Budget, Result
from bench.world import World

NAME = "pass-fleet"


def run(world: World) -> Result:
    """Take the 99th percentile over supervisors."""
    found = world.fleet.pass_ms
    return Result(
        NAME,
        found.percentile(0.99),
        "ms",
        budget=Budget(50),
        how="as `pass-year`, over each supervisor of `sync-fleet`, 99th percentile",
        notes=(found.told("ms"),),
    )
