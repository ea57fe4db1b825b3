"""Size of what is published."""

from bench.result import Budget, Result
from bench.world import World

NAME = "bytes-per-row"


def run(world: World) -> Result:
    """Divide the size of segments by their rows."""
    found = world.catch_up
    return Result(
        NAME,
        found.bytes_per_row,
        "bytes/row",
        budget=Budget(40),
        how=(
            f"size of the published zstd Parquet files of `catch-up` by their rows; the records "
            f"are sample clicks of {found.record_bytes:.0f} bytes of JSON"
        ),
        notes=(
            f"merged and sorted: {found.bytes_per_row_merged:.1f} bytes/row",
            "16 bytes of each record are a random UUID, which no compression can make smaller",
        ),
    )
