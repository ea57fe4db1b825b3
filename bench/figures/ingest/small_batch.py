"""The fixed cost of a small batch on a warm worker."""

from bench.batch_runs import BARE, ENGINE
from bench.result import Result
from bench.world import World

NAME = "small-batch"


def run(world: World) -> Result:
    """Compare medians of a batch of 1,000 records."""
    engine, bare = world.small[ENGINE].seconds, world.small[BARE].seconds
    return Result(
        NAME,
        engine.middle,
        "s",
        baseline=bare.middle,
        how=(
            "one batch of 1,000 records in 4 partitions, warm, without journal and merge, each "
            "as a new task; baseline: a bare job over the same records; taking turns, medians"
        ),
        notes=(
            "both end at the log's end, where a fetch waits for new records (fetch.max.wait.ms)",
            f"engine: {engine.told('s')}",
            f"bare: {bare.told('s')}",
        ),
    )
