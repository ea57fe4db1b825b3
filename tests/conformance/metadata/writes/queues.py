"""What a leader writes into event queues, each written once in an overtaken term."""

from collections.abc import Callable, Sequence
from typing import Protocol

from supervisor.core.queue.events import CLUSTER, QueuedEvent, QueueName
from supervisor.eventqueue.handling import Context, Fail, Handled, Handler
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.processor import EventProcessor
from tests.conformance.metadata.databases import execute
from tests.conformance.metadata.overtaken import Overtaken
from tests.supervisor.core.snapshots import HOUR
from tests.supervisor.world import World

WORK = QueueName(CLUSTER, "work")


class Story(Protocol):
    """What is needed of the story in `test_write_skew.py`."""

    store: Overtaken
    world: World

    @property
    def operations(self) -> Operations:
        """The verbs of operators."""
        ...

    def processor(self, handler: Handler, queue: QueueName = WORK) -> EventProcessor:
        """The consumer of a queue."""
        ...

    def does(self, name: str, act: Callable[[], object]) -> None:
        """Act until nothing in it is overtaken any more."""
        ...


def queues_are_used(story: Story) -> None:
    def adds() -> int:
        return story.processor(_sets_aside).add(QueuedEvent("count", "1"))

    def runs(handler: Handler) -> object:
        return story.processor(handler).run_once()

    story.does("add", adds)
    story.does("fail", lambda: runs(_raises))
    story.world.clock.advance(HOUR)
    story.does("handle", lambda: runs(_sets_aside))
    for act in (
        lambda: story.operations.replay(WORK, 1, "ann"),
        lambda: runs(_sets_aside),
        lambda: story.operations.replay_all(WORK, "ann"),
        lambda: runs(_sets_aside),
        lambda: story.operations.drop(WORK, _failed_seq(story), "ann"),
        adds,
    ):
        story.world.clock.advance(HOUR)
        story.does("operate", act)
    damage = "UPDATE events SET payload = payload || '\\x00'::bytea"
    execute(story.store.url, damage)
    story.does("die", lambda: runs(_sets_aside))
    story.does("repair", lambda: story.operations.repair(WORK, "ann"))


def _sets_aside(events: Sequence[QueuedEvent], _: Context) -> Handled:
    return Handled([Fail("a story") for _ in events])


def _raises(_: Sequence[QueuedEvent], __: Context) -> Handled:
    raise RuntimeError("a story")


def _failed_seq(story: Story) -> int:
    return story.operations.failed(WORK, 1)[0][0].seq
