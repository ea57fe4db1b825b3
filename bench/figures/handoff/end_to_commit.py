"""From the fixed end of a range to its commit, when no merge is needed."""

from bench.live_run import BACKLOG_ROWS
from bench.result import Budget, Result
from bench.world import World

NAME = "end-to-commit"


def run(world: World) -> Result:
    """Take the median over backlogs."""
    live = world.live
    found = live.backlog_commit_s
    return Result(
        NAME,
        found.middle,
        "s",
        budget=Budget(2.0),
        how=(
            f"topics of {BACKLOG_ROWS:,} records, read to their end by one task, then suspended; "
            "between two times that the overlord stored, end fixed and published"
        ),
        notes=(
            found.told("s"),
            f"{live.backlog_rewritten} of {len(found.values)} publications needed a merge",
        ),
    )
