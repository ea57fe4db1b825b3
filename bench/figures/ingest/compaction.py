"""A compaction against a bare Spark job that reads, sorts and writes the same files."""

from bench.result import Result
from bench.world import World

NAME = "compaction"


def run(world: World) -> Result:
    """Compare medians of rows per second."""
    found = world.compaction
    engine, bare = found.engine.seconds, found.bare.seconds
    return Result(
        NAME,
        found.rows / engine.middle,
        "rows/s",
        baseline=found.rows / bare.middle,
        how=(
            f"{found.files} files of {found.rows:,} sample clicks rewritten as one by one core: "
            "inputs checked by their digests, rows sorted, the new file checked, synced and "
            "digested; baseline: a bare job that reads, sorts and writes them, taking turns, "
            "medians"
        ),
        notes=(f"engine: {engine.told('s', 1)}", f"bare: {bare.told('s', 1)}"),
    )
