"""Passes over a year's metadata database."""

from bench.result import Budget, Result
from bench.world import World

NAME = "pass-year"


def run(world: World) -> Result:
    """Take the 99th percentile; the baseline has no history."""
    year, empty = world.year.pass_ms
    return Result(
        NAME,
        year.percentile(0.99),
        "ms",
        baseline=empty.percentile(0.99),
        budget=Budget(50),
        how=(
            "look and decide for a supervisor at rest, as in `pass-time`, over the database of "
            "`sync-year`, 99th percentile; baseline: no history, by turns"
        ),
        notes=(year.told("ms"), f"without history: {empty.told('ms')}"),
    )
