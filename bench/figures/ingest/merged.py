"""Catch-up throughput with a merge, against a bare Spark job that sorts."""

from bench.batch_runs import BARE_SORTED, ENGINE_MERGED
from bench.result import Budget, Result
from bench.world import World

NAME = "catch-up-merged"


def run(world: World) -> Result:
    """Compare medians of rows per second."""
    found = world.catch_up
    engine, bare = found.ways[ENGINE_MERGED].seconds, found.ways[BARE_SORTED].seconds
    cpu, bare_cpu = found.ways[ENGINE_MERGED].cpu_s, found.ways[BARE_SORTED].cpu_s
    return Result(
        NAME,
        found.rows / engine.middle,
        "rows/s",
        baseline=found.rows / bare.middle,
        budget=Budget(0.9, at_least=True, of_ratio=True),
        how=(
            "as `catch-up`, then the files, sorted, put together as larger segments; baseline: a "
            "bare job that reads, decodes, sorts within one file per core, and writes once"
        ),
        notes=(
            f"engine: {engine.told('s', 1)}, {cpu.middle / found.rows * 1e6:.1f} µs CPU per row",
            f"the merge wrote {found.merged_files} file(s)",
            f"bare: {bare.told('s', 1)}, {bare_cpu.middle / found.rows * 1e6:.1f} µs CPU per row",
        ),
    )
