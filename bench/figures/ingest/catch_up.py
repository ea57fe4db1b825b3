"""Catch-up throughput without a merge, against one bare Spark job."""

from bench.batch_runs import BARE, ENGINE
from bench.result import Budget, Result
from bench.world import World

NAME = "catch-up"


def run(world: World) -> Result:
    """Compare medians of rows per second."""
    found = world.catch_up
    engine, bare = found.ways[ENGINE].seconds, found.ways[BARE].seconds
    return Result(
        NAME,
        found.rows / engine.middle,
        "rows/s",
        baseline=found.rows / bare.middle,
        budget=Budget(0.85, at_least=True, of_ratio=True),
        how=(
            f"one task's batch of {found.rows:,} records of {found.record_bytes:.0f} bytes in 4 "
            "partitions, read, judged, sorted (as every batch that may stay as it is), written, "
            "synced, digested and offered as segments unmerged; baseline: a bare Spark job over "
            "the same range in the same application, which does not sort, taking turns, medians"
        ),
        notes=(f"engine: {engine.told('s', 1)}", f"bare: {bare.told('s', 1)}"),
    )
