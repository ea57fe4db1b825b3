"""What people do with tasks and workers, each written once in an overtaken term."""

from collections.abc import Callable
from typing import Protocol

from supervisor.loop import Loop
from supervisor.ports import Store
from supervisor.signals import Broadcast
from supervisor.task_stops import TaskStops
from tests.core.snapshots import TOPIC
from tests.service.world import ENDINGS, World


class Story(Protocol):
    """What is needed of the story in `test_write_skew.py`."""

    world: World

    @property
    def loop(self) -> Loop:
        """A loop that makes no pass."""
        ...

    def does(self, name: str, act: Callable[[], object]) -> None:
        """Act until nothing in it is overtaken any more."""
        ...


class People:
    """A chapter of the story: it needs a task that runs."""

    def __init__(self, story: Story, store: Store) -> None:
        """Take part in `story`, writing by `store`."""
        self._story, self._store = story, store

    def plays(self) -> None:
        """Stop a task."""
        self._story.does("stop a task", lambda: self._stops.stop(self._a_task(), "ann"))

    @property
    def _stops(self) -> TaskStops:
        world = self._story.world
        leadership, loop = world.leadership, self._story.loop
        return TaskStops(self._store, world.clock, leadership, loop, Broadcast(), ENDINGS)

    def _a_task(self) -> str:
        with self._store.reading() as tx:
            return tx.tasks.active(supervisor_id=TOPIC)[0].id
