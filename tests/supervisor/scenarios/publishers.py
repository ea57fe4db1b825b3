"""What the tests of publishing share: questions to a world whose first range is fixed."""

from supervisor.core.model.rows import Task
from tasks.contract.messages import PublishAnswer, PublishRequest
from tests.supervisor.core.snapshots import HOUR, TOPIC
from tests.supervisor.world import Hand, Replica, World

RECORDS = 5


def fix_a_range(world: World) -> None:
    """Let the first range be read, and its end be fixed."""
    for _ in range(3):
        world.settle()
        world.sync()
        world.write(RECORDS)
        world.read(RECORDS)
    world.clock.advance(HOUR)
    for _ in range(3):
        world.settle()
        world.sync()


def asks(world: World, request: PublishRequest, token: str) -> PublishAnswer:
    return world.publishing.publish(request.task_id, token, request)


def first(world: World) -> tuple[Hand, Replica]:
    return world.ready_to_publish()[0]


def task_of(world: World, replica: Replica) -> Task:
    with world.store.reading() as tx:
        found = tx.tasks.get(replica.wanted.task_id)
    assert found is not None
    return found


def committed(world: World) -> set[int]:
    with world.store.reading() as tx:
        return {row.next_offset for row in tx.offsets.of(TOPIC).values()}


def fixed_end(replica: Replica) -> int:
    assert replica.wanted.order.end is not None
    [end] = set(replica.wanted.order.end.values())
    return end


def assert_nothing_was_published(world: World) -> None:
    with world.store.reading() as tx:
        assert tx.segments.publications(TOPIC) == []
        assert tx.segments.of_supervisor(TOPIC) == []
    assert committed(world) == {0}
