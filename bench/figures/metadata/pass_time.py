"""One pass over one supervisor among many."""

from bench.result import Budget, Result
from bench.world import World

NAME = "pass-time"


def run(world: World) -> Result:
    """Take the 99th percentile over supervisors; the baseline has a tenth of them."""
    few, many = world.passes
    return Result(
        NAME,
        many.pass_ms.percentile(0.99),
        "ms",
        baseline=few.pass_ms.percentile(0.99),
        budget=Budget(50),
        how=(
            f"look and decide for each of {many.supervisors:,} supervisors x 4 groups at rest, on "
            f"SQLite, Kafka and workers in memory, 99th percentile; baseline: {few.supervisors}"
        ),
        notes=(
            many.pass_ms.told("ms"),
            f"the look alone: {many.observe_ms.told('ms')}",
            f"with {few.supervisors} supervisors: {few.pass_ms.told('ms')}",
            "one pass at a time; no action was due, so no transaction was written",
        ),
    )
