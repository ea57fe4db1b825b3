"""What a cleanup event adds to a publish transaction on SQLite."""

from bench.result import Budget, Result
from bench.world import World

NAME = "event-add"


def run(world: World) -> Result:
    """Compare medians of publishes with the event and without, taken by turns."""
    found = world.event_add
    with_event, without = found.with_event, found.without
    return Result(
        NAME,
        with_event.middle - without.middle,
        "ms",
        budget=Budget(1.0),
        how=(
            "one publish request on SQLite as in `publish-sqlite`, which ends its task and queues "
            "the cleanup event in the same transaction, less the same request whose ending "
            "queues nothing; by turns in one database, difference of the medians"
        ),
        notes=(f"with: {with_event.told('ms')}", f"without: {without.told('ms')}"),
    )
