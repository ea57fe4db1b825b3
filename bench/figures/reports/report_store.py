"""Reports stored on SQLite."""

from bench.result import Budget, Result
from bench.world import World

NAME = "report-store"


def run(world: World) -> Result:
    """Take the median over turns; the baseline is a bare loop in the same run."""
    rates = world.reports_sqlite
    return Result(
        NAME,
        rates.stored.middle,
        "records/s",
        baseline=rates.bare.middle,
        budget=Budget(4_000, at_least=True),
        how=(
            f"`put_many` in batches of 500 records of {rates.body_bytes} bytes, each committed and "
            "synced, by one thread; baseline: `executemany` of the driver into the same tables, by "
            "turns; both write the JSON of each record"
        ),
        notes=(rates.stored.told("records/s", 0), f"bare: {rates.bare.told('records/s', 0)}"),
    )
