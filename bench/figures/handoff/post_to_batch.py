"""From the POST of a spec to its first durable batch."""

from bench.result import Budget, Result
from bench.world import World

NAME = "post-to-first-batch"


def run(world: World) -> Result:
    """Take the median over topics."""
    found, start = world.live.post_to_batch_s, world.live.post_to_start_s
    first = found.values[0]
    return Result(
        NAME,
        found.middle,
        "s",
        budget=Budget(2.0),
        how=(
            "from before the HTTP request until the first batch stands in the worker's journal; "
            "topics of 5,000 records, one after the other, on a worker that is warm"
        ),
        notes=(
            found.told("s"),
            f"of these until the batch began: {start.told('s')}",
            f"the first topic took {first:.2f} s: it is the first that this worker ever read",
        ),
    )
