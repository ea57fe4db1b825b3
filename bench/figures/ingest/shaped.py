"""Formats, discovery and rollups: each against a bare Spark job that does the same, or nearly."""

from collections.abc import Callable

from bench.result import Result
from bench.shapes import SHAPES, Shape
from bench.world import World


def figure(shape: Shape) -> Callable[[World], Result]:
    """Return what measures one shape."""

    def run(world: World) -> Result:
        found = world.shaped(shape)
        engine, bare = found.engine.seconds, found.bare.seconds
        cpu = [way.cpu_s.middle / found.rows * 1e6 for way in (found.engine, found.bare)]
        return Result(
            shape.name,
            found.rows / engine.middle,
            "rows/s",
            baseline=found.rows / bare.middle,
            how=(
                f"one batch of {found.rows:,} records of {found.record_bytes:.0f} bytes in 4 "
                f"partitions, {shape.told}, until its segments can be offered; baseline: "
                f"{shape.bare_told}, over the same range, taking turns, medians"
            ),
            notes=(
                f"engine: {engine.told('s', 1)}, {cpu[0]:.1f} µs CPU per row",
                f"bare: {bare.told('s', 1)}, {cpu[1]:.1f} µs CPU per row",
            ),
        )

    return run


FIGURES = {shape.name: figure(shape) for shape in SHAPES}
"""Name -> what measures it."""
