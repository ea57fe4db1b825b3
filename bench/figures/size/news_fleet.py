"""Syncs with news, of a large fleet."""

from bench.result import Budget, Result
from bench.world import World

NAME = "news-fleet"


def run(world: World) -> Result:
    """Take the 99th percentile."""
    found = world.fleet.news_ms
    return Result(
        NAME,
        found.percentile(0.99),
        "ms",
        budget=Budget(50),
        how="as `news-year`, of the fleet of `sync-fleet`, 99th percentile",
        notes=(found.told("ms"),),
    )
