"""CPU of the overlord for one page that shows the list of supervisors."""

from bench.result import Budget, Result
from bench.world import World
from bench.year.console import DRAWN, LAG_S, POLL_S, ROWS

NAME = "open-list"


def run(world: World) -> Result:
    """Subtract the cores that are busy while nobody asks."""
    found = world.consoles[1]
    return Result(
        NAME,
        found.listed_cores.middle - found.alone_cores.middle,
        "cores",
        budget=Budget(0.03),
        how=(
            f"user and system time of the overlord while a page asks for {ROWS} rows every "
            f"{POLL_S:.0f} s and for a day of lag of {DRAWN} of them every {LAG_S:.0f} s, less the "
            "same while nobody asks, medians of windows by turns; the fleet of `list-fleet`"
        ),
        notes=(
            f"with the page: {found.listed_cores.told('cores', 3)}",
            f"without: {found.alone_cores.told('cores', 3)}",
        ),
    )
