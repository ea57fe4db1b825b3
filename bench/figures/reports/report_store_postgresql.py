"""Reports stored on PostgreSQL."""

from bench.result import Budget, Result
from bench.world import World

NAME = "report-store-postgresql"


def run(world: World) -> Result:
    """Take the median over turns; the baseline is a bare loop in the same run."""
    rates = world.reports_postgresql
    return Result(
        NAME,
        rates.stored.middle,
        "records/s",
        baseline=rates.bare.middle,
        budget=Budget(3_000, at_least=True),
        how="as `report-store`, on a server on this machine; baseline: `executemany` of psycopg",
        notes=(
            rates.stored.told("records/s", 0),
            f"bare: {rates.bare.told('records/s', 0)}",
            "the server runs as the tests run it, with fsync off: no wait for a disk is in it",
        ),
    )
