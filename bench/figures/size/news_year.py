"""Syncs with news, over a year's metadata database."""

from bench.result import Budget, Result
from bench.world import World

NAME = "news-year"


def run(world: World) -> Result:
    """Take the 99th percentile; the baseline has no history."""
    year, empty = world.year.news_ms
    return Result(
        NAME,
        year.percentile(0.99),
        "ms",
        baseline=empty.percentile(0.99),
        budget=Budget(50),
        how=(
            "one sync as in `sync-year`, just after one of the worker's tasks got an order and "
            "with a new phase in its report, 99th percentile; baseline: no history, by turns"
        ),
        notes=(year.told("ms"), f"without history: {empty.told('ms')}"),
    )
