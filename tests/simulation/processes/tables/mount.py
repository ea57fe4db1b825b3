"""The warehouse as a leader sees it whose tables live: each deletion is told of, and may fail."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from supervisor.core.values.errors import StorageUnavailable
from tests.simulation.processes.cleaning import Mounted
from tests.simulation.world.disk import Warehouse


@dataclass
class WarehouseTroubles:
    """What is wrong with the warehouse, for every overlord."""

    now: Callable[[], float]
    away_until: float = -1.0
    failing: int = 0
    """So many of the next deletions fail, each of another file."""
    failed: set[str] = field(default_factory=set)


class Mount(Mounted):
    """Implements `ports.tables.warehouse.Warehouse`."""

    def __init__(
        self,
        held: Warehouse,
        owner: Callable[[], str],
        troubles: WarehouseTroubles,
        deleted: Callable[[str], None],
    ) -> None:
        super().__init__(held, owner)
        self._troubles = troubles
        self._deleted = deleted

    def available(self) -> None:
        """Answer, unless the storage is away.

        Raises:
            StorageUnavailable: it is.
        """
        if self._troubles.now() < self._troubles.away_until:
            raise StorageUnavailable("the warehouse does not answer")

    def task_folders(self, data_source: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield data source and name of each, as the storage answers."""
        self.available()
        return super().task_folders(data_source)

    def delete_file(self, path: str) -> None:
        """Delete one, and tell of it.

        Raises:
            OSError: it is still there.
        """
        troubles = self._troubles
        if troubles.now() < troubles.away_until:
            raise OSError("the warehouse does not answer")
        if troubles.failing and path not in troubles.failed:
            troubles.failing -= 1
            troubles.failed.add(path)
            raise OSError("the file cannot be deleted now")
        there = self._held.size_of(path) is not None
        super().delete_file(path)
        if there:
            self._deleted(path)
