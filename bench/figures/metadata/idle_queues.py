"""CPU of event queues that have nothing to do."""

from bench.result import Result
from bench.world import World

NAME = "idle-queues"


def run(world: World) -> Result:
    """Tell CPU time per minute above that of the same process without queues."""
    found = world.queues
    return Result(
        NAME,
        found.idle_cpu_s,
        "s CPU/min",
        how=(
            f"a process with {found.queues:,} open queues, each used once and empty since, less "
            "the same process before it opened them; user and system time over some seconds"
        ),
        notes=(f"threads for all of them together: {found.threads}",),
    )
