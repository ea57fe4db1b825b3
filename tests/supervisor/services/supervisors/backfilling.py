"""What the tests of backfills share: the verb, the second supervisor, and what both have read."""

from collections.abc import Callable

from supervisor.core.spec.spec import SupervisorSpec
from supervisor.ports.store import Store
from supervisor.services.supervisors.backfill import BackfillDone, Backfills
from tests.supervisor.core.snapshots import HOUR, TOPIC
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.services.supervisors.test_resets import publish_all, resets
from tests.supervisor.world import World

OWN = f"{TOPIC}_backfill_aaaaaaaa"
BEHIND = 20
"""Records of each partition that nobody has read yet."""


def _fine(_: SupervisorSpec) -> None:
    """Allow every spec."""


def backfills(
    world: World,
    letters: Callable[[], str] = lambda: "aaaaaaaa",
    reach: Callable[[str], None] = lambda _: None,
    check: Callable[[SupervisorSpec], None] = _fine,
) -> Backfills:
    return Backfills(resets(world), check, letters, reach)


def run(world: World, task_count: int | None = None) -> BackfillDone:
    return backfills(world).run(TOPIC, "ada", task_count)


class _Beside(World):
    id = OWN


def beside(world: World) -> World:
    """The backfill's supervisor, in the world of the first one."""
    second = _Beside.__new__(_Beside)
    second.__dict__.update(world.__dict__)
    second.passes = []
    return second


def go_on(world: World, rounds: int = 5) -> None:
    """Let both be started, read and published, until nothing is left."""
    both = (world, beside(world))
    for _ in range(rounds):
        for each in both:
            each.settle()
        world.sync()
        world.read(1_000)
        world.sync()
        world.clock.advance(HOUR)
        for _ in range(2):
            for each in both:
                each.settle()
            world.sync()
        publish_all(world)
    for each in both:
        each.settle()


def spec_of(store: Store, supervisor_id: str = OWN) -> SupervisorSpec | None:
    with store.reading() as tx:
        newest = tx.specs.newest(supervisor_id)
    return None if newest is None else newest.spec


def offsets_read(store: Store) -> list[tuple[int, int]]:
    """(partition, offset) of every row of both, as their files tell."""
    with store.reading() as tx:
        segments = [*tx.segments.of_supervisor(TOPIC), *tx.segments.of_supervisor(OWN)]
    return sorted(
        (span.partition, at)
        for segment in segments
        for span in segment.file.spans
        for at in range(span.first, span.last + 1)
    )


def assert_each_is_there_once(world: World) -> None:
    wanted = [(p.partition, at) for p, end in world.ends.items() for at in range(end)]
    assert offsets_read(world.store) == sorted(wanted)
    assert_promises(world.store, OWN)
