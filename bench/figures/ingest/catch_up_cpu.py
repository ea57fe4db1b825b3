"""CPU per row until published, without a merge."""

from bench.batch_runs import BARE, ENGINE
from bench.result import Budget, Result
from bench.world import World

NAME = "catch-up-cpu"


def run(world: World) -> Result:
    """Compare medians of CPU time per row."""
    found = world.catch_up
    engine, bare = found.ways[ENGINE].cpu_s, found.ways[BARE].cpu_s
    return Result(
        NAME,
        engine.middle / found.rows * 1e6,
        "µs/row",
        baseline=bare.middle / found.rows * 1e6,
        budget=Budget(10),
        how=(
            "user and system time of JVM and Python over the batches of `catch-up`; the broker's "
            "is not in it, the JVM's compiler and collector are"
        ),
        notes=(f"engine: {engine.told('s CPU', 1)}", f"bare: {bare.told('s CPU', 1)}"),
    )
