"""What people do with tasks and workers, each written once in an overtaken term."""

from collections.abc import Callable
from typing import Protocol

from supervisor.control.loop import Loop
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import WorkerRow
from supervisor.ports.store import Store
from supervisor.services.tasks.stop_task import TaskStops
from supervisor.services.tasks.workers import WorkerAdmin
from tests.supervisor.core.snapshots import HOUR, TOPIC
from tests.supervisor.world import ENDINGS, World


class Story(Protocol):
    """What is needed of the story in `metadata/test_write_skew.py`."""

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
        """Stop a task, take a worker out, forget one."""
        self._story.does("stop a task", lambda: self._stops.stop(self._a_task(), "ann"))
        self._story.does("disable", lambda: self._worker_admin.disable("w1", "ann"))
        self._story.does("enable", lambda: self._worker_admin.enable("w1", "ann"))
        self._registers("gone")
        self._story.does("forget a worker", lambda: self._worker_admin.forget("gone", "ann"))

    def _registers(self, worker_id: str) -> None:
        world = self._story.world
        row = WorkerRow(worker_id, 1, f"http://{worker_id}", 4, world.clock.now())
        with world.store.leading(world.leadership.term()) as tx:
            tx.workers.register(row)

    @property
    def _worker_admin(self) -> WorkerAdmin:
        world = self._story.world
        clock, leadership, loop = world.clock, world.leadership, self._story.loop
        long_ago = clock.monotonic() - 2 * HOUR.total_seconds()
        registry = WorkerRegistry(clock, worker_timeout=HOUR, led_since=lambda: long_ago)
        with self._store.reading() as tx:
            registry.reset(tx.workers.all())  # all of them have been silent for too long
        return WorkerAdmin(self._store, clock, leadership, registry, loop)

    @property
    def _stops(self) -> TaskStops:
        world = self._story.world
        leadership, loop = world.leadership, self._story.loop
        return TaskStops(self._store, world.clock, leadership, loop, ENDINGS)

    def _a_task(self) -> str:
        with self._store.reading() as tx:
            return tx.tasks.active(supervisor_id=TOPIC)[0].id
