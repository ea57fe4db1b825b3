"""The first rows of the list of supervisors, in a browser."""

from bench.result import Budget, Result
from bench.world import World

NAME = "first-rows"


def run(world: World) -> Result:
    """Compare a first visit to a large fleet with one to a small fleet."""
    few, many = world.first_rows
    middle = few.first_row_ms.middle
    return Result(
        NAME,
        many.first_row_ms.middle,
        "ms",
        baseline=middle,
        budget=Budget(1.5, of_ratio=True),
        how=(
            "from the address of the list in a new context of a browser to the frame that draws "
            f"its first row, served on loopback while the loop runs, medians; "
            f"{many.shape.described}; baseline: {few.shape.supervisors} supervisors"
        ),
        notes=(many.first_row_ms.told("ms"), f"baseline: {few.first_row_ms.told('ms')}"),
    )
