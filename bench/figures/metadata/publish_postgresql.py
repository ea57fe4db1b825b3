"""A publish transaction on PostgreSQL."""

from bench.result import Result
from bench.world import World

NAME = "publish-postgresql"


def run(world: World) -> Result:
    """Take the median over a history of ranges; the baseline is SQLite."""
    found = world.publishes_postgresql
    return Result(
        NAME,
        found.middle,
        "ms",
        baseline=world.publishes_sqlite.middle,
        how="as `publish-sqlite`, on a server on this machine; baseline: SQLite",
        notes=(
            found.told("ms"),
            f"99th percentile {found.percentile(0.99):.2f} ms",
            "the server runs as the tests run it, with fsync off: no wait for a disk is in it",
        ),
    )
