"""Bytes of a year's metadata database."""

from bench.result import Result
from bench.world import World

NAME = "bytes-year"
_MB = 1_000_000


def run(world: World) -> Result:
    """Divide the bytes of all tables by the supervisors; each table is in the notes."""
    found = world.year
    total = sum(table.size_bytes for table in found.tables)
    return Result(
        NAME,
        total / found.shape.supervisors / _MB,
        "MB per supervisor",
        how=(
            f"bytes of all tables with their indexes in a SQLite database of "
            f"{found.shape.described}, by the number of supervisors"
        ),
        notes=(
            f"{total / _MB:,.0f} MB in all, filled in {found.load_s:.0f} s",
            *(
                f"{table.table}: {table.rows:,} rows, {table.bytes_per_row:,.0f} bytes each, "
                f"{table.size_bytes / _MB:,.1f} MB"
                for table in found.tables
                if table.size_bytes > 0.001 * total
            ),
        ),
    )
