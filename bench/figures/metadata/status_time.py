"""One status of one supervisor among many."""

from bench.result import Budget, Result
from bench.world import World

NAME = "status-time"


def run(world: World) -> Result:
    """Take the 99th percentile over supervisors; the baseline has a tenth of them."""
    few, many = world.passes
    return Result(
        NAME,
        many.status_ms.percentile(0.99),
        "ms",
        baseline=few.status_ms.percentile(0.99),
        budget=Budget(100),
        how=(
            f"what `GET .../status` answers, for each of {many.supervisors:,} supervisors x 4 "
            f"groups, without HTTP and JSON, 99th percentile; baseline: {few.supervisors}"
        ),
        notes=(many.status_ms.told("ms"), f"with {few.supervisors}: {few.status_ms.told('ms')}"),
    )
