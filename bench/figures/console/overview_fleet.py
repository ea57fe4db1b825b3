"""The overview of all supervisors: what needs somebody."""

from bench.result import Budget, Result
from bench.world import World

NAME = "overview-fleet"


def run(world: World) -> Result:
    """Take the 99th percentile; the baseline is a tenth of the fleet."""
    few, many = world.consoles
    found, baseline = many.answers_ms["overview"], few.answers_ms["overview"]
    return Result(
        NAME,
        found.percentile(0.99),
        "ms",
        baseline=baseline.percentile(0.99),
        budget=Budget(100),
        how="`GET /api/v1/overview`, as `list-fleet`, 99th percentile",
        notes=(found.told("ms"), f"baseline: {baseline.told('ms')}"),
    )
