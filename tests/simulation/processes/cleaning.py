"""What an overlord deletes: the product's handler of ended tasks' files, and its sweep."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import PurePosixPath

from supervisor.chores.sweep import Sweep
from supervisor.chores.task_output import TaskOutput
from supervisor.control.end_task import TaskEnder, task_output_of
from supervisor.core.queue.events import QueueConfig, QueuedEvent
from supervisor.core.values.errors import SupervisorError
from supervisor.eventqueue.handling import Context, Handled
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import AT_ONCE, EventProcessor, ProcessorParts
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Workers
from tests.simulation.world.disk import Warehouse

DELAY = QueueConfig(delay=timedelta(seconds=2), iteration_delay=timedelta(seconds=2))
"""Of the queue; the product's is ten minutes."""


class Mounted:
    """The workers' folder as an overlord sees it; implements `ports_warehouse.Warehouse`."""

    def __init__(self, held: Warehouse, owner: Callable[[], str]) -> None:
        self._held = held
        self.owner = owner

    def available(self) -> None:
        """Answer."""

    def mark(self, owner: str) -> None:
        """Be marked already."""
        raise AssertionError(f"marked for {owner}")

    def files_under(self, folder: str) -> list[str]:
        """Return them by path."""
        return sorted(path for path in self._held.files if path.startswith(f"{folder}/"))

    def size_of(self, path: str) -> int | None:
        """Look at one."""
        return self._held.size_of(path)

    def delete_file(self, path: str) -> None:
        """Delete one."""
        self._held.delete(path)

    def prune(self, folder: str) -> bool:
        """Have no empty folders."""
        del folder
        return False

    def tables(self) -> list[str]:
        """Return them by name."""
        return sorted({PurePosixPath(path).parts[0] for path in self._held.files})

    def task_folders(self, data_source: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield data source and name of each, of one table or of all."""
        parts = {PurePosixPath(path).parts for path in self._held.files}
        found = {(source, name) for source, _, name, *_ in parts}
        yield from sorted(each for each in found if data_source in {None, each[0]})


class Cleaner:
    """Consumes the queue of one supervisor, and sweeps."""

    def __init__(
        self,
        supervisor_id: str,
        store: Store,
        clock: Clock,
        term: Callable[[], int],
        *,
        workers: Workers,
        held: Warehouse,
        bug: Callable[[str], None],
    ) -> None:
        def owner() -> str:
            with store.reading() as tx:
                return tx.installation.name()

        mounted = Mounted(held, owner)
        self._output = TaskOutput(mounted, workers)
        self._bug = bug
        kit = ProcessorParts(store, clock, term, Meters())
        queue = task_output_of(supervisor_id)
        self._processor = EventProcessor(queue, DELAY, self._handle, kit)
        self._sweep = Sweep(store, mounted, clock, term, TaskEnder(DELAY))

    def clean(self) -> None:
        """Handle what is due.

        Raises:
            SupervisorError: another one leads, or the database does not answer.
        """
        while self._processor.run_once() == AT_ONCE:
            pass

    def sweep(self) -> None:
        """Queue what is left behind.

        Raises:
            SupervisorError: as `clean`.
        """
        self._sweep.run_once()

    def _handle(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        try:
            return self._output.handle(events, context)
        except SupervisorError:
            raise
        except Exception as error:
            self._bug(f"the handler of task output raised {error!r}")
            raise
