"""The list of many files with many offset spans, in pages."""

from bench.result import Result
from bench.world import World

NAME = "file-pages"


def run(world: World) -> Result:
    """Take the longest transaction; the baseline reads all at once."""
    found = world.files
    return Result(
        NAME,
        found.longest_ms,
        "ms",
        baseline=found.whole_ms,
        how=(
            f"the longest transaction while {found.files:,} files with {found.spans:,} offset "
            "spans are listed in pages, on SQLite; baseline: the same list in one transaction"
        ),
        notes=(
            f"the whole list: {found.pages_s:.1f} s in {found.transactions} transactions",
            f"Python's memory at its peak: {found.peak_mib:,.0f} MiB",
        ),
    )
