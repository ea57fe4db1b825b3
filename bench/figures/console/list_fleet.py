"""The list of supervisors, a page of 200 rows."""

from bench.result import Budget, Result
from bench.world import World
from bench.year.console import ROWS

NAME = "list-fleet"


def run(world: World) -> Result:
    """Take the 99th percentile; the baseline is a tenth of the fleet."""
    few, many = world.consoles
    found, baseline = many.answers_ms["list"], few.answers_ms["list"]
    return Result(
        NAME,
        found.percentile(0.99),
        "ms",
        baseline=baseline.percentile(0.99),
        budget=Budget(100),
        how=(
            f"one page of {ROWS} rows of `GET /api/v1/supervisors`, largest lag first, through its "
            f"route without its socket, while the loop runs, 99th percentile; "
            f"{many.shape.described}; baseline: {few.shape.supervisors} supervisors"
        ),
        notes=(
            f"{found.told('ms')}; {many.sizes_mib['list']:.2f} MiB before gzip",
            f"baseline: {baseline.told('ms')}",
        ),
    )
