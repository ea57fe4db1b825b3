"""Resident memory of overlord and worker while two tasks read."""

from bench.result import Budget, Result
from bench.world import World

NAME = "resident-memory"


def run(world: World) -> Result:
    """Take the largest sum, looked at every second."""
    found = world.live.memory
    overlord, worker, jvm = (part / 1e6 for part in (found.overlord, found.worker, found.jvm))
    return Result(
        NAME,
        found.total / 1e6,
        "MB",
        budget=Budget(1_500),
        how=(
            "resident sets of overlord, worker's Python and worker's JVM (heap of 768 MB), the "
            "largest sum during the steady stream; broker and producer are not in it"
        ),
        notes=(
            f"overlord {overlord:.0f} MB, worker's Python {worker:.0f} MB, JVM {jvm:.0f} MB",
            "pages that processes share are counted in each",
        ),
    )
