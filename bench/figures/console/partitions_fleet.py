"""The partitions of one supervisor."""

from bench.result import Budget, Result
from bench.world import World

NAME = "partitions-fleet"


def run(world: World) -> Result:
    """Take the 99th percentile; the baseline is a tenth of the fleet."""
    few, many = world.consoles
    found, baseline = many.answers_ms["partitions"], few.answers_ms["partitions"]
    return Result(
        NAME,
        found.percentile(0.99),
        "ms",
        baseline=baseline.percentile(0.99),
        budget=Budget(100),
        how=(
            f"the {many.shape.partition_count} partitions of one supervisor after another, as "
            "`list-fleet`, 99th percentile"
        ),
        notes=(found.told("ms"), f"baseline: {baseline.told('ms')}"),
    )
